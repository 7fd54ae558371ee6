// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in prompt files have this syntax
import assert from 'node:assert/strict'
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { waitFor } from '../host/wait-for.ts'
import { openFile, selectLines } from '../support/page/editor.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import type { PageWindow } from '../support/page/page-window.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'
import { fixtureAgent, receivedParams } from '../ui/support/fixture-agent.ts'

type Block = { type: string; text?: string; uri?: string; resource?: { uri: string; text?: string } }

const capable = {
  agentCapabilities: { promptCapabilities: { image: true, audio: true, embeddedContext: true } },
}

describe('prompt files', () => {
  const vscode = new PageSuite({
    settings: root => ({
      'chat.promptFilesLocations': { '~/nowhere': true, 'docs/prompts': true },
      'parley.agents': { capable: fixtureAgent(root, 'Capable', { results: { initialize: capable } }) },
    }),
  })
  let workbench: PageWindow
  let conversation: ConversationPage

  const prompts = () =>
    receivedParams(vscode.root, 'Capable', 'session/prompt').map(({ prompt }) => prompt as Block[])
  const folder = () => join(dirname(vscode.workspace), 'planets-api')
  const prompt = (name: string, text: string | Buffer, place = join(folder(), '.github/prompts')) => {
    mkdirSync(place, { recursive: true })
    writeFileSync(join(place, `${name}.prompt.md`), text)
    return join(place, `${name}.prompt.md`)
  }
  const type = (text: string) => workbench.page.keyboard.type(text)
  const press = (key: string) => workbench.page.keyboard.press(key)
  const isWritten = (text: string) =>
    waitFor(`“${text}” in the composer`, async () => (await conversation.composerText()) === text)
  const commands = () => conversation.frame.getByRole('listbox', { name: 'Commands' }).getByRole('option')
  const selected = () => conversation.frame.locator('[aria-selected="true"]')
  const sent = (count: number) => waitFor(`prompt ${count}`, () => prompts()[count - 1])
  const begin = async () => {
    workbench = await vscode.sharedWindow()
    conversation = await ConversationPage.startSession(workbench, 'Capable')
    await conversation.composer.click()
    await conversation.waitForFocus(conversation.composer)
  }
  const clear = async () => {
    await press('Control+a')
    await press('Delete')
    await isWritten('')
  }

  it('sends what a prompt file says, with its variables, its inputs and the files that it refers to', async () => {
    await begin()
    const file = prompt(
      'create-form',
      '---\r\ndescription: Creates a form\r\nargument-hint: name=…\r\nmodel: Any\r\n---\r\nA form ${input:name} of ${input:kind:which kind} for ${fileBasename}:\r\n${selection}\r\nSee [api](../../server.js) and [more](more.prompt.md).\r\n',
    )
    prompt('more', Buffer.from('\ufeffBe kind to ${input:name}.', 'utf16le'))
    await openFile(workbench, 'planets.js')
    await selectLines(workbench, 1)
    await conversation.composer.click()
    const count = prompts().length
    await type('/crea')
    const row = commands().filter({ hasText: '/create-form' })
    await row.waitFor()
    assert.match((await row.textContent()) ?? '', /Creates a form.*planets-api/)
    assert.match(
      (await row.getAttribute('title')) ?? '',
      /create-form\.prompt\.md\nNot applied by agents: model/,
    )
    await row.and(selected()).waitFor()
    await press('Enter')
    await isWritten('/create-form ')
    await conversation.frame.locator('.composer-hint', { hasText: 'name=…' }).waitFor()
    await type('name="Moon base" quickly')
    await press('Enter')
    const input = workbench.page.getByRole('textbox', { name: 'which kind' })
    await input.fill('rocks')
    await input.press('Enter')
    const [text, after, linked, ...rest] = await sent(count + 1)
    assert.equal(text?.type, 'text')
    assert.match(
      text?.text ?? '',
      /^A form Moon base of rocks for planets\.js:\n[^\n]+\n\nSee \[api\].*\(more\.prompt\.md\)\.\n\nmore\.prompt\.md:\n\nBe kind to Moon base\.\n\n$/,
    )
    assert.deepEqual(after, { type: 'text', text: ' quickly' })
    assert.equal(linked?.resource?.uri, pathToFileURL(join(folder(), 'server.js')).href)
    assert.deepEqual(rest, [])

    const shown = conversation.frame.locator('.prompt').last()
    const chip = shown
      .locator('.prompt-text')
      .getByRole('button', { name: '/create-form name="Moon base" kind=rocks' })
    await chip.click()
    await shown.getByText('Be kind to Moon base.').waitFor()
    assert.equal(
      await shown.locator('.prompt-text').textContent(),
      '/create-form name="Moon base" kind=rocks quickly',
    )

    // sent again as it was, although the file is gone
    rmSync(file)
    await shown.getByRole('button', { name: 'Resend', exact: true }).click()
    assert.deepEqual(await sent(count + 2), [text, after, linked])
  })

  it('gives a prompt back that lacks something, or whose files refer to each other, and sends nothing', async () => {
    await begin()
    prompt('ask', 'Explain ${selection}')
    prompt('here', 'See [there](there.prompt.md)')
    prompt('there', 'See #file:here.prompt.md')
    prompt('huge', 'x'.repeat(300_000))
    await workbench.closeEditorsAndPanel()
    await conversation.composer.click()
    const count = prompts().length
    for (const [call, sentence] of [
      ['/ask: now', 'The prompt needs a selection'],
      ['/here', 'here.prompt.md → there.prompt.md → here.prompt.md'],
      ['/huge', 'huge.prompt.md is larger than 256 KB'],
    ] as const) {
      await type(call)
      await press('Escape')
      await press('Enter')
      await conversation.frame.getByRole('alert').getByText(sentence).waitFor()
      await isWritten(call)
      await clear()
    }
    await type('/unknown thing')
    await press('Enter')
    assert.deepEqual(await sent(count + 1), [{ type: 'text', text: '/unknown thing' }])
    assert.equal(prompts().length, count + 1)
  })

  it("asks before it reads what is outside, and tells the user's files and the agent's commands apart", async () => {
    await begin()
    const outside = join(dirname(vscode.workspace), 'outside')
    mkdirSync(outside, { recursive: true })
    writeFileSync(join(outside, 'secret.prompt.md'), '---\ndescription: A secret\n---\nOutside')
    writeFileSync(join(outside, 'plan.md'), 'the plan')
    prompt('linked', 'See [the plan](../../../outside/plan.md)')
    symlinkSync(join(outside, 'secret.prompt.md'), join(folder(), '.github/prompts/led.prompt.md'))
    prompt('command-0', 'The file of the workspace', join(folder(), 'docs/prompts'))
    prompt('command-0', 'The file of the user', join(vscode.root.userData, 'User/prompts'))
    try {
      await conversation.runTurn('[[commands 2]]')
      await conversation.composer.click()
      await type('/')
      const names = async () =>
        (await commands().locator('.menu-name, .command-source').allTextContents()).map(text => text.trim())
      await waitFor('the files', async () => (await names()).includes('/planets-api:command-0'))
      const listed = await names()
      for (const [name, source] of [
        ['/command-0 what for', 'Capable'],
        ['/planets-api:command-0', 'planets-api'],
        ['/user:command-0', 'User'],
        ['/led', 'planets-api'],
      ])
        assert.equal(listed[listed.indexOf(name!) + 1], source, `${name} in ${listed}`)
      assert.ok(!(await commands().allTextContents()).some(text => text.includes('A secret')))

      const count = prompts().length
      await type('user:com')
      await commands().filter({ hasText: '/user:command-0' }).and(selected()).waitFor()
      await press('Enter')
      await press('Enter')
      assert.deepEqual(await sent(count + 1), [{ type: 'text', text: 'The file of the user' }])
      await isWritten('')
      await type('/command-0 x')
      await press('Enter')
      assert.deepEqual(await sent(count + 2), [{ type: 'text', text: '/command-0 x' }])

      const dialog = workbench.page.getByRole('dialog')
      for (const [call, button] of [
        ['/led', 'Cancel'],
        ['/linked', 'Cancel'],
      ] as const) {
        await isWritten('')
        await type(call)
        await press('Escape')
        await press('Enter')
        await dialog.getByText("Add a file outside this session's folders?").waitFor()
        await dialog.getByRole('button', { name: button }).click()
        await dialog.waitFor({ state: 'detached' })
        await isWritten(call)
        await conversation.composer.click()
        await clear()
      }
      await type('/linked')
      await press('Escape')
      await press('Enter')
      await dialog.getByRole('button', { name: 'Add Content' }).click()
      const [, plan] = await sent(count + 3)
      assert.equal(plan?.resource?.text, 'the plan')
      assert.equal(prompts().length, count + 3)
    } finally {
      rmSync(outside, { recursive: true })
    }
  })
})

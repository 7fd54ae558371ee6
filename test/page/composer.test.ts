import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { imageInfo, MAX_IMAGE_SIDE } from '../../src/common/image-info.ts'
import { waitFor } from '../host/wait-for.ts'
import { openFile, selectLines } from '../support/page/editor.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import type { PageWindow } from '../support/page/page-window.ts'
import { dropFile, pasteImage, pasteText } from '../ui/support/clipboard.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'
import { fixtureAgent, receivedParams } from '../ui/support/fixture-agent.ts'
import { storedDrafts } from '../ui/support/stored.ts'

type Block = {
  type: string
  text?: string
  data?: string
  uri?: string
  mimeType?: string
  resource?: { uri: string; text?: string }
}

const capable = {
  agentCapabilities: { promptCapabilities: { image: true, audio: true, embeddedContext: true } },
}
const plain = {
  agentCapabilities: { promptCapabilities: { image: false, audio: false, embeddedContext: false } },
}

/** a picture of one pixel */
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='

describe('the composer', () => {
  const vscode = new PageSuite({
    settings: root => ({
      'parley.agents': {
        capable: fixtureAgent(root, 'Capable', { results: { initialize: capable } }),
        plain: fixtureAgent(root, 'Plain', { results: { initialize: plain } }),
      },
    }),
  })
  let workbench: PageWindow
  let conversation: ConversationPage

  const prompts = (agent: string) =>
    receivedParams(vscode.root, agent, 'session/prompt').map(({ prompt }) => prompt as Block[])
  const type = (text: string) => workbench.page.keyboard.type(text)
  const press = (key: string) => workbench.page.keyboard.press(key)
  const isWritten = (text: string) =>
    waitFor(`“${text}” in the composer`, async () => (await conversation.composerText()) === text)
  const chips = () => conversation.composer.locator('.mention')
  const rows = () => conversation.frame.getByRole('listbox', { name: 'Context' }).getByRole('option')
  /** Accepts a row with a key once it's the selected one: the list follows what is typed. */
  const accept = async (name: string, key = 'Enter') => {
    const selected = conversation.frame.locator('[aria-selected="true"]')
    await rows().filter({ hasText: name }).and(selected).waitFor()
    await press(key)
  }
  const begin = async (agent: string) => {
    workbench = await vscode.sharedWindow()
    conversation = await ConversationPage.startSession(workbench, agent)
    await conversation.composer.click()
    await conversation.waitForFocus(conversation.composer)
  }
  const attached = () => conversation.frame.getByRole('list', { name: 'Attached' }).getByRole('listitem')

  it('completes a file name after @, and sends the content at its place in the text', async () => {
    await begin('Capable')
    await type('Look at @plnjs')
    await accept('planets.js')
    await chips().filter({ hasText: 'planets.js' }).waitFor()
    await type('and say why.')
    await isWritten('Look at planets.js and say why.')
    await press('Enter')
    const [before, file, after] = await waitFor('prompt', () => prompts('Capable').at(-1))
    assert.deepEqual(before, { type: 'text', text: 'Look at ' })
    assert.match(file?.resource?.uri ?? '', /^file:\/\/.*\/planets-api\/planets\.js$/)
    assert.match(file?.resource?.text ?? '', /planets/i)
    assert.deepEqual(after, { type: 'text', text: ' and say why.' })
    const shown = conversation.frame.locator('.prompt-text').last()
    await shown.getByRole('button', { name: 'planets.js' }).click()
    await workbench.page.locator('.tabs-container .tab', { hasText: 'planets.js' }).waitFor()
  })

  it("links what an agent can't embed, and reports that it doesn't support images", async () => {
    await begin('Plain')
    await type('@server.js')
    await accept('server.js', 'Tab')
    await chips().waitFor()
    await type('please')
    await pasteImage(conversation.frame, 20, 20)
    await conversation.frame.getByRole('alert').getByText("Plain doesn't support images").waitFor()
    assert.equal(await attached().count(), 0)
    await press('Enter')
    const [link, text] = await waitFor('prompt', () => prompts('Plain').at(-1))
    assert.equal(link?.type, 'resource_link')
    assert.match(link?.uri ?? '', /\/planets-api\/server\.js$/)
    assert.equal(text?.text, ' please')
  })

  it('resizes a pasted image, shows it, and sends it', async () => {
    await begin('Capable')
    await pasteImage(conversation.frame, 4000, 1000)
    await attached().getByRole('img').waitFor()
    await pasteImage(conversation.frame, 30, 30)
    await attached().nth(1).getByRole('img').waitFor()
    await attached()
      .nth(1)
      .getByRole('button', { name: /^Remove/ })
      .click()
    const size = await waitFor('a picture', async () => {
      const [width, height] = await conversation.frame.evaluate<[number, number]>(
        `(({ naturalWidth, naturalHeight }) => [naturalWidth, naturalHeight])(document.querySelector('.thumbnail img'))`,
      )
      return width > 0 && [width, height]
    })
    assert.deepEqual(size, [1568, 392])
    await conversation.send('What is this?')
    const [text, image] = await waitFor('prompt', () =>
      prompts('Capable').find(one => one[1]?.type === 'image'),
    )
    assert.equal(text?.text, 'What is this?')
    assert.match(image?.mimeType ?? '', /^image\//)
    await conversation.frame.locator('.prompt').last().getByRole('img').waitFor()
    await attached().first().waitFor({ state: 'detached' })
  })

  it('keeps the chips and images of a prompt that is edited', async () => {
    await begin('Capable')
    await pasteImage(conversation.frame, 30, 30)
    await attached().getByRole('img').waitFor()
    await type('Compare @server.js')
    await accept('server.js', 'Tab')
    await chips().waitFor()
    await press('Enter')
    const isOf = (text: string) => (block: Block) => block.text?.startsWith(text) === true
    await conversation.agentMessage('You said: Compare').waitFor()
    await conversation.button(/^Stop \(/).waitFor({ state: 'detached' })
    await press('ArrowUp')
    const editor = conversation.frame.locator('.prompt-editor')
    const text = editor.getByRole('textbox', { name: 'Edit Prompt' })
    await conversation.waitForFocus(text)
    await text.locator('.mention', { hasText: 'server.js' }).waitFor()
    await editor.getByRole('listitem').getByRole('img').waitFor()
    await press('Home')
    await type('Then ')
    await press('Enter')
    const sent = await waitFor('the edited prompt', () =>
      prompts('Capable').find(one => one.some(isOf('Then Compare'))),
    )
    assert.ok(sent.some(({ resource }) => resource?.uri.endsWith('/server.js')))
    assert.ok(sent.some(block => block.type === 'image'))
  })

  it('converts image files of the workspace for models, and says which ones models refuse', async () => {
    await begin('Capable')
    const folder = join(dirname(vscode.workspace), 'planets-api')
    writeFileSync(join(folder, 'wide.bmp'), bitmap(3000))
    writeFileSync(join(folder, 'photo.heic'), 'heic\0')
    try {
      await dropFile(conversation.frame, `file://${folder}/wide.bmp`)
      await attached().getByRole('img').waitFor()
      await type('@photo.heic')
      await accept('photo.heic')
      const alert = conversation.frame.getByRole('alert')
      await alert.getByText("Models can't read photo.heic. Convert it to PNG or JPEG.").waitFor()
      await attached().filter({ hasText: 'photo.heic' }).waitFor()
      await conversation.send('convert')
      const sent = await waitFor('prompt', () => prompts('Capable').find(one => one[0]?.text === 'convert'))
      assert.deepEqual(
        sent.slice(1).map(({ type, mimeType }) => [type, mimeType]),
        [
          ['image', 'image/png'],
          ['resource_link', 'image/heic'],
        ],
      )
      const { width, height } = imageInfo(Buffer.from(sent[1]?.data ?? '', 'base64')) ?? {}
      assert.deepEqual([width, height], [MAX_IMAGE_SIDE, 1])
    } finally {
      for (const name of ['wide.bmp', 'photo.heic']) rmSync(join(folder, name))
    }
  })

  it('adds a dropped file, and the selection in the editor', async () => {
    await begin('Capable')
    const file = join(dirname(vscode.workspace), 'planets-web/app.js')
    await dropFile(conversation.frame, `file://${file}`)
    await attached().filter({ hasText: 'app.js' }).waitFor()
    await openFile(workbench, 'planets.js')
    await selectLines(workbench, 2)
    await conversation.frame.getByRole('button', { name: 'Add Context', exact: true }).click()
    await conversation.frame.getByRole('option', { name: /^Selection/ }).click()
    await attached().filter({ hasText: 'planets.js:1-2' }).waitFor()
    await conversation.send('both')
    const sent = await waitFor('prompt', () => prompts('Capable').find(one => one[0]?.text === 'both'))
    assert.match(sent[1]?.resource?.uri ?? '', /app\.js$/)
    const label = conversation.frame
      .locator('.prompt .chip-label')
      .getByText('app.js', { exact: true })
      .last()
    assert.ok(await label.evaluate(element => element.scrollWidth <= element.clientWidth), 'the name is cut')
    assert.match(sent[2]?.resource?.uri ?? '', /planets\.js#L1-L2$/)
  })

  // a file is embedded, or linked
  for (const agent of ['Capable', 'Plain'])
    it(`shows all of a prompt sent to ${agent} in a narrow view, also a chip with a long name`, async () => {
      await begin(agent)
      const name = 'a-component-with-a-name-that-is-longer-than-the-view.js'
      const path = join(dirname(vscode.workspace), 'planets-api', name)
      writeFileSync(path, 'export const answer = 42\n')
      try {
        await dropFile(conversation.frame, `file://${path}`)
        await attached()
          .filter({ hasText: name.slice(0, 12) })
          .waitFor()
        await conversation.send('narrow')
        const prompt = conversation.frame.locator('.prompt', { hasText: 'narrow' }).last()
        await prompt.locator('.chips .chip-label').waitFor()
        const outside = await prompt.evaluate(element => {
          document.body.style.width = '280px'
          try {
            const { left, right } = element.getBoundingClientRect()
            const parts = [...element.querySelectorAll('.chips *')]
            return parts.flatMap(part => {
              const box = part.getBoundingClientRect()
              const isOutside = box.left < left || box.right > right || right - left > 280
              const wraps = part.matches('.quiet') && part.getClientRects().length > 0 && box.height > 24
              return isOutside || wraps
                ? [`${part.className} ${box.left}–${box.right}, ${box.height} high`]
                : []
            })
          } finally {
            document.body.style.width = ''
          }
        })
        assert.deepEqual(outside, [])
      } finally {
        rmSync(path)
      }
    })

  it('adds the active file with one key, or to every prompt if the setting is on', async () => {
    await begin('Capable')
    await openFile(workbench, 'ideas.md')
    const offer = conversation.frame.getByRole('button', { name: 'Add ideas.md (Alt+Enter)' })
    const remove = conversation.frame.getByRole('button', { name: 'Remove ideas.md' })
    const sent = (text: string) =>
      waitFor(`the prompt “${text}”`, () => prompts('Capable').find(one => one[0]?.text === text))
    await offer.waitFor()
    await conversation.composer.click()
    await conversation.waitForFocus(conversation.composer)
    await press('Alt+Enter')
    await remove.waitFor()
    await conversation.runTurn('with the file')
    assert.match((await sent('with the file'))[1]?.resource?.uri ?? '', /\/ideas\.md$/)
    await offer.waitFor()
    const { root } = vscode
    root.updateSettings({ 'parley.addActiveContext': true })
    try {
      for (const text of ['always', 'and again']) {
        await remove.waitFor()
        await conversation.runTurn(text)
        assert.match((await sent(text))[1]?.resource?.uri ?? '', /\/ideas\.md$/)
      }
      await remove.click()
      await offer.waitFor()
      await conversation.runTurn('but not now')
      assert.equal((await sent('but not now')).length, 1)
    } finally {
      root.updateSettings({ 'parley.addActiveContext': undefined })
    }
  })

  it('goes to turns with Alt and the arrow keys, Home and End, also while a prompt with a chip is written', async () => {
    await begin('Capable')
    const { frame } = conversation
    // a turn is taller than the view, and its prompt still near enough to be drawn
    for (const name of ['first', 'second', 'third']) await conversation.runTurn(`${name} [[flood 200 8]]`)
    const isShown = (turn: string) =>
      waitFor(`the ${turn} prompt at the top`, async () => {
        const top = await frame.evaluate<string>(
          `(() => {
            const { left, top, width } = document.querySelector('.transcript').getBoundingClientRect()
            return document.elementFromPoint(left + width / 2, top + 24)?.closest('.row-prompt')?.textContent ?? ''
          })()`,
        )
        return top.includes(turn)
      })
    const isAtEnd = () => conversation.button('Scroll to Latest Message').waitFor({ state: 'detached' })
    for (const draft of ['', 'Compare @plnjs']) {
      await conversation.composer.focus()
      await type(draft)
      if (draft !== '') {
        await accept('planets.js')
        await chips().filter({ hasText: 'planets.js' }).waitFor()
      }
      const written = await conversation.composerText()
      await press('Alt+Home')
      await isShown('first')
      await press('Alt+ArrowDown')
      await isShown('second')
      await press('Alt+End')
      await isAtEnd()
      await press('Alt+ArrowUp')
      await isShown('third')
      await press('Alt+ArrowUp')
      await isShown('second')
      assert.equal(await conversation.composerText(), written)
      await conversation.waitForFocus(conversation.composer)
    }
    await press('Control+a')
    await press('Delete')
  })

  it('completes a typed path that Git ignores or that leads outside, and asks before sending a file outside', async () => {
    const folder = join(dirname(vscode.workspace), 'planets-api')
    const outside = join(dirname(vscode.workspace), 'outside')
    mkdirSync(join(folder, 'made'))
    mkdirSync(outside)
    writeFileSync(join(folder, 'made', 'log.txt'), 'ignored')
    writeFileSync(join(outside, 'plan.md'), 'secret plan')
    writeFileSync(join(folder, '.gitignore'), 'made/\nlinked\n')
    symlinkSync(outside, join(folder, 'linked'))
    execFileSync('git', ['init', '-q'], { cwd: folder })
    try {
      await begin('Capable')
      const choose = async (typed: string, name: string) => {
        await type(typed)
        await accept(name)
      }
      const dialog = workbench.page.getByRole('dialog')
      const answer = async (button: string) => {
        await dialog.getByText("Add a file outside this session's folders?").waitFor()
        await dialog.getByRole('button', { name: button }).click()
        await dialog.waitFor({ state: 'detached' })
        await conversation.waitForFocus(conversation.composer)
      }
      const embedded = (text: string) =>
        waitFor(`the prompt “${text}”`, () => prompts('Capable').find(one => one[0]?.text?.startsWith(text)))
      await choose('ignored @made/lo', 'log.txt')
      await isWritten('ignored made/log.txt ')
      await press('Enter')
      assert.equal((await embedded('ignored'))[1]?.resource?.text, 'ignored')

      await isWritten('')
      await type('cancel @linked/pl')
      await rows().filter({ hasText: 'plan.md' }).first().waitFor()
      // the second one would send the prompt
      await conversation.frame.evaluate(`(async () => {
        const composer = document.querySelector('.composer .cm-content')
        const enter = { key: 'Enter', code: 'Enter', keyCode: 13, bubbles: true, cancelable: true }
        composer.dispatchEvent(new KeyboardEvent('keydown', enter))
        await new Promise(resolve => setTimeout(resolve))
        composer.dispatchEvent(new KeyboardEvent('keydown', enter))
      })()`)
      await answer('Cancel')
      await isWritten('cancel @linked/pl')
      await press('Control+a')
      await choose('linked @linked/pl', 'plan.md')
      await answer('Add Path Only')
      await isWritten('linked linked/plan.md ')
      await press('Enter')
      const [, link] = await embedded('linked')
      assert.equal(link?.type, 'resource_link')
      assert.match(link?.uri ?? '', /planets-api\/linked\/plan\.md$/)

      await isWritten('')
      await choose('above @../outside/', 'plan.md')
      await answer('Add Content')
      await choose('twice @../outside/plan.md', 'plan.md')
      await isWritten('above plan.md twice plan.md ')
      await press('Enter')
      const [, first, , second] = await embedded('above')
      assert.equal(first?.resource?.text, 'secret plan')
      assert.equal(second?.resource?.text, 'secret plan')
      assert.ok(!prompts('Capable').some(one => one[0]?.text?.startsWith('cancel')))
    } finally {
      for (const name of ['made', '.gitignore', 'linked', '.git'])
        rmSync(join(folder, name), { recursive: true, force: true })
      rmSync(outside, { recursive: true })
    }
  })

  it('asks about a link that Git lists, never reads a picture behind it, and reads only where it led when the user agreed', async () => {
    const folder = join(dirname(vscode.workspace), 'planets-api')
    const outside = join(dirname(vscode.workspace), 'elsewhere')
    mkdirSync(outside)
    writeFileSync(join(outside, 'pl\u202ean.md'), 'plan')
    writeFileSync(join(outside, 'secret.md'), 'secret')
    writeFileSync(join(outside, 'logo.png'), Buffer.from(PIXEL, 'base64'))
    const link = (name: string, target: string) => {
      rmSync(join(folder, name), { force: true })
      symlinkSync(join(outside, target), join(folder, name))
    }
    link('moons.md', 'pl\u202ean.md')
    link('moons.png', 'logo.png')
    link('moons', '.')
    execFileSync('git', ['init', '-q'], { cwd: folder })
    try {
      await begin('Capable')
      const dialog = workbench.page.getByRole('dialog')
      const mention = async (name: string, button: string) => {
        await type(`@${name}`)
        await accept(name)
        await dialog.getByText("Add a file outside this session's folders?").waitFor()
        if (name === 'moons.md') await dialog.getByText('pl‹U+202E›an.md').waitFor()
        await dialog.getByRole('button', { name: button }).click()
        await dialog.waitFor({ state: 'detached' })
        await chips().filter({ hasText: name }).first().waitFor()
        await conversation.waitForFocus(conversation.composer)
      }
      const sent = (text: string) =>
        waitFor(`the prompt “${text}”`, () => prompts('Capable').find(one => one[0]?.text?.startsWith(text)))

      await type('agreed ')
      await mention('moons.md', 'Add Content')
      await mention('moons.png', 'Add Path Only')
      link('moons.md', 'secret.md')
      await press('Enter')
      const agreed = (await sent('agreed')).filter(one => one.type !== 'text')
      assert.deepEqual(
        agreed.map(one => one.type),
        ['resource_link', 'resource_link'],
      )

      await isWritten('')
      await type('dropped')
      await dropFile(conversation.frame, pathToFileURL(join(folder, 'moons.png')).href)
      await attached().filter({ hasText: 'moons.png' }).waitFor()
      await press('Enter')
      assert.equal((await sent('dropped')).find(one => one.type !== 'text')?.type, 'resource_link')

      await isWritten('')
      await type('@moons')
      await rows().locator('.codicon-folder').first().waitFor()
    } finally {
      await press('Control+a')
      await press('Delete')
      for (const name of ['moons', 'moons.md', 'moons.png', '.git'])
        rmSync(join(folder, name), { recursive: true, force: true })
      rmSync(outside, { recursive: true })
    }
  })

  it('adds a commit, and what a branch changed', async () => {
    const folder = join(dirname(vscode.workspace), 'planets-api')
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], {
        cwd: folder,
        stdio: 'pipe',
      })
    git('init', '-q', '-b', 'main')
    git('add', 'planets.js')
    git('commit', '-q', '-m', 'Survey of planets')
    // Git allows spaces that aren't ASCII
    const branch = 'moonlight\u3000月'
    git('checkout', '-q', '-b', branch)
    writeFileSync(join(folder, 'moons.txt'), 'Io')
    git('add', 'moons.txt')
    git('commit', '-q', '-m', 'Add moons')
    git('checkout', '-q', 'main')
    try {
      await begin('Capable')
      const row = rows().filter({ hasText: 'Survey of planets' })
      // commits are listed again after a few seconds
      await waitFor('the new commit', async () => {
        await press('Control+a')
        await type('history @Survey')
        return row.waitFor({ timeout: 10_000 }).then(
          () => true,
          () => false,
        )
      })
      await row.click()
      await chips().first().waitFor()
      await type('@moonlight')
      await rows().filter({ hasText: 'Changes since main' }).click()
      await chips().filter({ hasText: 'Changes of moonlight' }).waitFor()
      await press('Enter')
      const [, commit, , changes] = await waitFor('the prompt', () =>
        prompts('Capable').find(one => one[0]?.text?.startsWith('history')),
      )
      assert.match(commit?.resource?.text ?? '', /Survey of planets[\s\S]*planets\.js/)
      assert.match(changes?.resource?.text ?? '', /moons\.txt[\s\S]*\+Io/)
      assert.doesNotMatch(changes?.resource?.text ?? '', /planets\.js/)
      await conversation.frame.locator('.prompt-text').last().getByText(`Changes of ${branch}`).waitFor()

      await isWritten('')
      await type('gone @moonlight')
      await rows().filter({ hasText: 'Changes since main' }).click()
      await chips().filter({ hasText: 'Changes of moonlight' }).waitFor()
      git('branch', '-q', '-D', branch)
      git('reflog', 'expire', '--expire=now', '--all')
      git('prune', '--expire=now')
      await press('Enter')
      await conversation.frame
        .getByText(`Git doesn't know Changes of ${branch}. Remove it to send the prompt.`, { exact: true })
        .waitFor()
      await isWritten(`gone Changes of ${branch} `)
      await press('Control+a')
      await press('Delete')
    } finally {
      rmSync(join(folder, '.git'), { recursive: true })
    }
  })

  it('turns a pasted path of the workspace into a chip, and back with undo', async () => {
    await begin('Capable')
    const file = join(dirname(vscode.workspace), 'planets-api', 'planets.js')
    await type('See ')
    await pasteText(conversation.frame, file)
    await chips().filter({ hasText: 'planets.js' }).waitFor()
    await type('now')
    await isWritten('See planets.js now')
    await press('Control+a')
    await press('Delete')
    await pasteText(conversation.frame, './planets.js')
    await chips().filter({ hasText: 'planets.js' }).waitFor()
    await press('Control+z')
    await isWritten('./planets.js')
    await press('Control+a')
    await press('Delete')
  })

  it('finds a file that was just created', async () => {
    await begin('Capable')
    await type('@planets')
    await rows().first().waitFor()
    writeFileSync(join(dirname(vscode.workspace), 'planets-api/zyxwv.txt'), 'new')
    await waitFor('new file', async () => {
      await press('Control+a')
      await type('@zyxwv')
      return rows()
        .filter({ hasText: 'zyxwv.txt' })
        .first()
        .waitFor({ timeout: 10_000 })
        .then(
          () => true,
          () => false,
        )
    })
    await press('Escape')
    await press('Control+a')
    await press('Delete')
  })

  it('keeps a draft with its chips and images when the window is reloaded', async () => {
    await begin('Capable')
    await conversation.send('first')
    await conversation.frame.locator('.row-prompt', { hasText: 'first' }).waitFor()
    await isWritten('')
    await conversation.composer.click()
    await conversation.waitForFocus(conversation.composer)
    await pasteImage(conversation.frame, 30, 30)
    await attached().getByRole('img').waitFor()
    await type('about @planets.js')
    await accept('planets.js')
    await chips().waitFor()
    await type('again')
    const kept = () => storedDrafts(vscode.root).includes('again')
    await waitFor('draft on disk', kept)
    await workbench.reload()
    conversation = await ConversationPage.find(workbench)
    await chips().filter({ hasText: 'planets.js' }).waitFor()
    await isWritten('about planets.js again')
    await attached().getByRole('img').waitFor()
    await conversation.waitForPhase('ready')
    await conversation.composer.press('Enter')
    const sent = await waitFor('prompt', () =>
      prompts('Capable').find(one => one[0]?.text === 'about ' && one[2]?.text === ' again'),
    )
    assert.deepEqual(
      sent.map(block => block.type),
      ['text', 'resource', 'text', 'image'],
    )
  })
})

/** A bitmap of one row of pixels, in a format that models don't support. */
function bitmap(width: number): Buffer {
  const bytes = Buffer.alloc(54 + 3 * width, 'BM', 'latin1').fill(0, 2)
  bytes.writeUInt32LE(bytes.length, 2)
  bytes.writeUInt32LE(54, 10)
  bytes.writeUInt32LE(40, 14)
  bytes.writeInt32LE(width, 18)
  bytes.writeInt32LE(1, 22)
  bytes.writeUInt16LE(1, 26)
  bytes.writeUInt16LE(24, 28)
  return bytes
}

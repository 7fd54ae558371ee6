import assert from 'node:assert/strict'
import { readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { deferred } from '../../src/common/async.ts'
import { waitFor } from '../host/wait-for.ts'
import { openFile, selectLines } from '../support/page/editor.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import type { PageWindow } from '../support/page/page-window.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'
import { fixtureAgent, openGate, receivedParams } from '../ui/support/fixture-agent.ts'

type Block = { type: string; text?: string; resource?: { uri: string; text?: string } }
interface Thread {
  path: string
  lines: [number, number]
  text: string
  label: string
  state: string
}

const capable = { agentCapabilities: { promptCapabilities: { embeddedContext: true } } }
const TEXT = ['const one = 1', 'const two = 2', 'const three = 3', 'const four = 4', ''].join('\n')

describe('comments on lines', () => {
  const vscode = new PageSuite({
    settings: root => ({
      'parley.agents': {
        one: fixtureAgent(root, 'One', { results: { initialize: capable } }),
        two: fixtureAgent(root, 'Two', { results: { initialize: capable } }),
      },
    }),
  })
  let tries = 0
  let name = ''
  let file = ''
  let workbench: PageWindow
  let conversation: ConversationPage

  const chips = () => conversation.frame.getByRole('list', { name: 'Attached' }).getByRole('listitem')
  const threads = async () => (await workbench.host.call('comments')) as Thread[]
  const comment = (from: number, to: number, text: string) =>
    workbench.host.call('addComment', file, from, to, text)
  const shows = (...states: string[]) =>
    waitFor(`threads ${states.join(', ')}`, async () => {
      const shown = (await threads()).map(({ state }) => state)
      return shown.join() === states.join()
    })
  /** The editor has noticed that the file changed, and moved the first comment to this line. */
  const movedTo = (line: number) =>
    waitFor(`the comment at line ${line}`, async () => {
      // the editor may only now start to watch the file
      utimesSync(file, new Date(), new Date())
      return (await threads())[0]?.lines[0] === line
    })
  const chipsAre = (...labels: string[]) =>
    waitFor(`chips ${labels.join(', ')}`, async () => {
      const shown = await chips().allInnerTexts()
      return shown.map(label => label.trim()).join() === labels.join()
    })
  const sent = (agent: string) =>
    receivedParams(vscode.root, agent, 'session/prompt').at(-1)?.prompt as Block[]

  async function open(agent: string): Promise<void> {
    name = `lines-${++tries}.js`
    file = join(dirname(vscode.workspace), 'planets-api', name)
    writeFileSync(file, TEXT)
    workbench = await vscode.clearedWindow()
    for (const _ of await threads()) await workbench.host.call('pressComment', 0, 'parley.comments.delete')
    conversation = await ConversationPage.startSession(workbench, agent)
  }
  afterEach(() => rmSync(file, { force: true }))

  it('go with the next prompt, and are addressed when the agent changes their lines', async () => {
    await open('One')
    await comment(2, 3, 'Use one object.\nNot two constants.')
    await comment(4, 4, 'Is this needed?')
    await chipsAre(`${name}:2-3`, `${name}:4`)
    assert.deepEqual((await threads())[0], {
      path: file,
      lines: [2, 3],
      text: 'Use one object.\nNot two constants.',
      label: 'Sent with your next prompt',
      state: 'draft',
    })
    await conversation.send(`[[edit ${name} three drei]] as I wrote`)
    await shows('addressed', 'sent')
    const [text, first, second] = sent('One')
    assert.match(text?.text ?? '', /as I wrote/)
    assert.equal(
      first?.resource?.text,
      `Comment on ${file}:2-3:\n\nUse one object.\nNot two constants.\n\n\`\`\`\nconst two = 2\nconst three = 3\n\`\`\``,
    )
    assert.equal(first?.resource?.uri, `parley:comments/${encodeURIComponent(`${name}:2-3`)}`)
    assert.match(second?.resource?.text ?? '', /Is this needed\?/)
    assert.deepEqual(
      (await threads()).map(({ label }) => label),
      ['Addressed by One', 'Sent to One'],
    )
    await chipsAre()
    const shown = conversation.frame.locator('.row-prompt').last()
    await shown.getByText(`${name}:2-3`).waitFor()

    await workbench.host.call('pressComment', 1, 'parley.comments.resolve')
    await workbench.host.call('pressComment', 0, 'parley.comments.reopen')
    await shows('sent', 'resolved')
  })

  it('are written in an input box, without marks at all lines', async () => {
    await open('One')
    await openFile(workbench, name)
    await selectLines(workbench, 2)
    await workbench.runCommand('Parley: Add Comment for Agent')
    await workbench.paletteInput.fill('Why both?')
    await workbench.paletteInput.press('Enter')
    await chipsAre(`${name}:1-2`)
    const [{ lines, text, state } = {} as Thread] = await threads()
    assert.deepEqual({ lines, text, state }, { lines: [1, 2], text: 'Why both?', state: 'draft' })
  })

  it('are changed and deleted at their lines and as chips', async () => {
    await open('One')
    await comment(1, 1, 'first')
    await comment(2, 2, 'second')
    await chipsAre(`${name}:1`, `${name}:2`)
    await workbench.host.call('pressComment', 0, 'parley.comments.edit')
    await workbench.host.call('pressComment', 0, 'parley.comments.save', 'first, changed')
    await chips().locator('[title*="first, changed"]').waitFor()
    await conversation.frame.getByRole('button', { name: `Remove ${name}:2` }).click()
    await shows('draft')
    assert.equal((await threads())[0]?.text, 'first, changed')
    await chips().getByText(`${name}:1`).click()
    await workbench.page.locator('.tabs-container .tab', { hasText: name }).waitFor()
    await workbench.host.call('pressComment', 0, 'parley.comments.delete')
    await chipsAre()
  })

  it('follow their lines, also through a reload, and go to the conversation where they were written', async () => {
    await open('Two')
    await openFile(workbench, name)
    await comment(3, 3, 'three')
    await chipsAre(`${name}:3`)
    writeFileSync(file, `// new\n// lines\n${TEXT}`)
    await movedTo(5)
    await chipsAre(`${name}:5`)
    assert.deepEqual((await threads())[0]?.lines, [5, 5])
    await workbench.reload()
    await shows('draft')
    await workbench.openViewContainer('Parley')
    conversation = await ConversationPage.find(workbench)
    await chipsAre(`${name}:5`)
    await conversation.waitForPhase('ready')
    await workbench.runCommand('Parley: New Session')
    await chipsAre()
    assert.equal((await threads()).length, 1)
  })

  it('in a queued prompt wait with it, and vanish with it', async () => {
    await open('One')
    await conversation.send('[[gate]]')
    await comment(1, 1, 'queued')
    await chipsAre(`${name}:1`)
    await conversation.send('later')
    await shows('queued')
    await conversation.frame.getByRole('region', { name: 'Queued prompts' }).hover()
    await conversation.button('Remove').first().click()
    await waitFor('no threads', async () => (await threads()).length === 0)
    openGate(vscode.root, 'One')
    await conversation.button(/^Stop \(/).waitFor({ state: 'detached' })
  })

  it('tell the agent where their lines are when the prompt is sent, and stay when the file is gone', async () => {
    await open('One')
    await comment(2, 2, 'moved')
    await chipsAre(`${name}:2`)
    writeFileSync(file, `// added\n${readFileSync(file, 'utf8')}`)
    await conversation.send('here')
    await waitFor('the prompt', () => sent('One')?.[0]?.text === 'here')
    assert.match(sent('One')[1]?.resource?.text ?? '', new RegExp(`${name}:3:`))
    await movedTo(3)
    await comment(2, 2, 'gone')
    await chipsAre(`${name}:2`)
    rmSync(file)
    await conversation.send('gone')
    await waitFor('the prompt', () => sent('One')?.[0]?.text === 'gone')
    assert.match(sent('One')[1]?.resource?.text ?? '', /gone\n\n```\nconst one = 1\n```/)
  })
})

describe('a comment on lines that is written while the page loads', () => {
  const vscode = new PageSuite({
    settings: root => ({ 'parley.agents': { one: fixtureAgent(root, 'One') } }),
  })

  it('is in its composer, although the page has not reported yet that it is there', async () => {
    const workbench = await vscode.open()
    const reports = deferred()
    await workbench.page.route('**/event', async route => {
      if (route.request().postData()?.includes('conversation/ready')) await reports.promise
      await route.continue()
    })
    await workbench.host.call('openSideBar')
    await workbench.host.call('run', 'parley.newSessionWithAgent', 'one')
    const conversation = await ConversationPage.find(workbench)
    await conversation.waitForPhase('ready')
    const file = join(dirname(vscode.workspace), 'planets-api/planets.js')
    await workbench.host.call('addComment', file, 2, 3, 'Use one object.')
    reports.resolve()
    await conversation.frame.getByRole('listitem').filter({ hasText: 'planets.js:2-3' }).waitFor()
  })
})

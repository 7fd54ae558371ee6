import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Locator } from 'playwright-core'
import type { IsolatedRoot } from '../host/isolated-root.ts'
import { findExtensionHost } from '../host/processes.ts'
import { waitFor } from '../host/wait-for.ts'
import type { Workbench } from '../host/workbench.ts'
import { ConversationPage } from './support/conversation-page.ts'
import { openFile, replaceWord } from './support/editor.ts'
import { fixtureAgent, receivedParams } from './support/fixture-agent.ts'
import { VsCodeSuite } from './support/vscode-suite.ts'

const ORIGINAL = readFileSync(
  new URL('../fixtures/workspace/planets-api/planets.js', import.meta.url),
  'utf8',
)
const FIRST = ORIGINAL.replaceAll('Mercury', 'Hermes')
const BOTH = FIRST.replaceAll('Mars', 'Ares')

const forks = { results: { initialize: { agentCapabilities: { sessionCapabilities: { fork: {} } } } } }
const agents = (root: IsolatedRoot) => ({
  plain: fixtureAgent(root, 'Plain'),
  able: fixtureAgent(root, 'Able', forks),
})

describe('restoring a checkpoint', () => {
  const vscode = new VsCodeSuite({ settings: root => ({ 'parley.agents': agents(root) }) })
  /** unique for each test and retry, because the server keeps a window's unsaved files */
  let name = ''
  let tries = 0
  const file = () => join(dirname(vscode.workspace), 'planets-api', name)
  const planets = () => readFileSync(file(), 'utf8')
  const holds = (text: string) => waitFor('the text of the file', () => planets() === text)
  let workbench: Workbench
  let conversation: ConversationPage

  async function open(agent: string): Promise<void> {
    name = `checkpoint-${++tries}.js`
    writeFileSync(file(), ORIGINAL)
    workbench = await vscode.clearedWindow()
    conversation = await ConversationPage.startSession(workbench, agent)
  }
  afterEach(() => rmSync(file(), { force: true }))

  const received = (agent: string, method: string) => receivedParams(vscode.server.root, agent, method)
  const lastPrompt = (agent: string) => received(agent, 'session/prompt').at(-1)
  async function say(prompt: string): Promise<void> {
    await conversation.send(prompt)
    await prompts().filter({ hasText: prompt }).first().waitFor()
    await conversation.button(/^Stop/).waitFor({ state: 'detached' })
  }
  /** Runs two turns with one change each. */
  async function twoEdits(): Promise<void> {
    await say(`[[edit ${name} Mercury Hermes]] first`)
    await holds(FIRST)
    await say(`[[edit ${name} Mars Ares]] second`)
    await holds(BOTH)
  }
  const prompts = () => conversation.frame.locator('.row-prompt')
  const prompt = (text: string) => prompts().filter({ hasText: text }).last()
  const setAside = () => conversation.frame.locator('.row-prompt.set-aside')
  const aside = (count: number) =>
    waitFor(`${count} prompts set aside`, async () => (await setAside().count()) === count)
  async function press(row: Locator, label: string): Promise<void> {
    await row.hover()
    await row.getByRole('button', { name: label }).click()
  }
  /** Waits for a dialog with all of these texts, and confirms it. */
  async function confirm(...texts: string[]): Promise<void> {
    const dialog = workbench.page.locator('.monaco-dialog-box')
    for (const text of texts) await dialog.getByText(text).first().waitFor()
    await dialog.getByRole('button', { name: 'Restore', exact: true }).and(dialog.locator(':focus')).waitFor()
    await workbench.page.keyboard.press('Enter')
    await dialog.waitFor({ state: 'detached' })
  }
  async function restoreToSecond(...texts: string[]): Promise<void> {
    await press(prompt('second'), 'Restore to Here…')
    await confirm(...texts)
    await holds(FIRST)
    await aside(1)
  }
  /** Undoes the restore, after which the file has this text. */
  async function undoRestore(left = BOTH): Promise<void> {
    await conversation.button('Undo Restore').click()
    await holds(left)
    await aside(0)
  }
  /** Picks the first of the places where an edited prompt can continue: the restored checkpoint. */
  async function editAndRestore(text: string, label: string): Promise<void> {
    await press(prompt(text), 'Edit and Resend')
    await workbench.palette.locator('.monaco-list-row.focused').and(workbench.paletteRow(label)).waitFor()
    await workbench.paletteInput.press('Enter')
    await workbench.palette.waitFor({ state: 'hidden' })
  }

  it('restores earlier files, sets later turns aside, and can be undone', async () => {
    await open('Plain')
    await twoEdits()
    await restoreToSecond(`Restore ${name} (+1 −1)`, 'Your own changes are kept.')
    await undoRestore()

    await press(prompt('first'), 'Restore to Here…')
    await confirm(`Restore ${name} (+2 −2)`)
    await holds(ORIGINAL)
    await aside(2)
    // like any other reverted change
    await workbench.runCommand('Parley: Restore Last Reverted Changes')
    await holds(BOTH)
    await aside(0)

    await press(prompt('second'), 'Restore to Here…')
    await confirm(`Restore ${name} (+1 −1)`)
    await aside(1)
    await say('[[say go on]]')
    assert.match(JSON.stringify(lastPrompt('Plain')), /Disregard that prompt.*second/)
  })

  it('asks before it replaces lines that the user edited later', async () => {
    await open('Plain')
    await twoEdits()
    const mine = BOTH.replaceAll('Hermes', 'Mine')
    // in the editor: a change on disk at the end of the turn would count as the agent's
    await openFile(workbench, name)
    await replaceWord(workbench, 'Hermes', 'Mine')
    await holds(mine)
    await press(prompt('first'), 'Restore to Here…')
    await confirm('Not restored:', `${name}: you edited the same lines`)
    await holds(mine.replaceAll('Ares', 'Mars'))
    const question = workbench.notification("so they weren't restored")
    await question.getByRole('button', { name: 'Restore Anyway' }).click()
    await holds(ORIGINAL)
    await aside(2)
    await undoRestore(mine)
  })

  /** Whether the stored state of the file includes the second turn. */
  const isStored = () => {
    const storages = join(vscode.server.root.userData, 'User', 'workspaceStorage')
    return readdirSync(storages)
      .map(one => join(storages, one, 'parley.parley', 'changes', 'files'))
      .filter(folder => existsSync(folder))
      .flatMap(folder => readdirSync(folder).map(one => join(folder, one)))
      .filter(path => path.endsWith('.json'))
      .map(path => readFileSync(path, 'utf8'))
      .some(stored => stored.includes(name) && stored.includes('"turn":2'))
  }
  const killExtensionHost = async () => {
    process.kill(await findExtensionHost(vscode.server.root), 'SIGKILL')
  }
  for (const [event, happens] of [
    ['a reload of the window', async () => {}],
    ['a crash of the extension host', killExtensionHost],
  ] as const) {
    it(`restores the files from before ${event}, and can be undone`, async () => {
      await open('Plain')
      await twoEdits()
      await waitFor('the checkpoint on disk', isStored)
      await happens()
      await workbench.reload()
      conversation = await ConversationPage.find(workbench)
      await prompt('second').waitFor()
      await conversation.waitForPhase('ready')
      await restoreToSecond(`Restore ${name}`)
      await undoRestore()
    })
  }

  it('can be undone after a crash of the extension host', async () => {
    await open('Plain')
    await twoEdits()
    await restoreToSecond(`Restore ${name}`)
    await killExtensionHost()
    await workbench.reload()
    conversation = await ConversationPage.find(workbench)
    await conversation.waitForPhase('ready')
    await aside(1)
    await undoRestore()
    await press(prompt('first'), 'Restore to Here…')
    await confirm(`Restore ${name} (+2 −2)`)
    await holds(ORIGINAL)
  })

  it('continues with an edited prompt in a fork, which has the checkpoints of the original conversation', async () => {
    await open('Able')
    await twoEdits()
    const before = received('Able', 'session/fork').length
    await editAndRestore('second', 'Restore 1 File and Edit in a Fork')
    await holds(FIRST)
    await waitFor('the fork', () => received('Able', 'session/fork').length === before + 1)
    await conversation.composer.filter({ hasText: 'second' }).waitFor()
    await conversation.waitForFocus(conversation.composer)
    await aside(1)
    await say(`[[edit ${name} Mars Gradivus]] edited`)
    await holds(FIRST.replaceAll('Mars', 'Gradivus'))
    const last = lastPrompt('Able')
    assert.match(String(last?.sessionId), /^fork-/)
    assert.match(JSON.stringify(last?.prompt), /edited.*Disregard that prompt.*second/)
    await press(prompt('first'), 'Restore to Here…')
    await confirm(`Restore ${name} (+2 −2)`)
    await holds(ORIGINAL)
    // the fork also begins with the notice of the restore before it
    const notice = conversation.frame.locator('.row-notice', { hasText: /before the prompt.*first/ })
    await notice.getByRole('button', { name: 'Undo Restore' }).click()
    await holds(FIRST.replaceAll('Mars', 'Gradivus'))
    await aside(1)
  })

  it("continues with an edited prompt in a new session that gets the earlier conversation, if the agent can't fork", async () => {
    await open('Plain')
    await twoEdits()
    const before = lastPrompt('Plain')?.sessionId
    await editAndRestore('second', 'Restore 1 File and Edit in a New Session')
    await holds(FIRST)
    await conversation.composer.filter({ hasText: 'second' }).waitFor()
    await conversation.waitForFocus(conversation.composer)
    await conversation.composer.press('Enter')
    await holds(BOTH)
    const last = lastPrompt('Plain')
    assert.notEqual(last?.sessionId, before)
    const sent = JSON.stringify(last?.prompt)
    assert.match(sent, /Mercury Hermes/)
    assert.equal(sent.match(/Mars Ares/g)?.length, 1)
  })

  it('can also fork from a message', async () => {
    await open('Able')
    await say('[[say one]] first')
    await say('[[say two]] second')
    const before = received('Able', 'session/fork').length
    await prompt('first').click({ button: 'right' })
    const menu = workbench.page.locator('.context-view .monaco-menu')
    await menu.getByText('Fork from Here').hover()
    await workbench.page.keyboard.press('Enter')
    await waitFor('the fork', () => received('Able', 'session/fork').length === before + 1)
    await aside(1)
    await conversation.text('Continued from before the prompt').waitFor()
    await say('[[say three]] third')
    assert.match(JSON.stringify(lastPrompt('Able')?.prompt), /Disregard that prompt.*second/)
  })
})

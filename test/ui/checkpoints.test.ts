import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Locator } from 'playwright-core'
import type { IsolatedRoot } from '../host/isolated-root.ts'
import { findExtensionHost } from '../host/processes.ts'
import { waitFor } from '../host/wait-for.ts'
import type { Workbench } from '../host/workbench.ts'
import { ConversationPage } from './support/conversation-page.ts'
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
  const rewound = () => conversation.frame.locator('.row-prompt.rewound')
  const aside = (count: number) =>
    waitFor(`${count} rewound prompts`, async () => (await rewound().count()) === count)
  async function press(row: Locator, label: string): Promise<void> {
    await row.hover()
    await row.getByRole('button', { name: label }).click()
  }
  /** Waits for a dialog with all of these texts, and confirms it. */
  async function confirm(...texts: string[]): Promise<void> {
    const dialog = workbench.page.locator('.monaco-dialog-box')
    await dialog.waitFor()
    const shown = await dialog.innerText()
    for (const text of texts) assert.ok(shown.includes(text), shown)
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

import assert from 'node:assert/strict'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { IsolatedRoot } from '../host/isolated-root.ts'
import { waitFor } from '../host/wait-for.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import type { PageWindow } from '../support/page/page-window.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'
import { fixtureAgent, receivedParams } from '../ui/support/fixture-agent.ts'

const ORIGINAL = readFileSync(
  new URL('../fixtures/workspace/planets-api/planets.js', import.meta.url),
  'utf8',
)
const FIRST = ORIGINAL.replaceAll('Mercury', 'Hermes')
const BOTH = FIRST.replaceAll('Mars', 'Ares')

/** In the way of claude-agent-acp, which doesn't advertise that a fork can end at a message. */
const claude = (version: string, forkAt: string) => ({
  forkAt,
  results: {
    initialize: {
      agentInfo: { name: '@agentclientprotocol/claude-agent-acp', title: 'Claude', version },
      agentCapabilities: { sessionCapabilities: { fork: {} } },
    },
  },
})
const agents = (root: IsolatedRoot) => ({
  forgets: fixtureAgent(root, 'Forgets', claude('0.101.0', 'works')),
  fails: fixtureAgent(root, 'Fails', claude('1.0.0', 'fails')),
  old: fixtureAgent(root, 'Old', claude('0.99.3', 'works')),
})

describe('going back in a conversation, with an agent that can forget', () => {
  const vscode = new PageSuite({ settings: root => ({ 'parley.agents': agents(root) }) })
  let name = ''
  let tries = 0
  const file = () => join(dirname(vscode.workspace), 'planets-api', name)
  const holds = (text: string) => waitFor('the text of the file', () => readFileSync(file(), 'utf8') === text)
  let workbench: PageWindow
  let conversation: ConversationPage

  const prompts = () => conversation.frame.locator('.row-prompt')
  const prompt = (text: string) => prompts().filter({ hasText: text }).last()
  const forks = (agent: string) => receivedParams(vscode.root, agent, 'session/fork')
  const lastPrompt = (agent: string) => receivedParams(vscode.root, agent, 'session/prompt').at(-1)
  async function twoEdits(agent: string): Promise<void> {
    name = `rewind-${++tries}.js`
    writeFileSync(file(), ORIGINAL)
    workbench = await vscode.clearedWindow()
    conversation = await ConversationPage.startSession(workbench, agent)
    await conversation.runTurn(`[[edit ${name} Mercury Hermes]] [[say done]] first`)
    await conversation.runTurn(`[[edit ${name} Mars Ares]] [[say done]] second`)
    await holds(BOTH)
  }
  afterEach(() => rmSync(file(), { force: true }))

  async function press(text: string, label: string): Promise<void> {
    await prompt(text).hover()
    await prompt(text).getByRole('button', { name: label }).click()
  }
  async function confirm(button: string, ...texts: string[]): Promise<void> {
    const dialog = workbench.page.locator('.monaco-dialog-box')
    await dialog.waitFor()
    const shown = await dialog.innerText()
    for (const text of texts) assert.ok(shown.includes(text), shown)
    await dialog.getByRole('button', { name: button, exact: true }).click()
    await dialog.waitFor({ state: 'detached' })
  }
  const gone = (text: string) =>
    waitFor(`no “${text}”`, async () => (await prompts().filter({ hasText: text }).count()) === 0)

  it('forks at the message, restores the files, and finds the branch with its files again', async () => {
    await twoEdits('Forgets')
    await press('second', 'Restore to Here…')
    await holds(FIRST)
    await gone('second')
    await waitFor('the prompt', async () => (await conversation.composerText()).endsWith('second'))
    await conversation.composer.fill('')
    await conversation.frame.getByText('Files restored to before the prompt').waitFor()
    const [fork] = forks('Forgets')
    assert.match(
      JSON.stringify(fork),
      /"_meta":\{"jetbrains":\{"air":\{"fork":\{"version":1,"messageId":"m\d+"\}/,
    )
    assert.equal(await conversation.frame.locator('.rewound').count(), 0)
    await conversation.runTurn('[[say else]] third')
    const sent = lastPrompt('Forgets')
    assert.doesNotMatch(JSON.stringify(sent), /Disregard/)
    assert.notEqual(sent?.sessionId, fork?.sessionId)

    await workbench.runAndPick('Parley: Show Branches…', 'Mercury Hermes')
    await confirm('Restore Files', 'When you left this branch')
    await holds(BOTH)
    await prompt('second').waitFor()
    await gone('third')
    await workbench.runCommand('Parley: Show Branches…')
    await workbench.palette.getByText(/^Without the prompt “.*second”/).waitFor()
    await workbench.paletteInput.press('Escape')
  })

  it('edits a prompt in a fork that lacks it, and goes back without files', async () => {
    await twoEdits('Forgets')
    const before = forks('Forgets').length
    await press('second', 'Edit and Resend')
    const editor = conversation.frame.getByRole('textbox', { name: 'Edit Prompt' })
    await conversation.waitForFocus(editor)
    await editor.fill('[[say only words]] words')
    await editor.press('Enter')
    await conversation.frame.getByText('Continued from before the prompt').waitFor()
    await conversation.agentMessage('only words').waitFor()
    await gone('second')
    assert.equal(forks('Forgets').length, before + 1)
    await holds(BOTH)
    await conversation.runTurn('[[say more]] more words')
    await press('more words', 'Restore to Here…')
    await gone('more words')
    await prompt('words').waitFor()
    await waitFor('the prompt', async () => (await conversation.composerText()).endsWith('more words'))
    await conversation.button('Open Original Session').last().click()
    await prompt('more words').waitFor()
  })

  it('goes back to the original conversation when the restore is undone', async () => {
    await twoEdits('Forgets')
    await press('second', 'Restore to Here…')
    await holds(FIRST)
    await gone('second')
    await conversation.frame
      .getByText(/^Fork of /)
      .first()
      .waitFor()
    await conversation.button('Undo Restore').click()
    await holds(BOTH)
    await prompt('second').waitFor()
    await waitFor('an empty input', async () => (await conversation.composerText()) === '')
  })

  it('is as with other agents if the fork fails, and with a version that was never measured', async () => {
    for (const agent of ['Fails', 'Old']) {
      await twoEdits(agent)
      await press('second', 'Restore to Here…')
      await holds(FIRST)
      await conversation.button(/entries set aside/).waitFor()
      await gone('second')
      // it's there before the text is deleted
      await waitFor('the prompt', async () => (await conversation.composerText()).endsWith('second'))
      await conversation.composer.fill('')
      await conversation.frame.getByText('The next prompt tells the agent to disregard it').waitFor()
      await conversation.runTurn('[[say else]] third')
      assert.match(JSON.stringify(lastPrompt(agent)), /Disregard that prompt/)
    }
    assert.equal(forks('Fails').length, 1)
    assert.equal(forks('Old').length, 0)
  })
})

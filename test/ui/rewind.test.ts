import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
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

/** In the way of claude-agent-acp, which doesn't advertise that a fork can end at a message. */
const claude = {
  forkAt: 'works',
  results: {
    initialize: {
      agentInfo: { name: '@agentclientprotocol/claude-agent-acp', title: 'Claude', version: '0.101.0' },
      agentCapabilities: { sessionCapabilities: { fork: {} } },
    },
  },
}

describe('going back in a conversation with an agent that forgets', () => {
  const vscode = new VsCodeSuite({
    ownServer: true,
    settings: root => ({ 'parley.agents': { forgets: fixtureAgent(root, 'Forgets', claude) } }),
  })
  let workbench: Workbench
  let conversation: ConversationPage
  const file = () => join(dirname(vscode.workspace), 'planets-api', 'planets.js')
  const holds = (text: string) => waitFor('the text of the file', () => readFileSync(file(), 'utf8') === text)

  const prompts = () => conversation.frame.locator('.row-prompt')
  const prompt = (text: string) => prompts().filter({ hasText: text }).last()
  const gone = (text: string) =>
    waitFor(`no “${text}”`, async () => (await prompts().filter({ hasText: text }).count()) === 0)
  const received = (method: string) => receivedParams(vscode.server.root, 'Forgets', method)
  /** The session of the last prompt, which told the agent to disregard nothing. */
  const lastSession = () => {
    const last = received('session/prompt').at(-1)
    assert.doesNotMatch(JSON.stringify(last?.prompt), /[Dd]isregard/)
    return last?.sessionId
  }
  const press = async (text: string, label: string) => {
    await prompt(text).hover()
    await prompt(text).getByRole('button', { name: label }).click()
  }
  /** Confirms a dialog with this text with the keyboard, as its button has the focus. */
  const confirm = async (button: string, text: string) => {
    const dialog = workbench.page.locator('.monaco-dialog-box')
    await dialog.getByText(text).waitFor()
    await dialog.getByRole('button', { name: button, exact: true }).and(dialog.locator(':focus')).waitFor()
    await workbench.page.keyboard.press('Enter')
    await dialog.waitFor({ state: 'detached' })
  }

  it('restores, edits and forks at messages, and goes back to what was left behind with its files', async () => {
    writeFileSync(file(), ORIGINAL)
    workbench = await vscode.open()
    conversation = await ConversationPage.startSession(workbench, 'Forgets')
    await conversation.runTurn('[[edit planets.js Mercury Hermes]] [[say done]] first')
    await conversation.runTurn('[[edit planets.js Mars Ares]] [[say done]] second')
    await holds(BOTH)
    const original = lastSession()

    await press('second', 'Restore to Here…')
    await holds(FIRST)
    await gone('second')
    await waitFor('the prompt', async () => (await conversation.composerText()).endsWith('second'))
    await conversation.composer.fill('')
    await conversation.runTurn('[[say else]] third')
    const restored = lastSession()
    assert.notEqual(restored, original)
    assert.match(JSON.stringify(received('session/fork')[0]), /"messageId":"m\d+"/)

    await workbench.runAndPick('Parley: Show Branches…', 'Mercury Hermes')
    await confirm('Restore Files', 'When you left this branch')
    await holds(BOTH)
    await prompt('second').waitFor()
    await gone('third')
    await conversation.runTurn('[[say more]] fourth')
    assert.equal(lastSession(), original)

    await press('fourth', 'Edit and Resend')
    const editor = conversation.frame.getByRole('textbox', { name: 'Edit Prompt' })
    await conversation.waitForFocus(editor)
    await editor.fill('[[say changed]] changed')
    await editor.press('Enter')
    await conversation.agentMessage('changed').last().waitFor()
    await gone('fourth')
    const edited = lastSession()
    assert.ok(![original, restored].includes(String(edited)))

    const forks = received('session/fork').length
    await workbench.chooseFromContextMenu(prompt('first'), 'Fork or Continue Session…')
    await workbench.pick('Fork from Here')
    await waitFor('the fork', () => received('session/fork').length === forks + 1)
    await gone('second')
    await prompt('first').waitFor()
    await holds(BOTH)
    await conversation.runTurn('[[say other]] fifth')
    assert.ok(![original, restored, edited].includes(lastSession()))

    await workbench.runCommand('Parley: Show Branches…')
    const branches = workbench.palette.locator('.monaco-list-row')
    await branches
      .filter({ hasText: /Without the prompt “.*second”/ })
      .first()
      .waitFor()
    assert.equal(await branches.count(), 3)
    await workbench.paletteInput.press('Escape')
  })
})

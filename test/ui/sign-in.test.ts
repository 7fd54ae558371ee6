import assert from 'node:assert/strict'
import { join } from 'node:path'
import type { IsolatedRoot } from '../host/isolated-root.ts'
import { testDirectory } from '../host/paths.ts'
import { waitFor } from '../host/wait-for.ts'
import type { Workbench } from '../host/workbench.ts'
import { ConversationPage } from './support/conversation-page.ts'
import { fixtureAgent, receivedParams } from './support/fixture-agent.ts'
import { HistoryPage } from './support/history-page.ts'
import { VsCodeSuite } from './support/vscode-suite.ts'

const program = join(testDirectory, 'fixtures/agent/main.mjs')
const variable = { name: 'FIXTURE_KEY', label: 'Key', secret: true, optional: false }
const can = { agentCapabilities: { auth: { logout: {}, status: {} } } }
const methods = {
  terminal: { id: 'terminal', type: 'terminal', name: 'In a terminal', env: { FIXTURE_LOGIN: '1' } },
  key: { id: 'key', type: 'env_var', name: 'With a key', vars: [variable] },
}

const wild = (root: IsolatedRoot) => ({
  id: 'wild',
  name: 'As in the wild',
  _meta: {
    'terminal-auth': {
      command: process.execPath,
      args: [program],
      env: { FIXTURE_LOGIN: '1', FIXTURE_LOG: join(root.directory, 'Wild.log') },
      label: 'Sign in',
    },
  },
})

const agents = (root: IsolatedRoot) => {
  const script = (authMethods: object[], more: object = {}) => ({
    authRequired: true,
    results: { initialize: { ...can, authMethods } },
    ...more,
  })
  return {
    slow: fixtureAgent(root, 'Slow', 'quirk-23'),
    terminal: fixtureAgent(root, 'Terminal', script([methods.terminal])),
    wild: fixtureAgent(root, 'Wild', script([wild(root)])),
    key: fixtureAgent(root, 'Key', script([methods.key], { authKey: 'FIXTURE_KEY' })),
    guarded: fixtureAgent(root, 'Guarded', script([methods.terminal], { authFor: ['session/delete'] })),
    early: fixtureAgent(root, 'Early', script([{ id: 'plain', name: 'Sign in' }])),
    late: fixtureAgent(
      root,
      'Late',
      script([{ id: 'plain', name: 'Sign in' }], { authFor: ['session/prompt'] }),
    ),
  }
}

describe('signing in', () => {
  const vscode = new VsCodeSuite({
    settings: root => ({
      'parley.agents': agents(root),
      // renders text in the page, so that tests can read it
      'terminal.integrated.gpuAcceleration': 'off',
    }),
  })

  async function begin(agent: string): Promise<{ workbench: Workbench; conversation: ConversationPage }> {
    const workbench = await vscode.clearedWindow()
    const conversation = await pick(workbench, agent)
    // the header names the agent only until it refuses to start a session, which may be at once
    await conversation.frame.locator('.header-agent-name, .card-title', { hasText: agent }).first().waitFor()
    return { workbench, conversation }
  }

  async function pick(workbench: Workbench, agent: string): Promise<ConversationPage> {
    await workbench.runAndPick('Parley: New Session with Agent…', agent)
    return ConversationPage.find(workbench)
  }

  const card = (conversation: ConversationPage, agent: string) =>
    conversation.card(`${agent} requires sign-in`)
  const picture = (workbench: Workbench, name: string) => workbench.screenshot(`sign-in-${name}`)

  /** Types into the terminal of a sign-in. */
  async function inTerminal(workbench: Workbench, text: string): Promise<void> {
    const terminal = workbench.page.locator('.terminal-wrapper.active, .terminal-wrapper').last()
    await terminal.locator('.xterm-rows', { hasText: 'Which exit code?' }).waitFor()
    await terminal.click()
    await workbench.page.keyboard.type(text)
    await workbench.page.keyboard.press('Enter')
  }

  it('can run in a terminal, which shows the exit code if it fails and stays open', async () => {
    const { workbench, conversation } = await begin('Terminal')
    const asked = card(conversation, 'Terminal')
    await asked.getByRole('button', { name: 'In a terminal' }).click()
    await inTerminal(workbench, '3')
    await asked.getByText('The sign-in command exited with code 3.').waitFor()
    await picture(workbench, 'terminal-failed')
    // the output stays readable
    const failed = workbench.page.locator('.terminal-wrapper', {
      hasText: 'Sign-in failed. Press Enter to close the terminal.',
    })
    await failed.waitFor()
    await failed.click()
    await workbench.page.keyboard.press('Enter')
    await failed.waitFor({ state: 'detached' })
    await asked.getByRole('button', { name: 'In a terminal' }).click()
    await inTerminal(workbench, '0')
    await conversation.waitForPhase('ready')
    await conversation.send('hello')
    await conversation.text('You said: hello').waitFor()
    assert.deepEqual(receivedParams(vscode.server.root, 'Terminal', 'authenticate'), [])
    const details = await conversation.openDetails()
    await details.getByText('Signed in as ada@example.org').waitFor()
    await picture(workbench, 'account')
  })

  it("can run the command in the agent's _meta, and is canceled when the terminal closes", async () => {
    const { workbench, conversation } = await begin('Wild')
    const asked = card(conversation, 'Wild')
    await asked.getByRole('button', { name: 'As in the wild' }).click()
    await conversation.card('Signing in to Wild').waitFor()
    await workbench.page.locator('.xterm-rows', { hasText: 'Which exit code?' }).last().waitFor()
    await workbench.runCommand('Terminal: Kill the Active Terminal Instance')
    await asked.getByRole('button', { name: 'As in the wild' }).click()
    await inTerminal(workbench, '0')
    await conversation.waitForPhase('ready')
  })

  it("makes History list the agent's sessions, and continues its other conversations", async () => {
    const { workbench, conversation } = await begin('Guarded')
    await conversation.waitForPhase('ready')
    await conversation.send('to be deleted')
    await conversation.text('You said: to be deleted').waitFor()
    await workbench.runCommand('Parley: Open Conversation in Editor Tab')
    await workbench.page.getByRole('tab', { name: 'to be deleted' }).waitFor()
    // the conversation stays in its tab; the next one starts in the side bar, once that has released the first
    await conversation.text('You said: to be deleted').waitFor({ state: 'detached' })
    // the tab takes the focus once it's ready, also from what is being written
    await workbench.webview('body:has(.composer-text :focus):has(:text("You said: to be deleted"))')
    await conversation.send('stays here')
    await conversation.text('You said: stays here').waitFor()

    const history = await HistoryPage.open(workbench)
    await history.find('to be deleted')
    await history.clickAction('to be deleted', 'Delete')
    const refusal = workbench.notification(/Authentication required/)
    await refusal.getByRole('button', { name: 'Sign In…' }).click()
    const frame = await waitFor('the card', async () => {
      for (const one of workbench.page.frames())
        if (
          await one
            .getByRole('button', { name: 'In a terminal' })
            .isVisible()
            .catch(() => false)
        )
          return one
    })
    await frame.getByRole('button', { name: 'In a terminal' }).click()
    await inTerminal(workbench, '0')
    await waitFor(
      'the deletion',
      () => receivedParams(vscode.server.root, 'Guarded', 'session/delete').length === 2,
    )
    await HistoryPage.open(workbench)
    await history.row('to be deleted').waitFor({ state: 'detached' })
    await history.back()
    const resumed = () => receivedParams(vscode.server.root, 'Guarded', 'session/resume')
    await waitFor('the other conversation', () => resumed().length > 0)
    await picture(workbench, 'gone-on')
    await workbench.openViewContainer('Parley')
    await conversation.waitForPhase('ready')
    assert.equal(await conversation.card(/stopped/).count(), 0)
    await conversation.send('still here')
    await conversation.text('You said: still here').waitFor()
  })
})

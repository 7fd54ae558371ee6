import assert from 'node:assert/strict'
import { join } from 'node:path'
import type { IsolatedRoot } from '../host/isolated-root.ts'
import { testDirectory } from '../host/paths.ts'
import type { Workbench } from '../host/workbench.ts'
import { ConversationPage } from './support/conversation-page.ts'
import { fixtureAgent, receivedParams } from './support/fixture-agent.ts'
import { VsCodeSuite } from './support/vscode-suite.ts'

const program = join(testDirectory, 'fixtures/agent/main.mjs')
const can = { agentCapabilities: { auth: { logout: {}, status: {} } } }
const inATerminal = { id: 'terminal', type: 'terminal', name: 'In a terminal', env: { FIXTURE_LOGIN: '1' } }

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
  const script = (method: object) => ({
    authRequired: true,
    results: { initialize: { ...can, authMethods: [method] } },
  })
  return {
    terminal: fixtureAgent(root, 'Terminal', script(inATerminal)),
    wild: fixtureAgent(root, 'Wild', script(wild(root))),
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
})

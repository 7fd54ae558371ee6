import assert from 'node:assert/strict'
import type { IsolatedRoot } from '../host/isolated-root.ts'
import { waitFor } from '../host/wait-for.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import type { PageWindow } from '../support/page/page-window.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'
import { fixtureAgent, receivedParams } from '../ui/support/fixture-agent.ts'
import { HistoryPage } from '../ui/support/history-page.ts'

const everything = {
  results: {
    initialize: {
      agentCapabilities: {
        sessionCapabilities: { fork: {}, title: {}, archive: {}, status: {} },
      },
    },
  },
}
const agents = (root: IsolatedRoot) => ({
  plain: fixtureAgent(root, 'Plain'),
  able: fixtureAgent(root, 'Able', everything),
})

describe('managing a session', () => {
  const vscode = new PageSuite({ settings: root => ({ 'parley.agents': agents(root) }) })
  const asked = (agent: string, method: string) => receivedParams(vscode.root, agent, method)

  async function begin(
    agent: string,
    prompt: string,
  ): Promise<{ workbench: PageWindow; conversation: ConversationPage }> {
    const workbench = await vscode.sharedWindow()
    const conversation = await ConversationPage.startSession(workbench, agent)
    await conversation.send(prompt)
    await conversation.text(`You said: ${prompt}`).waitFor()
    return { workbench, conversation }
  }

  it('forks it from its header and from History', async () => {
    const { workbench, conversation } = await begin('Able', 'a fork')
    await conversation.chooseFromAgentMenu('Fork Session')
    await waitFor('the fork', () => asked('Able', 'session/fork').length > 0)
    await (await conversation.openDetails()).getByText(/^fork-/).waitFor()
    await workbench.page.keyboard.press('Escape')
    await conversation.text('You said: a fork').waitFor()
    await conversation.send('in the fork')
    await conversation.text('You said: in the fork').waitFor()
    const [prompt] = asked('Able', 'session/prompt').slice(-1)
    assert.match(String(prompt?.sessionId), /^fork-/)
    const history = await HistoryPage.open(workbench)
    await waitFor('both in History', async () => (await history.rows.count()) >= 2)
    await history.clickAction('a fork', 'Fork')
    await waitFor('another fork', () => asked('Able', 'session/fork').length > 1)
  })
})

import assert from 'node:assert/strict'
import { ConversationPage } from './support/conversation-page.ts'
import { agentLog, fixtureAgent } from './support/fixture-agent.ts'
import { VsCodeSuite } from './support/vscode-suite.ts'

describe('Restricted Mode', () => {
  const vscode = new VsCodeSuite({
    workspaceTrust: true,
    settings: root => ({
      'security.workspace.trust.startupPrompt': 'never',
      // the trust editor opens next to the view, not in front of it
      'workbench.editor.useModal': 'off',
      'parley.agents': { honest: fixtureAgent(root, 'Honest') },
    }),
  })

  it('starts no agent, offers to manage trust, and ends when trust is granted', async () => {
    const workbench = await vscode.open()
    const conversation = await ConversationPage.open(workbench)
    const card = conversation.card('Restricted Mode')
    await card.getByText(/trust this folder/).waitFor()
    await conversation.button(/^Honest/).click()
    await conversation.send('hello')
    await card.waitFor()
    assert.deepEqual(agentLog(vscode.server.root, 'Honest'), [])

    await card.getByRole('button', { name: 'Manage Trust' }).click()
    await workbench.page
      .locator('.workspace-trust-editor')
      .getByRole('button', { name: 'Trust', exact: true })
      .first()
      .click()
    await card.waitFor({ state: 'detached' })
    await conversation.button(/^Honest/).click()
    await conversation.waitForPhase('ready')
    await conversation.send('hello again')
    await conversation.text('You said: hello again').waitFor()
  })
})

import assert from 'node:assert/strict'
import { floor } from '../host/vscode-versions.ts'
import type { Workbench } from '../host/workbench.ts'
import { ConversationPage } from './support/conversation-page.ts'
import { HistoryPage } from './support/history-page.ts'
import { VsCodeSuite } from './support/vscode-suite.ts'

describe('a conversation with the demo agent', () => {
  const vscode = new VsCodeSuite({ ownServer: true })

  /** Starts a session with the demo agent. */
  async function begin(workbench?: Workbench): Promise<ConversationPage> {
    const conversation = await ConversationPage.startSession(
      workbench ?? (await vscode.sharedWindow()),
      'Demo Agent',
    )
    await conversation.waitUntilReady()
    return conversation
  }

  it('logs no warnings or errors in the extension host', async () => {
    const workbench = await vscode.clearedWindow()
    const conversation = await begin(workbench)
    await conversation.send('/edit planets.js')
    await conversation.permission.getByRole('button', { name: 'Allow once' }).click()
    await conversation.text('The change is written').waitFor()
    await workbench.runCommand('Parley: Manage Agents')
    const agents = await workbench.webview('body[data-view="agents"] main')
    // it takes the focus late, and with it the next key
    await agents.locator('input:focus').waitFor()
    await HistoryPage.openTab(workbench)
    await conversation.runTurn('/help')
    assert.deepEqual(workbench.extensionHostProblems(), [])
  })
})

describe('the oldest supported VS Code', () => {
  const vscode = new VsCodeSuite({ version: floor })

  it('shows a conversation', async () => {
    const conversation = await ConversationPage.open(await vscode.open())
    await conversation.button(/Try the Demo Agent/).click()
    await conversation.waitUntilReady()
    await conversation.send('/help')
    await conversation.text(/\/edit/).waitFor()
  })
})

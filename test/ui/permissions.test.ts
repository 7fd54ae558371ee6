import assert from 'node:assert/strict'
import { ConversationPage } from './support/conversation-page.ts'
import { VsCodeSuite } from './support/vscode-suite.ts'

describe('permission requests', () => {
  const vscode = new VsCodeSuite()

  it('can be answered in their notification while the conversation is hidden', async () => {
    const workbench = await vscode.open()
    const conversation = await ConversationPage.startSession(workbench, 'Demo Agent')
    await conversation.send('/slow 2')
    await conversation.send('/run date')
    await workbench.openViewContainer('Search (Ctrl+Shift+F)')
    const call = workbench.notification(/Demo Agent asks:.*date/)
    await call.waitFor()
    const status = workbench.page.locator('.statusbar')
    await status.getByRole('button', { name: 'Demo Agent: needs your answer' }).waitFor()
    assert.deepEqual(await call.getByRole('link').allInnerTexts(), ['Show', 'Allow once', 'Reject'])
    // this button only closes the notification
    await call.getByRole('button', { name: 'Dismiss', exact: true }).waitFor()
    await call.getByRole('link', { name: 'Allow once' }).click()
    await call.waitFor({ state: 'detached' })
    await workbench.openViewContainer('Parley')
    await conversation.button(/date.*allowed once/).waitFor()
    await conversation.text('exit code 0').waitFor()
  })
})

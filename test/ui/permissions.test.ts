import assert from 'node:assert/strict'
import { waitFor } from '../host/wait-for.ts'
import type { Workbench } from '../host/workbench.ts'
import { ConversationPage } from './support/conversation-page.ts'
import { fixtureAgent } from './support/fixture-agent.ts'
import { VsCodeSuite } from './support/vscode-suite.ts'

describe('permission requests', () => {
  const vscode = new VsCodeSuite({
    settings: root => ({
      'parley.agents': { liar: fixtureAgent(root, 'Liar') },
      'parley.permissionRules': [
        { command: 'ls *', action: 'allow' },
        { kind: 'edit', path: '**/*.js', action: 'reject' },
      ],
    }),
  })
  let workbench: Workbench

  beforeEach(async () => {
    workbench = await vscode.sharedWindow()
  })

  it('are answered by a rule that allows, and show it with a link to its setting', async () => {
    const conversation = await ConversationPage.startSession(workbench, 'Demo Agent')
    await conversation.send('/run ls -la')
    const answered = conversation.button(/allowed by your rule/)
    await answered.waitFor()
    await conversation.text('exit code 0').waitFor()
    assert.equal(await conversation.permission.count(), 0)
    await answered.click()
    await conversation.text('ls *').waitFor()
    await conversation.button('Open User Settings').click()
    const line = workbench.page.locator('.view-line')
    await line.filter({ hasText: '"parley.permissionRules"' }).first().waitFor()
    // the editor gets the focus a moment after it's visible
    await waitFor('end of the settings', async () => {
      await workbench.page.keyboard.press('Escape')
      return (await line.count()) === 0
    })
  })

  /** Sends a request while another view is visible; returns its notification and the status bar's text. */
  async function askWhileHidden() {
    const conversation = await ConversationPage.startSession(workbench, 'Demo Agent')
    await conversation.send('/slow 2')
    await conversation.send('/run date')
    await workbench.openViewContainer('Search (Ctrl+Shift+F)')
    const call = workbench.notification(/Demo Agent asks:.*date/)
    await call.waitFor()
    const status = workbench.page
      .locator('.statusbar')
      .getByRole('button', { name: 'Demo Agent: needs your answer' })
    return { conversation, call, status }
  }

  it('can be answered in their notification while the conversation is hidden', async () => {
    const { conversation, call, status } = await askWhileHidden()
    await status.waitFor()
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

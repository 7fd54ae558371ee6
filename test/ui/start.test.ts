import assert from 'node:assert/strict'
import type { Locator } from 'playwright-core'
import type { Workbench } from '../host/workbench.ts'
import { chooseAction } from './support/agents-page.ts'
import { ConversationPage } from './support/conversation-page.ts'
import { VsCodeSuite } from './support/vscode-suite.ts'

describe('Parley in the workbench', () => {
  const vscode = new VsCodeSuite({ ownServer: true })

  it('opens its view, with a single title, from its icon in the activity bar, and makes no network requests', async () => {
    const workbench = await vscode.open()
    await workbench.openViewContainer('Parley')
    const conversation = await workbench.webview('body[data-view="conversation"]')
    await conversation.locator('#root > *').first().waitFor()
    // VS Code merges the title of a container's only view with the container's title
    await workbench.page.locator('.part.sidebar .composite.title', { hasText: /^Parley$/i }).waitFor()
    assert.equal(await workbench.page.locator('.part.sidebar .pane-header:visible').count(), 0)
    assert.deepEqual(workbench.blockedUrls, [])
  })
})

describe('links to settings in a remote window', () => {
  const vscode = new VsCodeSuite({
    settings: () => ({
      'parley.agents': { mine: { command: 7 }, missing: { name: 'Missing', command: '/nowhere/agent' } },
      'parley.agentRegistry': '',
      'parley.defaultAgent': 'other',
      'workbench.editor.useModal': 'off',
    }),
  })

  it('open the tab that contains the setting', async () => {
    const workbench = await vscode.open()
    const conversation = await ConversationPage.open(workbench)
    const tab = workbench.page.locator('.settings-editor .settings-tabs-widget .action-label.checked')
    for (const [card, name, where] of [
      ['Invalid Setting', 'Agents', /^Remote/],
      ["The default agent isn't available", 'Default Agent', /^User$/],
    ] as const) {
      await conversation.card(card).getByRole('button', { name: 'Open Settings' }).click()
      await setting(workbench, name).waitFor()
      await tab.filter({ hasText: where }).waitFor()
    }
    await workbench.runCommand('View: Close All Editors')
    await workbench.runCommand('Parley: Manage Agents')
    const page = await workbench.webview('body[data-view="agents"]')
    const agent = page.getByRole('region', { name: 'From Settings' }).getByRole('listitem')
    await chooseAction(page, agent.filter({ hasText: 'Missing' }), 'Configure')
    await setting(workbench, 'Agents').waitFor()
    await tab.filter({ hasText: /^Remote/ }).waitFor()
  })
})

function setting({ page }: Workbench, name: string): Locator {
  return page.locator('.settings-editor .setting-item-contents', { hasText: `Parley: ${name}` }).first()
}

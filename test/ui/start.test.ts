import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Locator } from 'playwright-core'
import { SETTINGS } from '../../src/common/settings.ts'
import { projectDirectory } from '../host/paths.ts'
import { waitFor } from '../host/wait-for.ts'
import type { Workbench } from '../host/workbench.ts'
import { chooseAction } from './support/agents-page.ts'
import { ConversationPage } from './support/conversation-page.ts'
import { VsCodeSuite } from './support/vscode-suite.ts'

describe('Parley in the workbench', () => {
  const vscode = new VsCodeSuite({ ownServer: true })

  it('opens its view, with a single title, from its icon in the activity bar', async () => {
    const workbench = await vscode.sharedWindow()
    await workbench.openViewContainer('Parley')
    const conversation = await workbench.webview('body[data-view="conversation"]')
    await conversation.locator('#root > *').first().waitFor()
    // VS Code merges the title of a container's only view with the container's title
    await workbench.page.locator('.part.sidebar .composite.title', { hasText: /^Parley$/i }).waitFor()
    assert.equal(await workbench.page.locator('.part.sidebar .pane-header:visible').count(), 0)
  })

  it('lists its commands in the command palette', async () => {
    const workbench = await vscode.sharedWindow()
    const read = (file: string) => JSON.parse(readFileSync(join(projectDirectory, file), 'utf8'))
    const texts: Record<string, string> = read('package.nls.json')
    const { commands, menus } = read('package.json').contributes as {
      commands: Array<{ command: string; title: string; category: string }>
      menus: { commandPalette: Array<{ command: string }> }
    }
    const conditional = new Set(menus.commandPalette.map(({ command }) => command))
    const expected = commands
      .filter(({ command }) => !conditional.has(command))
      .map(({ category, title }) => `${category}: ${texts[title.slice(1, -1)]}`)
    assert.ok(expected.length > 0)
    // one by one, since the page contains only the visible rows of the command palette
    for (const title of expected) {
      // on a busy machine the command palette can open before VS Code has read the manifest
      await waitFor(`${title} in the palette`, async () =>
        (await workbench.commandTitles(title)).includes(title),
      )
    }
  })

  it('makes no network requests', async () => {
    const workbench = await vscode.sharedWindow()
    await workbench.openViewContainer('Parley')
    const conversation = await workbench.webview('body[data-view="conversation"]')
    await conversation.locator('#root > *').first().waitFor()
    assert.deepEqual(workbench.blockedUrls, [])
  })

  it('opens its settings', async () => {
    const workbench = await vscode.sharedWindow()
    await workbench.runCommand('Parley: Open Settings')
    // in a remote window, only the remote tab has machine settings
    await workbench.page.locator('.settings-editor').getByText(`${remoteSettings} Settings Found`).waitFor()
    for (const name of ['Agents', 'Default Agent', 'Mcp Servers']) await setting(workbench, name).waitFor()
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

/** The number of settings in the remote tab, which excludes application settings. */
const remoteSettings = Object.values(SETTINGS).filter(({ scope }) => scope !== 'application').length

function setting({ page }: Workbench, name: string): Locator {
  return page.locator('.settings-editor .setting-item-contents', { hasText: `Parley: ${name}` }).first()
}

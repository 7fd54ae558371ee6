import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Locator } from 'playwright-core'
import { SETTINGS } from '../../src/common/settings.ts'
import { projectDirectory } from '../host/paths.ts'
import { waitFor } from '../host/wait-for.ts'
import type { Workbench } from '../host/workbench.ts'
import { ConversationPage } from './support/conversation-page.ts'
import { VsCodeSuite } from './support/vscode-suite.ts'

describe('Parley in the workbench', () => {
  const vscode = new VsCodeSuite()

  it('shows its view, with one title, when its icon in the activity bar is clicked', async () => {
    const workbench = await vscode.sharedWindow()
    await workbench.openViewContainer('Parley')
    const conversation = await workbench.webview('body[data-view="conversation"]')
    await conversation.locator('#root > *').first().waitFor()
    // VS Code shows the title of a container's only view as that of the container
    await workbench.page.locator('.part.sidebar .composite.title', { hasText: /^Parley$/i }).waitFor()
    assert.equal(await workbench.page.locator('.part.sidebar .pane-header:visible').count(), 0)
  })

  it('lists its commands in the palette', async () => {
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
    // one by one: only the visible rows of the command palette are in the page
    for (const title of expected) {
      // under load the command palette can open before VS Code has read the manifest
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
    // the window is a remote one: machine settings are only in the remote tab
    await workbench.page.locator('.settings-editor').getByText(`${remoteSettings} Settings Found`).waitFor()
    for (const name of ['Agents', 'Default Agent', 'Mcp Servers']) await setting(workbench, name).waitFor()
  })
})

describe('links to settings in a remote window', () => {
  const vscode = new VsCodeSuite({
    settings: () => ({
      'parley.agents': { mine: { command: 7 } },
      'parley.defaultAgent': 'other',
      'workbench.editor.useModal': 'off',
    }),
  })

  it('open the tab that has the setting', async () => {
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
  })
})

/** The number of settings in the remote tab: application settings are shared by all machines. */
const remoteSettings = Object.values(SETTINGS).filter(({ scope }) => scope !== 'application').length

function setting({ page }: Workbench, name: string): Locator {
  return page.locator('.settings-editor .setting-item-contents', { hasText: `Parley: ${name}` }).first()
}

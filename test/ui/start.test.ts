import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectDirectory } from '../host/paths.ts'
import { waitFor } from '../host/wait-for.ts'
import { VsCodeSuite } from './support/vscode-suite.ts'

describe('Parley in the workbench', () => {
  const vscode = new VsCodeSuite()

  it('shows its view, with one title, when its icon in the activity bar is clicked', async () => {
    const workbench = await vscode.window()
    await workbench.openViewContainer('Parley')
    const conversation = await workbench.webview('body[data-view="conversation"]')
    await conversation.locator('#root > *').first().waitFor()
    // VS Code draws the title of a view that is alone in its container as the container's
    await workbench.page.locator('.part.sidebar .composite.title', { hasText: /^Parley$/i }).waitFor()
    assert.equal(await workbench.page.locator('.part.sidebar .pane-header:visible').count(), 0)
  })

  it('lists its commands in the palette', async () => {
    const workbench = await vscode.window()
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
    // one by one: the palette has only the lines in the page that are in sight
    for (const title of expected) {
      // under load the palette may open before VS Code has read the manifest
      await waitFor(`${title} in the palette`, async () =>
        (await workbench.commandTitles(title)).includes(title),
      )
    }
  })

  it('asks the network for nothing', async () => {
    const workbench = await vscode.window()
    await workbench.openViewContainer('Parley')
    const conversation = await workbench.webview('body[data-view="conversation"]')
    await conversation.locator('#root > *').first().waitFor()
    assert.deepEqual(workbench.refused, [])
  })

  it('opens its settings', async () => {
    const workbench = await vscode.window()
    await workbench.runCommand('Parley: Open Settings')
    // the window is a remote one: what belongs to the machine is in the remote tab alone
    const setting = (name: string) =>
      workbench.page.locator('.settings-editor .setting-item-contents', { hasText: `Parley: ${name}` })
    for (const name of ['Agents', 'Default Agent', 'Mcp Servers']) await setting(name).first().waitFor()
  })
})

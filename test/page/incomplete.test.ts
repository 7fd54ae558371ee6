import assert from 'node:assert/strict'
import { copyFileSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { projectDirectory } from '../host/paths.ts'
import { waitFor } from '../host/wait-for.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import type { PageWindow } from '../support/page/page-window.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'
import { fixtureAgent } from '../ui/support/fixture-agent.ts'
import { HistoryPage } from '../ui/support/history-page.ts'
import { storedDrafts } from '../ui/support/stored.ts'

describe('an installation that lacks files, as after an update that the window has not loaded yet', () => {
  const vscode = new PageSuite()

  /** The built extension without what it loads after its first file. */
  function incomplete(): { folder: string; complete: () => void } {
    const folder = join(vscode.root.directory, 'incomplete')
    const inDist = (name: string) =>
      [join(projectDirectory, 'dist', name), join(folder, 'dist', name)] as const
    mkdirSync(join(folder, 'dist'), { recursive: true })
    for (const name of ['package.json', 'package.nls.json', 'l10n', 'media'])
      symlinkSync(join(projectDirectory, name), join(folder, name))
    for (const name of readdirSync(join(projectDirectory, 'dist')))
      if (name !== 'extension.cjs' && name !== 'services.js') symlinkSync(...inDist(name))
    copyFileSync(...inDist('extension.cjs'))
    return { folder, complete: () => symlinkSync(...inDist('services.js')) }
  }

  it('says what to do, and works as soon as the files are there, with everything that was kept', async () => {
    const before = await vscode.open()
    const conversation = await ConversationPage.startSession(before, 'Demo Agent')
    await conversation.runTurn('/help')
    await conversation.composer.fill('what I was about to say')
    await waitFor('draft on disk', () => storedDrafts(vscode.root).includes('what I was about to say'))
    await before.close()

    const { folder, complete } = incomplete()
    const workbench = await vscode.open({ extension: folder })
    await workbench.runCommand('Parley: Show Conversation')
    await workbench
      .notification(/Parley couldn't be loaded\. Reload the window, or reinstall Parley\. .*services\.js/)
      .waitFor()
    complete()
    const history = await HistoryPage.open(workbench)
    await history.row('/help').click()
    const after = await ConversationPage.find(workbench)
    await after.text(/\/compact/).waitFor()
    await after.composer.filter({ hasText: 'what I was about to say' }).waitFor()
  })
})

describe("files that VS Code can't deliver at first, as in a window that has lost its connection", () => {
  const rich = 'Look:\n\n```python\nx = None\n```\n\n$x^2$\n\n```mermaid\ngraph LR\n  A --> B\n```'
  const vscode = new PageSuite({
    settings: root => ({
      'parley.agents': { rich: fixtureAgent(root, 'Writer', { prompt: [{ say: rich }] }) },
    }),
  })

  /** The window's pages don't get these files until `deliver`. */
  async function withhold({ page }: PageWindow, files: string) {
    let count = 0
    await page.route(files, route => {
      count++
      return route.abort()
    })
    return { count: () => count, deliver: () => page.unroute(files) }
  }

  it('are loaded as soon as they can be, so that a page appears', async () => {
    const workbench = await vscode.sharedWindow()
    const script = await withhold(workbench, '**/agents.js')
    await workbench.runCommand('Parley: Manage Agents')
    const page = await workbench.webview('body[data-view="agents"]')
    await waitFor('two requests', () => script.count() > 1)
    await script.deliver()
    await page.getByRole('heading', { name: 'Manage Agents' }).waitFor()
  })

  it('are loaded when they are next needed to draw code, a formula or a diagram', async () => {
    const workbench = await vscode.sharedWindow()
    const conversation = await ConversationPage.startSession(workbench, 'Writer')
    const files = await withhold(workbench, '**/dist/webview/**')
    await conversation.runTurn('One')
    const { frame } = conversation
    await frame.getByText("Can't render this diagram").waitFor()
    await frame.locator('.math[data-state="failed"]').waitFor()
    assert.equal(await frame.locator('.hljs-literal').count(), 0)
    // code that is drawn again and again would try to load its grammar each time
    await waitFor('the end of the requests', async () => {
      const before = files.count()
      await frame.evaluate(
        'new Promise(resolve => requestIdleCallback(() => requestAnimationFrame(resolve)))',
      )
      return files.count() === before
    })
    await files.deliver()
    await conversation.runTurn('Two')
    for (const drawn of ['.hljs-literal', '.math[data-state="drawn"]', '.diagram[data-state="drawn"]'])
      await frame.locator(drawn).first().waitFor()
  })
})

import { copyFileSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { projectDirectory } from '../host/paths.ts'
import { waitFor } from '../host/wait-for.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'
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

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { waitFor } from '../host/wait-for.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import type { PageWindow } from '../support/page/page-window.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'
import { HistoryPage } from '../ui/support/history-page.ts'

describe('a session in a worktree', () => {
  const vscode = new PageSuite()
  let workbench: PageWindow
  let top = ''
  const worktree = () => path.join(path.dirname(top), 'planets-api.worktrees', 'try-another-way')

  // `status` must not lock the index, which Parley may be writing
  const options = ['--no-optional-locks', '-c', 'user.name=a', '-c', 'user.email=a@example.com']
  const git = (cwd: string, ...args: string[]) =>
    execFileSync('git', [...options, ...args], { cwd })
      .toString()
      .trimEnd()

  beforeEach(async () => {
    top = path.join(path.dirname(vscode.workspace), 'planets-api')
    if (!existsSync(path.join(top, '.git'))) {
      git(top, 'init', '-q', '-b', 'main')
      git(top, 'add', '.')
      git(top, 'commit', '-q', '-m', 'first')
      writeFileSync(path.join(top, '.git', 'info', 'exclude'), '.env\n')
      writeFileSync(path.join(top, '.worktreeinclude'), '.env\n')
      writeFileSync(path.join(top, '.env'), 'secret')
    }
    workbench = await vscode.sharedWindow()
  })

  /** Answers a dialog that has these texts. */
  async function confirm(button: string, ...texts: string[]): Promise<void> {
    const dialog = workbench.page.locator('.monaco-dialog-box')
    await dialog.waitFor()
    const shown = await dialog.innerText()
    for (const text of texts) assert.ok(shown.includes(text), shown)
    await dialog.getByRole('button', { name: button, exact: true }).click()
    await dialog.waitFor({ state: 'detached' })
  }

  async function menu(action: string): Promise<void> {
    await workbench.runCommand('Parley: Worktree…')
    await workbench.pick(action)
  }

  it('works in files of its own, which are applied, discarded and restored', async () => {
    const conversation = await ConversationPage.startSession(workbench, 'Demo Agent')
    await conversation.composer.click()
    await workbench.page.keyboard.type('Try another way!')
    await workbench.runCommand('Parley: New Session in Worktree…')
    await workbench.pick('Current commit')
    await waitFor('the name', async () => (await workbench.paletteInput.inputValue()) === 'try-another-way')
    await workbench.paletteInput.press('Enter')
    await conversation.button('Worktree try-another-way (parley/try-another-way)…').waitFor()
    assert.equal(readFileSync(path.join(worktree(), '.env'), 'utf8'), 'secret')
    await conversation.send('/where')
    await conversation.text(/the working directory/).waitFor()
    await conversation.text(worktree()).first().waitFor()
    // the workspace's folders aren't the worktree's
    assert.equal(await conversation.text(path.join(path.dirname(top), 'notes')).count(), 0)
    await conversation.button(/^Stop/).waitFor({ state: 'detached' })

    await conversation.send('/edit planets.js')
    await conversation.permission.waitFor()
    await conversation.permission
      .getByRole('button', { name: /^Allow/ })
      .first()
      .click()
    await conversation.button(/^Stop/).waitFor({ state: 'detached' })
    await conversation.frame.locator('.changes', { hasText: '1 file' }).waitFor()
    assert.equal(git(worktree(), 'status', '--porcelain'), ' M planets.js')
    assert.equal(git(top, 'status', '--porcelain'), '?? .worktreeinclude')

    const details = await conversation.openDetails()
    await details.getByText('parley/try-another-way').waitFor()
    await workbench.page.keyboard.press('Escape')
    const history = await HistoryPage.open(workbench)
    await history.row('/where').filter({ hasText: 'Demo Agent · try-another-way' }).waitFor()
    await history.back()

    await menu('Apply to Workspace')
    await workbench.notification('Applied the changes to 1 file.').waitFor()
    assert.equal(git(top, 'status', '--porcelain'), ' M planets.js\n?? .worktreeinclude')

    await menu('Discard…')
    await confirm('Discard Worktree', '1 changed file', 'planets.js', 'A copy is kept for 30 days.')
    const discarded = workbench.notification('Discarded the worktree try-another-way.')
    await discarded.waitFor()
    assert.ok(!existsSync(worktree()))
    await discarded.getByRole('button', { name: 'Undo' }).click()
    await waitFor('the worktree', () => existsSync(path.join(worktree(), 'planets.js')))
    await waitFor('its changes', () => git(worktree(), 'status', '--porcelain') === ' M planets.js')
  })
})

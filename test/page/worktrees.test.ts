import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { succeeds, waitFor } from '../host/wait-for.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import type { PageWindow } from '../support/page/page-window.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'
import { fixtureAgent } from '../ui/support/fixture-agent.ts'
import { HistoryPage } from '../ui/support/history-page.ts'

// `status` must not lock the index, which Parley may be writing
const options = ['--no-optional-locks', '-c', 'user.name=a', '-c', 'user.email=a@example.com']
const git = (cwd: string, ...args: string[]) =>
  execFileSync('git', [...options, ...args], { cwd })
    .toString()
    .trimEnd()

describe('a session in a worktree', () => {
  const vscode = new PageSuite()
  let workbench: PageWindow
  let top = ''
  const worktree = () => path.join(path.dirname(top), 'planets-api.worktrees', 'try-another-way')

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
    // its files are back before its Git folder, without which Git fails
    const changed = async () => git(worktree(), 'status', '--porcelain')
    await waitFor('its changes', () =>
      changed()
        .then(files => files === ' M planets.js')
        .catch(() => false),
    )
  })
})

describe('the worktrees of several sessions', () => {
  const vscode = new PageSuite({
    settings: root => ({ 'parley.agents': { fixture: fixtureAgent(root, 'Fixture') } }),
    env: { PARLEY_PATIENCE_MS: '3000' },
  })
  let top = ''

  beforeEach(() => {
    top = path.join(path.dirname(vscode.workspace), 'planets-api')
    if (existsSync(path.join(top, '.git'))) return
    git(top, 'init', '-q', '-b', 'main')
    git(top, 'add', '.')
    git(top, 'commit', '-q', '-m', 'first')
  })

  /** Starts a session in a new worktree, in the window's side bar. */
  async function startIn(name: string, window: PageWindow): Promise<ConversationPage> {
    const conversation = await ConversationPage.startSession(window, 'Fixture')
    await window.runCommand('Parley: New Session in Worktree…')
    await window.pick('Current commit')
    // until then, it's the input of the list before
    await window.palette.getByText('Worktree name.').waitFor()
    await window.paletteInput.fill(name)
    await window.paletteInput.press('Enter')
    await conversation.button(`Worktree ${name} (parley/${name})…`).waitFor()
    await conversation.waitForPhase('ready')
    return conversation
  }
  const folderOf = (name: string) => path.join(path.dirname(top), 'planets-api.worktrees', name)

  it('is not discarded in another window while a command runs in it', async () => {
    const first = await vscode.open()
    const there = await startIn('busy', first)
    await first.page.locator('.statusbar').getByText('Fixture · busy').waitFor()
    await there.send('[[leave sleep 600]] [[say Started.]]')
    await there.text('Started.').waitFor()
    await there.button(/^Stop/).waitFor({ state: 'detached' })
    writeFileSync(path.join(folderOf('busy'), 'new.txt'), 'new')

    const second = await vscode.open()
    await ConversationPage.startSession(second, 'Fixture')
    const discard = async () => {
      await second.runCommand('Parley: Worktree…')
      await second.pick('busy')
      await second.pick('Discard…')
    }
    await waitFor('the refusal', async () => {
      await discard()
      const refusal = second.notification('commands in another window are running in the worktree')
      return succeeds(refusal.waitFor({ timeout: 5000 }))
    })
    assert.ok(existsSync(folderOf('busy')))
    await first.close()
  })

  it('is removed by itself when nothing is in it and its session is deleted', async () => {
    const window = await vscode.open()
    const conversation = await startIn('empty', window)
    await conversation.runTurn('[[title Nothing done]]')
    await conversation.frame.getByRole('heading', { name: 'Nothing done', exact: true }).waitFor()
    // as if it was made two hours ago
    const record = path.join(git(folderOf('empty'), 'rev-parse', '--absolute-git-dir'), 'parley.json')
    utimesSync(record, new Date(), new Date(Date.now() - 7_200_000))
    await window.runCommand('Parley: New Session')
    await conversation.frame.getByRole('heading', { name: 'New session' }).waitFor()
    assert.ok(existsSync(folderOf('empty')))
    const history = await HistoryPage.open(window)
    await history.clickAction('Nothing done', 'Delete')
    await waitFor('the end of the worktree', () => !existsSync(folderOf('empty')), { timeout: 60_000 })
    await waitFor('the end of its branch', () => git(top, 'branch', '--list', 'parley/empty') === '')
  })
})

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { waitFor } from '../host/wait-for.ts'
import type { Workbench } from '../host/workbench.ts'
import { ConversationPage } from './support/conversation-page.ts'
import { fixtureAgent } from './support/fixture-agent.ts'
import { VsCodeSuite } from './support/vscode-suite.ts'

describe('the worktree of a session', () => {
  const vscode = new VsCodeSuite({
    settings: root => ({
      'parley.agents': { fixture: fixtureAgent(root, 'Fixture') },
      // its questions about repositories would cover the page
      'git.openRepositoryInParentFolders': 'never',
    }),
  })
  let workbench: Workbench
  let conversation: ConversationPage
  let top = ''
  const worktree = () => path.join(path.dirname(top), 'planets-api.worktrees', 'name-the-planets')

  const options = ['--no-optional-locks', '-c', 'user.name=a', '-c', 'user.email=a@example.com']
  const git = (cwd: string, ...args: string[]) =>
    execFileSync('git', [...options, ...args], { cwd })
      .toString()
      .trimEnd()
  /** The menu that the button at the top of the conversation opens. */
  const menu = async (action: string) => {
    await conversation.button(/^Worktree name-the-planets/).click()
    await workbench.pick(action)
  }
  /** Waits for the input with this text, since the list or input before it can still be open. */
  const asked = (text: string) =>
    waitFor(`“${text}” in the input`, async () => (await workbench.paletteInput.inputValue()) === text)

  it('is reviewed, merged, moved to another branch and opened in a window from the menu of the conversation', async () => {
    top = path.join(path.dirname(vscode.workspace), 'planets-api')
    git(top, 'init', '-q', '-b', 'main')
    git(top, 'config', 'user.name', 'a')
    git(top, 'config', 'user.email', 'a@example.com')
    git(top, 'add', '.')
    git(top, 'commit', '-q', '-m', 'first')
    workbench = await vscode.open()
    conversation = await ConversationPage.startSession(workbench, 'Fixture')
    await conversation.composer.fill('Name the planets')
    await workbench.runCommand('Parley: New Session in Worktree…')
    await workbench.pick('Current commit')
    await asked('name-the-planets')
    await workbench.paletteInput.press('Enter')
    await conversation.button('Worktree name-the-planets (parley/name-the-planets)…').waitFor()
    await conversation.waitForPhase('ready')
    const status = workbench.page.locator('.part.statusbar')
    await status.getByText('Fixture · name-the-planets').waitFor()
    await status
      .getByRole('button', { name: 'Fixture: Ready, Worktree name-the-planets (parley/name-the-planets)' })
      .waitFor()

    await conversation.runTurn('[[edit planets.js Mercury Hermes]] [[title Hermes]]')
    assert.equal(git(worktree(), 'status', '--porcelain'), ' M planets.js')
    await menu('Review Changes')
    await workbench.page.locator('.multiDiffEntry', { hasText: 'planets.js' }).waitFor()
    // uncommitted changes are committed first, with a message that can be changed
    await menu('Merge into main…')
    await asked('Hermes')
    await workbench.paletteInput.fill('Name Mercury')
    await workbench.paletteInput.press('Enter')
    await workbench.notification('Merged parley/name-the-planets into main.').waitFor()
    assert.equal(git(top, 'log', '-1', '--format=%s'), 'Name Mercury')
    assert.match(readFileSync(path.join(top, 'planets.js'), 'utf8'), /Hermes/)

    await conversation.runTurn('[[edit planets.js Mars Ares]]')
    await menu('Create Branch…')
    await asked('name-the-planets')
    await workbench.paletteInput.fill('greek')
    await workbench.paletteInput.press('Enter')
    await asked('Hermes')
    await workbench.paletteInput.press('Enter')
    await workbench.notification('The worktree name-the-planets is on the branch greek now.').waitFor()
    assert.equal(git(worktree(), 'branch', '--show-current'), 'greek')
    assert.equal(git(worktree(), 'status', '--porcelain'), '')
    assert.equal(git(top, 'branch', '--list', 'parley/*'), '')
    await conversation.button('Worktree name-the-planets (greek)…').waitFor()
    await status.getByRole('button', { name: 'Fixture: Ready, Worktree name-the-planets (greek)' }).waitFor()

    const opened = workbench.page.context().waitForEvent('page')
    await menu('Open in New Window')
    const window = await opened
    await waitFor('the folder', () => new URL(window.url()).searchParams.get('folder') === worktree())
    await window.locator('.explorer-folders-view').getByText('planets.js').waitFor()
    await window.close()
    assert.ok(existsSync(worktree()))
  })
})

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as vscode from 'vscode'
import { createWorktree } from '../../src/editor/worktrees/create-worktree.ts'
import { openRepository } from '../../src/editor/worktrees/repository.ts'
import { applyWorktree } from '../../src/editor/worktrees/use-worktree.ts'
import { runInTerminal } from '../../src/workbench/run-in-terminal.ts'
import { waitFor } from '../host/wait-for.ts'

describe('a worktree', () => {
  let directory = ''
  let top = ''
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], {
      cwd: top,
    }).toString()

  beforeEach(() => {
    directory = realpathSync(mkdtempSync(join(tmpdir(), 'parley-worktrees-')))
    top = join(directory, 'project')
    execFileSync('git', ['init', '-q', top])
    writeFileSync(join(top, 'a.txt'), 'one\n')
    git('add', '.')
    git('commit', '-q', '-m', 'first')
  })
  afterEach(async () => {
    await vscode.commands.executeCommand('workbench.action.closeAllEditors')
    rmSync(directory, { recursive: true, force: true })
  })

  it('is prepared in a terminal that stays, with the exit code of the command @floor', async () => {
    assert.equal(await runInTerminal('echo prepared > made.txt', top, 'Set up one'), 0)
    assert.equal(readFileSync(join(top, 'made.txt'), 'utf8').trim(), 'prepared')
    assert.equal(await runInTerminal('exit 3', top, 'Set up two'), 3)
    const terminal = await waitFor('the terminal', () =>
      vscode.window.terminals.find(({ name }) => name.includes('Set up two')),
    )
    for (const one of vscode.window.terminals) if (/Set up (one|two)/.test(one.name)) one.dispose()
    assert.ok(terminal)
  })

  it('is prepared until its own command ends, not a command of the same name', async function () {
    if (process.platform === 'win32') this.skip()
    const run = (folder: string, code: number) => {
      mkdirSync(join(top, folder))
      const command = `until [ -f end ]; do sleep 0.1; done; exit ${code}`
      return runInTerminal(command, join(top, folder), 'Set up three')
    }
    const end = (folder: string) => writeFileSync(join(top, folder, 'end'), '')
    const running = () =>
      vscode.tasks.taskExecutions.filter(({ task }) => task.name === 'Set up three').length
    const first = run('first', 3)
    await waitFor('the first', () => running() === 1)
    let ended: number | undefined
    const second = run('second', 4).then(code => {
      ended = code
      return code
    })
    await waitFor('both', () => running() === 2)
    end('first')
    assert.equal(await first, 3)
    assert.equal(ended, undefined)
    end('second')
    assert.equal(await second, 4)
    for (const one of vscode.window.terminals) if (one.name.includes('Set up three')) one.dispose()
  })

  it('leaves conflicts that the merge editor opens', async () => {
    const { worktree } = await createWorktree(await openRepository(top), { name: 'task', folder: '' })
    writeFileSync(join(worktree.path, 'a.txt'), 'theirs\n')
    writeFileSync(join(top, 'a.txt'), 'mine\n')
    const extension = vscode.extensions.getExtension('vscode.git')!
    const api = (await extension.activate()).getAPI(1)
    // in older versions, one outside of the workspace isn't opened otherwise
    const git = vscode.workspace.getConfiguration('git')
    await git.update('openRepositoryInParentFolders', 'always', vscode.ConfigurationTarget.Global)
    const repository = await api.openRepository(vscode.Uri.file(top))
    await git.update('openRepositoryInParentFolders', undefined, vscode.ConfigurationTarget.Global)
    const applied = await applyWorktree(worktree, top, async () => true)
    assert.deepEqual(applied?.conflicts, ['a.txt'])
    await repository.status()
    assert.equal(repository.state.mergeChanges.length, 1)
    await vscode.commands.executeCommand('git.openMergeEditor', vscode.Uri.file(join(top, 'a.txt')))
    const isMerge = () =>
      vscode.window.tabGroups.all.some(({ tabs }) =>
        tabs.some(
          ({ input }) =>
            input?.constructor.name === 'TextMergeTabInput' || (input as { result?: unknown })?.result,
        ),
      )
    await waitFor('the merge editor', isMerge).catch(error => {
      const shown = vscode.window.tabGroups.all.flatMap(({ tabs }) =>
        tabs.map(({ label, input }) => `${label}: ${input?.constructor.name} ${Object.keys(input ?? {})}`),
      )
      throw new Error(`${error.message} ${shown.join('; ')}`)
    })
  })
})

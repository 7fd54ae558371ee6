import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { watchUnusedWorktrees } from '../../../src/app/worktrees/watch-unused-worktrees.ts'
import { Emitter } from '../../../src/common/event.ts'
import { silentLogger } from '../../../src/common/logger.ts'
import { createWorktree } from '../../../src/editor/worktrees/create-worktree.ts'
import { openRepository } from '../../../src/editor/worktrees/repository.ts'
import { until } from '../../support/until.ts'

describe('worktrees that nothing uses', () => {
  let directory = ''

  beforeEach(() => {
    directory = realpathSync(mkdtempSync(path.join(tmpdir(), 'parley-unused-')))
  })
  afterEach(() => rmSync(directory, { recursive: true, force: true }))

  it('are removed after a session was closed; not those with unsaved files, of other windows, of starts, of sessions', async () => {
    const top = path.join(directory, 'project')
    mkdirSync(top)
    const git = (cwd: string, ...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], { cwd })
        .toString()
        .trimEnd()
    git(top, 'init', '-q')
    git(top, 'commit', '-q', '--allow-empty', '-m', 'first')
    const made: string[] = []
    for (const name of ['unsaved', 'window', 'starting', 'session', 'unused']) {
      const { worktree } = await createWorktree(await openRepository(top), { name, folder: '' })
      const record = path.join(git(worktree.path, 'rev-parse', '--absolute-git-dir'), 'parley.json')
      utimesSync(record, new Date(), new Date(Date.now() - 2 * 3_600_000))
      made.push(worktree.path)
    }
    const [unsaved, window, starting, session, unused] = made as [string, string, string, string, string]
    const change = new Emitter<void>()
    const cleaning = watchUnusedWorktrees({
      workbench: {
        isTrusted: true,
        folders: [{ path: top }],
        dialogs: { showStatus: () => {} },
      },
      worktrees: { hasRepository: true, gitFolders: () => [], paths: () => made, refresh: async () => {} },
      openSessions: { list: () => [], onDidChange: new Emitter<void>().event },
      deleter: { onDidDelete: change.event },
      records: { agentIds: () => [] },
      history: { directories: () => [session] },
      surfaces: { list: () => [] },
      comparisons: { starting: () => [starting] },
      windows: { refresh: () => true, others: () => [], busy: () => [], used: () => [window] },
      documents: { unsaved: () => [path.join(unsaved, 'new.txt')] },
      hosts: { list: async () => [] },
      log: silentLogger,
    } as unknown as Parameters<typeof watchUnusedWorktrees>[0])
    change.fire()
    // it's the last one
    await until(() => !existsSync(unused))
    cleaning.dispose()
    assert.deepEqual(
      made.filter(one => existsSync(one)),
      [unsaved, window, starting, session],
    )
  })
})

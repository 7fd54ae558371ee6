import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { AgentCapabilities } from '../../../src/acp/model.ts'
import { type HistoryViewOptions, surroundings } from '../../../src/app/history/history-view.ts'
import { WorkspaceSessionPlanner } from '../../../src/app/session-planner.ts'
import { WindowWorktrees } from '../../../src/app/window-worktrees.ts'
import type { Workbench } from '../../../src/app/workbench.ts'
import { Emitter } from '../../../src/common/event.ts'
import type { McpServers } from '../../../src/mcp/mcp-servers.ts'
import { until } from '../../support/until.ts'

describe('a window with a repository', () => {
  let directory = ''
  let top = ''
  let worktree = ''
  let folders: Array<{ name: string; scheme: string; path: string }>
  let workbench: Workbench

  const git = (cwd: string, ...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], {
      cwd,
      stdio: 'ignore',
    })

  beforeEach(() => {
    directory = realpathSync(mkdtempSync(path.join(tmpdir(), 'parley-window-')))
    top = path.join(directory, 'project')
    worktree = path.join(directory, 'project.worktrees', 'task')
    for (const folder of ['project/sub', 'other', 'storage']) {
      mkdirSync(path.join(directory, folder), { recursive: true })
    }
    git(top, 'init', '-q')
    git(top, 'commit', '-q', '--allow-empty', '-m', 'first')
    git(top, 'worktree', 'add', '-q', '-b', 'parley/task', worktree)
    folders = ['project', 'other'].map(name => ({ name, scheme: 'file', path: path.join(directory, name) }))
    workbench = {
      get folders() {
        return folders
      },
      get roots() {
        return folders
      },
      settingValues: {},
      activeFile: async () => undefined,
    } as unknown as Workbench
  })
  afterEach(() => rmSync(directory, { recursive: true, force: true }))

  it('knows its worktrees and their branches, and where removed ones were', async () => {
    const changes = new Emitter<void>()
    const worktrees = new WindowWorktrees({ workbench, changes: [changes.event] })
    await worktrees.refresh()
    assert.deepEqual(worktrees.of(path.join(worktree, 'sub')), { name: 'task', branch: 'parley/task' })
    assert.equal(worktrees.of(path.join(top, 'sub')), undefined)
    assert.equal(worktrees.of(path.join(directory, 'elsewhere')), undefined)
    let changed = 0
    worktrees.onDidChange(() => changed++)
    git(worktree, 'switch', '-q', '-c', 'renamed')
    changes.fire()
    await until(() => changed === 1)
    assert.deepEqual(worktrees.of(worktree), { name: 'task', branch: 'renamed' })
    git(top, 'worktree', 'remove', worktree)
    await worktrees.refresh()
    assert.deepEqual(worktrees.of(worktree), { name: 'task' })
    worktrees.dispose()
  })

  it('knows its worktrees although its folder is a link, and finds files in it through any link', async () => {
    const link = path.join(directory, 'link')
    const other = path.join(directory, 'other-link')
    for (const one of [link, other]) symlinkSync(top, one, 'junction')
    folders = [{ name: 'link', scheme: 'file', path: link }]
    const worktrees = new WindowWorktrees({ workbench, changes: [] })
    await worktrees.refresh()
    const isHere = (cwd: string) =>
      surroundings({
        ...{ workbench, worktrees, windows: { others: () => [] }, search: {}, deletions: {} },
        ...{ storage: () => undefined, interrupted: {} },
      } as unknown as HistoryViewOptions).isHere(cwd)
    assert.ok(isHere(path.join(link, 'sub')))
    assert.ok(isHere(path.join(top, 'sub')))
    assert.ok(isHere(path.join(top, 'gone', 'sub')))
    assert.ok(isHere(worktree))
    assert.ok(!isHere(path.join(directory, 'elsewhere')))
    await until(() => isHere(path.join(other, 'sub')))
    assert.deepEqual(worktrees.of(path.join(directory, 'project.worktrees', 'gone')), { name: 'gone' })
    folders = [{ name: 'link', scheme: 'file', path: path.join(directory, 'link-to-task') }]
    symlinkSync(worktree, folders[0]!.path, 'junction')
    await worktrees.refresh()
    assert.equal(worktrees.of(worktree), undefined)
    worktrees.dispose()
  })

  it('finds the worktrees of many directories without asking again', async () => {
    let asked = 0
    const counting = {
      get settingValues() {
        asked++
        return {}
      },
      get folders() {
        asked++
        return folders
      },
    } as unknown as Workbench
    const worktrees = new WindowWorktrees({ workbench: counting, changes: [] })
    await worktrees.refresh()
    asked = 0
    const lookup = worktrees.lookup()
    for (let count = 0; count < 100; count++) {
      assert.deepEqual(lookup(worktree), { name: 'task', branch: 'parley/task' })
      assert.equal(lookup(path.join(directory, 'elsewhere')), undefined)
    }
    assert.equal(lookup(worktree), lookup(worktree))
    assert.equal(asked, 2)
    worktrees.dispose()
  })

  it('gives sessions in a worktree no other folder', async () => {
    const planner = new WorkspaceSessionPlanner(
      workbench,
      { select: async () => ({ passed: [], notes: [] }) } as unknown as McpServers,
      path.join(directory, 'storage'),
      async () => undefined,
      { offer: async () => ({}), ended: () => undefined, resume: () => assert.fail() },
    )
    const can = { mcp: {}, additionalDirectories: true } as AgentCapabilities
    const session = { agentId: 'a', sessionId: 's', cwd: worktree, additionalDirectories: [] }
    for (const plan of [
      await planner.forNew('a', can, worktree),
      await planner.forExisting(session, can),
      await planner.forReattached(session, can),
    ]) {
      assert.equal(plan?.setup.cwd, worktree)
      assert.deepEqual(plan.setup.additionalDirectories, [])
      assert.deepEqual(plan.roots.unseen, [])
      assert.equal(plan.roots.cwdLabel, 'task')
      assert.equal(plan.roots.cwdRemark, undefined)
    }
    const inside = await planner.forNew('a', can, path.join(top, 'sub'))
    assert.equal(inside?.setup.additionalDirectories.length, 2)
    // the worktree is the workspace
    folders = [{ name: 'task', scheme: 'file', path: worktree }, folders[1]!]
    const opened = await planner.forNew('a', can, worktree)
    assert.deepEqual(opened?.setup.additionalDirectories, [path.join(directory, 'other')])
  })
})

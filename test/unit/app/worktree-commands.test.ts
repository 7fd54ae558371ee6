import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { newSessionInWorktree } from '../../../src/app/worktrees/new-session-in-worktree.ts'
import type { WorktreeCommandOptions } from '../../../src/app/worktrees/worktree-command-options.ts'
import { showWorktree } from '../../../src/app/worktrees/worktree-menu.ts'
import { createWorktree } from '../../../src/editor/worktrees/create-worktree.ts'
import { openRepository, type Worktree } from '../../../src/editor/worktrees/repository.ts'
import { until } from '../../support/until.ts'

interface Item {
  label: string
  detail?: string
}

describe('the commands for worktrees', () => {
  let directory = ''
  let top = ''
  let worktree: Worktree
  /** What the user does in dialogs, and what they showed. */
  let choose: (items: readonly Item[]) => Item | undefined
  let confirm: () => Promise<string | undefined> | string | undefined
  let press: string | undefined
  let setup = ''
  let activity = 'idle'
  let background = 0
  const shown: string[] = []
  let started: string[]
  let surfaces: { active: object; all: object[] }
  let options: WorktreeCommandOptions

  const git = (cwd: string, ...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], { cwd })
      .toString()
      .trimEnd()
  const place = (name: string) => ({
    reveal: async () => {},
    controller: {
      key: name,
      opener: { start: async (_: string, { cwd }: { cwd: string }) => void started.push(`${name}: ${cwd}`) },
    },
  })
  /** Runs an entry of the worktree's menu. */
  const run = (label: string) => {
    choose = items => items.find(item => [label, 'task'].includes(item.label))
    return showWorktree(options)
  }

  beforeEach(async () => {
    directory = realpathSync(mkdtempSync(path.join(tmpdir(), 'parley-commands-')))
    top = path.join(directory, 'project')
    mkdirSync(top)
    git(top, 'init', '-q')
    writeFileSync(path.join(top, '.gitignore'), 'ignored\n')
    git(top, 'add', '.')
    git(top, 'commit', '-q', '-m', 'first')
    worktree = (await createWorktree(await openRepository(top), { name: 'task', folder: '' })).worktree
    confirm = () => undefined
    press = undefined
    setup = ''
    activity = 'idle'
    background = 0
    shown.length = 0
    started = []
    const active = place('tab')
    surfaces = { active, all: [active] }
    const note = async (text: string) => {
      shown.push(text)
      return press
    }
    const dialogs = {
      pick: async (items: readonly Item[], { placeholder }: { placeholder: string }) => {
        shown.push(placeholder)
        return choose(items)
      },
      input: async ({ value }: { value: string }) => value,
      confirm: async (text: string, _: object, button: string) => {
        shown.push(text)
        return (await confirm()) === 'yes' ? button : undefined
      },
      progress: async ({ title }: { title: string }, work: () => Promise<unknown>) => {
        shown.push(title)
        return work()
      },
      ...{ info: note, warn: note, error: note, showStatus: note },
    }
    options = {
      workbench: {
        folders: () => [{ name: 'project', scheme: 'file', path: top }],
        settings: { read: (name: string) => (name === 'worktrees.setupCommand' ? setup : '') },
        dialogs,
        execute: async () => {},
        runInTerminal: async () => {
          surfaces = { active: place('other'), all: surfaces.all }
          return 0
        },
      },
      settings: { layers: () => [] },
      surfaces: {
        get active() {
          return surfaces.active
        },
        has: (one: object) => surfaces.all.includes(one),
      },
      agents: { ready: async () => {}, defaultAgentId: () => 'demo' },
      drafts: { get: () => ({ text: 'another' }) },
      manager: {
        list: () => [
          { plan: { setup: { cwd: worktree.path } }, session: { state: { activity, background } } },
        ],
      },
      windows: { others: () => [] },
      worktrees: { refresh: async () => {} },
    } as unknown as WorktreeCommandOptions
  })
  afterEach(() => rmSync(directory, { recursive: true, force: true }))

  it('start a session where the command was given, unless that was closed', async () => {
    setup = 'npm ci'
    choose = items => items[0]
    await newSessionInWorktree(options)
    const another = path.join(directory, 'project.worktrees', 'another')
    assert.deepEqual(started, [`tab: ${another}`])
    const closed = place('closed')
    surfaces = { active: closed, all: [] }
    await newSessionInWorktree(options)
    assert.deepEqual(started.slice(1), [`other: ${another}-2`])
  })

  it('start a session in a worktree that exists', async () => {
    await run('New Session Here')
    assert.deepEqual(started, [`tab: ${worktree.path}`])
  })

  it('remove no worktree in which a turn or background tasks run', async () => {
    background = 1
    await assert.rejects(run('Remove Worktree'), /Background tasks/)
    background = 0
    writeFileSync(path.join(worktree.path, 'ignored'), 'ignored')
    confirm = () => {
      activity = 'running'
      return 'yes'
    }
    await assert.rejects(run('Remove Worktree'), /A turn is running/)
    assert.ok(existsSync(path.join(worktree.path, 'ignored')))
    activity = 'idle'
    confirm = () => 'yes'
    await run('Remove Worktree')
    assert.ok(!existsSync(worktree.path))
  })

  it('restore a discarded worktree, or say why not', async () => {
    writeFileSync(path.join(worktree.path, 'new.txt'), 'new')
    confirm = () => 'yes'
    press = 'Undo'
    await run('Discard…')
    await until(() => shown.includes('Restored the worktree task with its changes.'))
    assert.ok(shown.includes('Restoring the worktree task…'))
    assert.equal(readFileSync(path.join(worktree.path, 'new.txt'), 'utf8'), 'new')
    shown.length = 0
    const { read } = options.workbench.settings
    confirm = () => {
      // not ignored
      options.workbench.settings.read = ((name: string) =>
        name === 'worktrees.folder' ? 'inside' : read(name as never)) as typeof read
      return 'yes'
    }
    await run('Discard…')
    await until(() => shown.some(text => /Git doesn't ignore it/.test(text)))
  })

  it('say that a merge is in progress and that there are repositories', async () => {
    const own = path.join(worktree.path, 'own')
    mkdirSync(own)
    git(own, 'init', '-q')
    git(own, 'commit', '-q', '--allow-empty', '-m', 'own')
    writeFileSync(path.join(top, '.git', 'info', 'exclude'), 'own\n')
    const folder = git(worktree.path, 'rev-parse', '--absolute-git-dir')
    writeFileSync(path.join(folder, 'MERGE_HEAD'), `${worktree.head}\n`)
    let detail: string | undefined
    choose = items => {
      detail = items.find(({ label }) => label === 'Discard…')?.detail
      return items.find(({ label }) => label === 'Discard…' || label === 'task')
    }
    await assert.rejects(showWorktree(options), /history of their own/)
    assert.ok(shown.includes('a merge or rebase in progress, repositories: own'))
    assert.match(detail ?? '', /Isn't possible/)
    assert.ok(!shown.some(text => text.startsWith('Discard the worktree')))
  })
})

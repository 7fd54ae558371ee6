import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { ConversationSurfaces } from '../../../src/app/conversation/conversation-surface.ts'
import { newSessionInWorktree } from '../../../src/app/worktrees/new-session-in-worktree.ts'
import type { WorktreeCommandOptions } from '../../../src/app/worktrees/worktree-command-options.ts'
import { applyToWorkspace, discardAll, showWorktree } from '../../../src/app/worktrees/worktree-menu.ts'
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
  let draft = ''
  let activity = 'idle'
  let isBusy = false
  let additionalDirectories: string[] = []
  let cwd = ''
  let others: Array<{ cwd: string; indicator: string }> = []
  let busyElsewhere: string[] = []
  let hosted: object[] = []
  let starting: string[] = []
  let opener: object = {}
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
    draft = 'another'
    activity = 'idle'
    isBusy = false
    cwd = worktree.path
    additionalDirectories = []
    others = []
    busyElsewhere = []
    hosted = []
    starting = []
    opener = {}
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
        folders: [{ name: 'project', scheme: 'file', path: top }],
        get settingValues() {
          return { 'worktrees.setupCommand': setup }
        },
        dialogs,
        execute: async () => {},
        runInTerminal: async () => {
          surfaces = { active: place('other'), all: surfaces.all }
          return 0
        },
      },
      settings: { layers: () => [] },
      clock: { ageOf: () => 0 },
      surfaces: {
        get active() {
          return surfaces.active
        },
        has: (one: object) => surfaces.all.includes(one),
        open: ConversationSurfaces.prototype.open,
        list: () => [{ controller: { opener } }],
      },
      agents: {
        ready: async () => {},
        defaultAgentId: () => 'demo',
        get: () => ({ agentId: 'demo', name: 'Demo Agent' }),
      },
      drafts: { get: () => ({ text: draft }) },
      openSessions: {
        list: () => [
          { plan: { setup: { cwd, additionalDirectories } }, session: { state: { activity } }, isBusy },
        ],
      },
      windows: { refresh: () => {}, others: () => others, busy: () => busyElsewhere },
      hosts: { list: async () => hosted },
      records: {
        get: (_: string, sessionId: string) => (sessionId === 'here' ? { cwd: worktree.path } : undefined),
      },
      worktrees: { refresh: async () => {} },
      comparisons: { starting: () => starting },
      comparisonOf: () => undefined,
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

  it('name the worktree after the agent if nothing is written', async () => {
    draft = ' '
    choose = items => items[0]
    await newSessionInWorktree(options)
    assert.deepEqual(started, [`tab: ${path.join(directory, 'project.worktrees', 'demo-agent')}`])
  })

  it('have applied changes with conflicts, although the message that says so is still shown', async () => {
    for (const [folder, text] of [
      [worktree.path, 'theirs'],
      [top, 'mine'],
    ] as const)
      writeFileSync(path.join(folder, '.gitignore'), text)
    confirm = () => 'yes'
    options.documents = { find: () => undefined, isUnsavedElsewhere: () => false } as never
    options.workbench.dialogs.warn = () => new Promise(() => {})
    await applyToWorkspace(options, worktree, top)
    assert.match(readFileSync(path.join(top, '.gitignore'), 'utf8'), /^<<<<<<< .*mine.*theirs/s)
  })

  it('propose the repository of the session first, also if it has no folder in the workspace', async () => {
    const second = path.join(directory, 'second')
    const third = path.join(directory, 'third')
    for (const folder of [second, third]) {
      mkdirSync(folder)
      git(folder, 'init', '-q')
      git(folder, 'commit', '-q', '--allow-empty', '-m', 'first')
    }
    const { worktree: inSecond } = await createWorktree(await openRepository(second), {
      ...{ name: 'own', folder: '' },
    })
    const folders = [top, second].map(folder => ({
      ...{ name: path.basename(folder), scheme: 'file', path: folder },
    }))
    Object.assign(options.workbench, { folders })
    const offered: string[][] = []
    choose = items => {
      offered.push(items.map(({ label }) => label))
      return undefined
    }
    for (const folder of [undefined, second, inSecond.path, third, directory]) {
      const current = folder !== undefined && { plan: { setup: { cwd: folder } } }
      surfaces.active = { controller: { key: 'one', opener: {}, ...(current && { current }) } }
      await newSessionInWorktree(options)
    }
    assert.deepEqual(offered, [
      ['project', 'second'],
      ['second', 'project'],
      ['second', 'project'],
      ['third', 'project', 'second'],
      ['project', 'second'],
    ])
  })

  it('start a session in a worktree that exists', async () => {
    await run('New Session Here')
    assert.deepEqual(started, [`tab: ${worktree.path}`])
  })

  it('remove no worktree in which a turn or background tasks run', async () => {
    isBusy = true
    await assert.rejects(run('Remove Worktree'), /Background tasks or commands of a session/)
    isBusy = false
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

  it('remove no worktree in which a turn runs whose directory is spelled with a link', async () => {
    const link = path.join(directory, 'linked')
    symlinkSync(directory, link)
    others = [{ cwd: path.join(link, 'project.worktrees', 'task'), indicator: 'running' }]
    await assert.rejects(run('Remove Worktree'), /A turn in another window/)
  })

  it('remove no worktree in which an agent is being started', async () => {
    starting = [worktree.path]
    await assert.rejects(run('Remove Worktree'), /A session is being started/)
    starting = [top]
    opener = { step: 'starting', expected: { cwd: path.join(worktree.path, 'sub') } }
    await assert.rejects(run('Remove Worktree'), /A session is being started/)
    // it failed
    opener = { expected: { cwd: worktree.path } }
    await run('Remove Worktree')
    assert.ok(!existsSync(worktree.path))
  })

  it('remove no worktree that is an additional directory of a running turn', async () => {
    cwd = top
    additionalDirectories = [worktree.path]
    activity = 'running'
    await assert.rejects(run('Remove Worktree'), /A turn is running/)
  })

  it('discard no worktree in which something of another window runs, or an agent in the background', async () => {
    writeFileSync(path.join(worktree.path, 'new.txt'), 'new')
    confirm = () => 'yes'
    others = [{ cwd: path.join(worktree.path, 'sub'), indicator: 'waiting' }]
    await assert.rejects(run('Discard…'), /A turn in another window/)
    others = [
      { cwd: worktree.path, indicator: 'done' },
      { cwd: top, indicator: 'running' },
    ]
    busyElsewhere = [worktree.path]
    await assert.rejects(run('Discard…'), /Background tasks or commands in another window/)
    busyElsewhere = [top]
    const left = {
      cwd: top,
      tag: { agentId: 'one' },
      sessions: ['here'],
      isAttached: false,
      hasExited: false,
    }
    hosted = [left]
    await assert.rejects(run('Discard…'), /An agent is running in the background/)
    hosted = [
      { ...left, hasExited: true },
      { ...left, sessions: ['elsewhere'] },
    ]
    // it comes while the question is open
    confirm = () => {
      busyElsewhere = [worktree.path]
      return 'yes'
    }
    await assert.rejects(run('Discard…'), /Background tasks or commands in another window/)
    busyElsewhere = []
    confirm = () => 'yes'
    assert.ok(existsSync(worktree.path))
    await run('Discard…')
    assert.ok(!existsSync(worktree.path))
  })

  it('discard several worktrees as they are then, and say which could not be', async () => {
    const make = async (name: string) =>
      (await createWorktree(await openRepository(top), { name, folder: '' })).worktree
    const [second, third] = [await make('second'), await make('third')]
    const created = path.join(third.path, 'new.txt')
    confirm = () => {
      writeFileSync(created, 'new')
      git(top, 'worktree', 'lock', second.path)
      return 'yes'
    }
    await assert.rejects(
      discardAll(options, [worktree, second, third]),
      /Discarded 2 of 3 worktrees\. These stay: second: .*lock/s,
    )
    assert.deepEqual(
      [worktree, second, third].map(one => existsSync(one.path)),
      [false, true, false],
    )
    const kept = git(top, 'for-each-ref', '--format=%(refname)', 'refs/parley/discarded')
    assert.match(kept, /^refs\/parley\/discarded\/third-\w+$/)
    assert.equal(git(top, 'show', `${kept}:new.txt`), 'new')
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
    const { dialogs } = options.workbench
    const { info } = dialogs
    dialogs.info = (text, ...buttons) => {
      const [key = ''] = readdirSync(path.join(top, '.git', 'parley-discarded'))
      rmSync(path.join(top, '.git', 'parley-discarded', key, 'parley.json'))
      return info(text, ...buttons)
    }
    await run('Discard…')
    await until(() => shown.includes('The worktree task no longer exists.'))
  })

  it('discard no ignored file that appears while the question is open', async () => {
    writeFileSync(path.join(top, '.git', 'info', 'exclude'), '*.log\n')
    writeFileSync(path.join(worktree.path, 'new.txt'), 'new')
    const late = path.join(worktree.path, 'late.log')
    confirm = () => {
      writeFileSync(late, 'late')
      return 'yes'
    }
    await assert.rejects(run('Discard…'), /late\.log/)
    assert.equal(readFileSync(late, 'utf8'), 'late')
    await run('Discard…')
    assert.equal(existsSync(late), false)
  })

  it('remove no ignored file that appears while the question about another is open', async () => {
    writeFileSync(path.join(worktree.path, 'ignored'), 'ignored')
    const other = (await createWorktree(await openRepository(top), { name: 'other', folder: '' })).worktree
    writeFileSync(path.join(top, '.git', 'info', 'exclude'), '*.log\n')
    const late = path.join(worktree.path, 'late.log')
    confirm = () => {
      writeFileSync(late, 'late')
      return 'yes'
    }
    await assert.rejects(run('Remove Worktree'), /late\.log/)
    assert.equal(readFileSync(late, 'utf8'), 'late')
    rmSync(late)
    await assert.rejects(discardAll(options, [worktree, other]), /Discarded 1 of 2.*task: .*late\.log/s)
    assert.equal(readFileSync(late, 'utf8'), 'late')
    assert.equal(existsSync(other.path), false)
    await run('Remove Worktree')
    assert.equal(existsSync(worktree.path), false)
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

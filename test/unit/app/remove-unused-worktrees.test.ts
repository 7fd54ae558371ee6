import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import {
  type RemoveUnusedOptions,
  removeUnusedWorktrees,
} from '../../../src/app/worktrees/remove-unused-worktrees.ts'
import { silentLogger } from '../../../src/common/logger.ts'
import { createWorktree } from '../../../src/editor/worktrees/create-worktree.ts'
import {
  findWorktree,
  openRepository,
  type Worktree,
  writeRecord,
} from '../../../src/editor/worktrees/repository.ts'
import { SessionElsewhereError } from '../../../src/sessions/session-leases.ts'

describe('worktrees in which nothing is', () => {
  let directory = ''
  let top = ''
  let worktree: Worktree
  let used: string[]
  let isOpenElsewhere: boolean
  let released: number
  let onAsk: () => void
  /** the directory of a session */
  let recorded: string

  const git = (cwd: string, ...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], { cwd })
      .toString()
      .trimEnd()
  const make = async (name: string) => {
    const made = await createWorktree(await openRepository(top), { name, folder: '' })
    age(made.worktree.path, 2)
    return made.worktree
  }
  /** As if it was made that many hours ago. */
  const age = (folder: string, hours: number) => {
    const record = path.join(git(folder, 'rev-parse', '--absolute-git-dir'), 'parley.json')
    utimesSync(record, new Date(), new Date(Date.now() - hours * 3_600_000))
  }
  /** The names of the worktrees that were removed. */
  const clean = async (...worktrees: Array<{ path: string }>) => {
    const removed: string[] = []
    const options: RemoveUnusedOptions = {
      paths: worktrees.map(one => one.path),
      used: async () => {
        onAsk()
        return used
      },
      records: {
        agentIds: () => ['one'],
        list: agentId => [
          {
            ...{ agentId, sessionId: 's', cwd: recorded, additionalDirectories: [] },
            ...{ createdAt: 1, updatedAt: 1 },
          },
        ],
      },
      held: {
        reserve: () => {
          if (isOpenElsewhere) throw new SessionElsewhereError()
          return { dispose: () => released++ }
        },
      },
      onRemove: at => removed.push(path.basename(at)),
      log: silentLogger,
    }
    await removeUnusedWorktrees(options)
    return removed
  }

  beforeEach(async () => {
    directory = realpathSync(mkdtempSync(path.join(tmpdir(), 'parley-clean-up-')))
    top = path.join(directory, 'project')
    mkdirSync(top)
    git(top, 'init', '-q')
    writeFileSync(path.join(top, '.gitignore'), '.env\n')
    writeFileSync(path.join(top, '.worktreeinclude'), '.env\n')
    writeFileSync(path.join(top, '.env'), 'secret')
    git(top, 'add', '.')
    git(top, 'commit', '-q', '-m', 'first')
    used = [top]
    isOpenElsewhere = false
    released = 0
    onAsk = () => {}
    worktree = await make('task')
    recorded = worktree.path
  })
  afterEach(() => rmSync(directory, { recursive: true, force: true }))

  it('are removed with their branches and the copies of ignored files', async () => {
    assert.equal(readFileSync(path.join(worktree.path, '.env'), 'utf8'), 'secret')
    const other = await make('other')
    writeFileSync(path.join(other.path, 'new.txt'), 'new')
    assert.deepEqual(await clean(worktree, other), ['task'])
    assert.ok(!existsSync(worktree.path))
    assert.ok(existsSync(other.path))
    assert.equal(git(top, 'branch', '--list', 'parley/*', '--format=%(refname:short)'), 'parley/other')
    assert.equal(released, 1)
  })

  it('stay while a session uses them, in any window', async () => {
    used = [path.join(worktree.path, 'sub')]
    assert.deepEqual(await clean(worktree), [])
    used = []
    isOpenElsewhere = true
    assert.deepEqual(await clean(worktree), [])
    isOpenElsewhere = false
    assert.deepEqual(await clean(worktree), ['task'])
  })

  it('stay while they are used by a path with a link in it', async () => {
    const link = path.join(directory, 'linked')
    symlinkSync(directory, link)
    for (const inside of ['', 'sub', path.join('gone', 'sub')]) {
      used = [path.join(link, 'project.worktrees', 'task', inside)]
      assert.deepEqual(await clean(worktree), [], inside)
    }
    // the other way around
    used = [worktree.path]
    const linked = path.join(link, 'project.worktrees', 'task')
    assert.deepEqual(await clean({ path: linked }), [])
    // the session of another window
    used = []
    isOpenElsewhere = true
    recorded = linked
    assert.deepEqual(await clean(worktree), [])
    isOpenElsewhere = false
    assert.deepEqual(await clean(worktree), ['task'])
  })

  it('stay if they are new, or were opened as a window, or Parley did not make them', async () => {
    age(worktree.path, 0)
    assert.deepEqual(await clean(worktree), [])
    await writeRecord(worktree.path, { ...worktree, isOpened: true })
    age(worktree.path, 2)
    assert.deepEqual(await clean(worktree), [])
    const own = path.join(directory, 'own')
    git(top, 'worktree', 'add', '-q', own)
    assert.deepEqual(await clean({ path: own }), [])
    assert.ok((await findWorktree(worktree.path))?.isOpened)
  })

  it('stay with anything in them: a change, a commit, an ignored file, a lock, work that used begins meanwhile', async () => {
    const { path: at } = worktree
    const stays = async (what: string) => {
      assert.deepEqual(await clean(worktree), [], what)
      assert.ok(existsSync(at))
    }
    writeFileSync(path.join(at, '.gitignore'), '.env\nmore\n')
    await stays('a change')
    git(at, 'commit', '-q', '-a', '-m', 'own')
    await stays('a commit')
    git(at, 'reset', '-q', '--hard', 'HEAD^')
    writeFileSync(path.join(at, '.env'), 'changed by the agent')
    await stays('an ignored file')
    rmSync(path.join(at, '.env'))
    let asked = 0
    onAsk = () => {
      if (++asked === 2) writeFileSync(path.join(at, '.env'), 'written meanwhile')
    }
    await stays('an ignored file that came after the check')
    onAsk = () => {}
    writeFileSync(path.join(at, '.env'), 'secret')
    rmSync(path.join(at, '.env'))
    git(top, 'worktree', 'lock', at)
    await stays('a lock')
    git(top, 'worktree', 'unlock', at)
    assert.deepEqual(await clean(worktree), ['task'])
  })
})

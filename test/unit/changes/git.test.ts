import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type { FileChange } from '../../../src/acp/model.ts'
import { ChangeTracker } from '../../../src/changes/change-tracker.ts'
import { committedContents } from '../../../src/changes/detect/repository-files.ts'
import { repositoryOf } from '../../../src/changes/detect/repository-moves.ts'
import { WorkTree } from '../../../src/changes/detect/work-tree.ts'
import { SessionChanges } from '../../../src/changes/session-changes.ts'
import { readable } from '../../../src/common/file-names.ts'
import { noDocuments } from '../../../src/editor/files/documents.ts'
import { disk } from '../../../src/editor/files/file-system.ts'
import { filesShared } from '../../../src/editor/files/files.ts'
import { ChangesOnDisk, hasSqlite } from '../../support/changes-on-disk.ts'
import { until } from '../../support/until.ts'

const describeStored = hasSqlite ? describe : describe.skip
describeStored('changes by agents in a repository', () => {
  let root: string
  let storage: string
  let store: ChangesOnDisk
  let tracker: ChangeTracker
  let changes: SessionChanges
  let watching: ((path: string) => void) | undefined
  const file = (name: string) => join(root, name)
  const put = (name: string, text: string) => writeFileSync(file(name), text)
  const text = (name: string) => readFileSync(file(name), 'utf8')
  const git = (...args: string[]) => {
    const identity = ['-c', 'user.name=t', '-c', 'user.email=t@t.example', '-c', 'core.autocrlf=false']
    execFileSync('git', [...identity, ...args], { cwd: root, stdio: 'pipe' })
  }
  const open = () => {
    store = new ChangesOnDisk(storage)
    const watch = (changed: (path: string) => void) => {
      watching = changed
      return { dispose: () => {} }
    }
    const files = filesShared({ documents: noDocuments, fileSystem: disk, watch })
    tracker = new ChangeTracker({ files, store, trash: path => disk.remove(path) })
    changes = new SessionChanges(tracker, 's', { cwd: root, additionalDirectories: [] })
  }
  const close = async () => {
    tracker.dispose()
    await store.flushed()
    store.dispose()
  }

  beforeEach(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), 'parley-git-')))
    storage = mkdtempSync(join(tmpdir(), 'parley-git-storage-'))
    git('init', '-q', '-b', 'main')
    for (const name of ['a.txt', 'gone.txt']) put(name, 'one\ntwo\nthree\nfour\nfive\n')
    git('add', '.')
    git('commit', '-q', '-m', 'first')
    open()
  })
  afterEach(async () => {
    await close()
    for (const folder of [root, storage]) rmSync(folder, { recursive: true, force: true })
  })

  const tool = async (change: FileChange, work: () => void) => {
    const toolCallId = `${change.path} ${change.newText}`
    const diffs = [{ changes: [change] }]
    await changes.tool({ toolCallId, begun: true, done: false }, diffs, [])
    work()
    await changes.tool({ toolCallId, begun: true, done: true }, diffs, [])
  }
  const edit = (name: string, oldText: string, newText: string) =>
    tool({ operation: 'modify', path: file(name), oldText, newText }, () =>
      put(name, text(name).replace(oldText, newText)),
    )
  const remove = (name: string) => tool({ operation: 'delete', path: file(name) }, () => rmSync(file(name)))
  const add = (name: string, newText: string) =>
    tool({ operation: 'add', path: file(name), newText }, () => put(name, newText))
  const listed = () =>
    changes
      .list()
      .map(({ path, status, added, removed, uncertain }) =>
        [path.slice(root.length + 1), status, `+${added}-${removed}`, uncertain ?? ''].join(' ').trim(),
      )
      .sort()

  /** Git changes files while the tracker watches. */
  const gitSeen = async (...args: string[]) => {
    git(...args)
    await changes.refresh()
  }

  describe("of files whose names aren't UTF-8", () => {
    const onDisk = (name: string) => Buffer.from(`${root}/${name}`, 'latin1')
    const names = () => readdirSync(root, 'latin1').filter(name => name !== '.git')
    const textIn = (name: string) => readFileSync(onDisk(name), 'utf8')
    const listed = () => changes.list().map(({ path, status }) => [readable(basename(path)), status])
    const turn = async (work: () => void) => {
      const tree = new WorkTree(changes)
      const before = await tree.snapshot([root])
      changes.beginTurn(1, () => true)
      work()
      await changes.noticed((await tree.changed(before)).changes)
      await changes.endTurn()
    }

    before(function () {
      if (process.platform !== 'linux') this.skip()
    })
    beforeEach(() => {
      for (const name of ['caf\xe9.txt', 'gar\xe7on.txt', 'f\xfcr.txt'])
        writeFileSync(onDisk(name), 'one\ntwo\n')
      git('add', '.')
      git('commit', '-q', '-m', 'more')
    })

    it('are listed, reverted and restored by these names, also in another window', async () => {
      const before = names()
      await turn(() => {
        writeFileSync(onDisk('caf\xe9.txt'), 'one\n2\n')
        rmSync(onDisk('gar\xe7on.txt'))
        writeFileSync(onDisk('caf\xe8.txt'), 'new\n')
      })
      const after = names()
      const all = [
        ['caf\ufffd.txt', 'added'],
        ['caf\ufffd.txt', 'modified'],
        ['gar\ufffdon.txt', 'deleted'],
      ]
      assert.deepEqual(listed().sort(), all)
      await close()
      open()
      await tracker.disk.refresh()
      assert.deepEqual(listed().sort(), all)
      const { undone, unchanged } = await changes.undo()
      assert.deepEqual([unchanged, listed(), names()], [[], [], before])
      assert.deepEqual([textIn('caf\xe9.txt'), textIn('gar\xe7on.txt')], ['one\ntwo\n', 'one\ntwo\n'])
      assert.deepEqual(await tracker.review.restore(undone!.id), [])
      assert.deepEqual([names(), textIn('caf\xe9.txt'), textIn('caf\xe8.txt')], [after, 'one\n2\n', 'new\n'])
    })

    it('are never taken for others if the agent commits them', async () => {
      const before = names()
      await turn(() => {
        writeFileSync(onDisk('caf\xe9.txt'), 'one\n2\n')
        git('commit', '-q', '-a', '-m', 'second')
      })
      await changes.undo()
      assert.deepEqual(names(), before)
    })
  })

  describe('made again after they were undone', () => {
    /** A command of a turn changes files, which is found by comparing them with what was there before. */
    const command = async (by: SessionChanges, turn: number, work: () => void) => {
      const tree = new WorkTree(by)
      const times = tracker.files.values().flatMap(({ historyAt }) => historyAt ?? [])
      await until(() => times.every(at => Date.now() - at > 200))
      by.beginTurn(turn, () => true)
      const before = await tree.snapshot([root], Number.POSITIVE_INFINITY)
      work()
      await by.noticed((await tree.changed(before)).changes, turn)
      await by.endTurn()
    }
    const change = () => {
      put('a.txt', text('a.txt').replace('two', '2'))
      put('new.txt', 'new\n')
    }
    const both = ['a.txt modified +1-1 all', 'new.txt added +1-0 all']

    for (const isSeen of [true, false])
      it(`are another session's that made them again${isSeen ? '' : ', also if nothing noticed the undo'}`, async () => {
        const mine = changes
        await command(mine, 1, change)
        assert.deepEqual(listed(), both)
        git('checkout', '-q', '--', 'a.txt')
        rmSync(file('new.txt'))
        if (isSeen) await mine.refresh()
        const other = new SessionChanges(tracker, 'o', { cwd: root, additionalDirectories: [] })
        await command(other, 1, change)
        assert.deepEqual(listed(), [])
        changes = other
        assert.deepEqual(listed(), both)
        assert.deepEqual((await other.undo({ since: 1 })).unchanged, [])
        assert.deepEqual([text('a.txt'), existsSync(file('new.txt'))], [text('gone.txt'), false])
      })

    for (const isSeen of [true, false])
      it(`are listed again in a file that was kept and deleted${isSeen ? '' : ', also if nothing noticed that'}`, async () => {
        const create = () => put('new.txt', 'new\n')
        await command(changes, 1, create)
        changes.keep()
        rmSync(file('new.txt'))
        if (isSeen) await changes.refresh()
        await command(changes, 2, create)
        assert.deepEqual(listed(), ['new.txt added +1-0 all'])
        assert.deepEqual((await changes.undo({ turn: 2 })).unchanged, [])
        assert.equal(existsSync(file('new.txt')), false)
      })
  })

  it("are counted in an ignored file that the agent reports as new but that was there before: its text isn't known", async () => {
    put('.gitignore', '.env*\n')
    put('.env.local', 'KEY=mine\n')
    const { birthtimeMs } = statSync(file('.env.local'))
    await until(() => Date.now() - birthtimeMs > 200)
    const create = async (name: string) => {
      put(name, 'KEY=new\n')
      const change = { operation: 'add' as const, path: file(name), newText: 'KEY=new\n' }
      await changes.tool({ toolCallId: name, begun: true, done: true }, [{ changes: [change] }], [])
    }
    changes.beginTurn(1, () => true)
    await create('.env.local')
    await create('.env.new')
    assert.deepEqual(listed(), ['.env.new added +1-0'])
    assert.equal(changes.omitted.files, 1)
    await changes.undo()
    assert.deepEqual([existsSync(file('.env.local')), existsSync(file('.env.new'))], [true, false])
  })

  describe('come back', () => {
    const all = ['a.txt modified +2-2', 'gone.txt deleted +0-5', 'new.txt added +1-0']
    const change = async () => {
      await edit('a.txt', 'two', '2')
      await edit('a.txt', 'five', '5')
      await remove('gone.txt')
      await add('new.txt', 'new\n')
      assert.deepEqual(listed(), all)
    }
    const revertAll = async () => {
      assert.deepEqual((await changes.undo()).unchanged, [])
      assert.deepEqual([text('gone.txt'), existsSync(file('new.txt'))], [text('a.txt'), false])
    }

    for (const during of ['between turns', 'during a turn'])
      it(`after \`git stash\` and \`git stash pop\` ${during}`, async () => {
        await change()
        if (during === 'during a turn') changes.beginTurn(2, () => true)
        await gitSeen('stash', '--include-untracked', '-q')
        assert.deepEqual(listed(), [])
        await gitSeen('stash', 'pop', '-q')
        assert.deepEqual(listed(), all)
        await revertAll()
      })

    it('after a branch and back', async () => {
      await change()
      await gitSeen('stash', '--include-untracked', '-q')
      await gitSeen('checkout', '-q', '-b', 'work')
      await gitSeen('checkout', '-q', 'main')
      await gitSeen('stash', 'pop', '-q')
      assert.deepEqual(listed(), all)
    })

    it('after a reload of the window in between, with their checkpoint', async () => {
      changes.beginTurn(1, () => false)
      await change()
      await gitSeen('stash', '--include-untracked', '-q')
      await close()
      open()
      await changes.refresh()
      assert.deepEqual(listed(), [])
      git('stash', 'pop', '-q')
      await changes.refresh()
      assert.deepEqual(listed(), all)
      assert.deepEqual(
        changes
          .checkpoint(1)
          .map(({ action }) => action)
          .sort(),
        ['change', 'create', 'delete'],
      )
      assert.deepEqual((await changes.undo({ since: 1 })).unchanged, [])
      assert.equal(text('gone.txt'), text('a.txt'))
    })

    it('with what the user committed in between', async () => {
      await edit('a.txt', 'two', '2')
      await gitSeen('stash', '-q')
      put('a.txt', `${text('a.txt')}mine\n`)
      await changes.refresh()
      git('commit', '-q', '-a', '-m', 'second')
      await gitSeen('stash', 'pop', '-q')
      assert.deepEqual(listed(), ['a.txt modified +1-1'])
      await changes.undo()
      assert.equal(text('a.txt'), 'one\ntwo\nthree\nfour\nfive\nmine\n')
    })

    it('not if the user kept them before', async () => {
      await change()
      changes.keep()
      await gitSeen('stash', '--include-untracked', '-q')
      await gitSeen('stash', 'pop', '-q')
      assert.deepEqual(listed(), [])
    })
  })

  const named = process.platform === 'win32' ? it.skip : it
  named('of a file whose name has a backslash are those since its commit', async () => {
    put('a\\b.txt', 'one\n')
    git('add', '.')
    git('commit', '-q', '-m', 'second')
    const found = await committedContents(root, root, 'HEAD', [file('a\\b.txt'), file('none')])
    assert.equal(found.get(file('a\\b.txt'))?.bytes?.toString(), 'one\n')
    assert.deepEqual(found.get(file('none')), { mode: 0 })
  })

  describe('exclude what Git did during a turn', () => {
    let tree: WorkTree
    let before: Awaited<ReturnType<WorkTree['snapshot']>>
    let ranGit: boolean
    beforeEach(async () => {
      git('checkout', '-q', '-b', 'other')
      put('a.txt', 'ONE\ntwo\nthree\nfour\nfive\n')
      put('more.txt', 'more\n')
      git('rm', '-q', 'gone.txt')
      git('add', '.')
      git('commit', '-q', '-m', 'other')
      git('checkout', '-q', 'main')
      put('b.txt', 'b\n')
      git('add', 'b.txt')
      git('commit', '-q', '-m', 'b')
      tree = new WorkTree(changes)
      ranGit = false
    })
    const begin = async () => {
      before = await tree.snapshot([root], Number.POSITIVE_INFINITY)
      changes.beginTurn(
        1,
        () => true,
        () => ranGit,
      )
    }
    /** What is done during a turn, found by the watcher (`seen`) or when the folders are searched. */
    const look = async () => {
      await changes.noticed((await tree.changed(before, { ranGit })).changes, 1)
    }

    for (const how of ['checkout other', 'merge other', 'rebase other', 'reset --hard other'])
      it(`in files that agents changed and in others: git ${how}`, async () => {
        put('a.txt', text('a.txt'))
        await edit('b.txt', 'b', 'B')
        git('commit', '-q', '-a', '-m', 'by the agent')
        await begin()
        await edit('a.txt', 'five', '5')
        git('stash', '-q')
        await gitSeen(...how.split(' '), '-q')
        await gitSeen('stash', 'pop', '-q')
        await look()
        const others = listed().filter(one => !one.startsWith('b.txt'))
        assert.deepEqual(others, ['a.txt modified +1-1'])
        assert.deepEqual((await changes.undo({ paths: [file('a.txt')] })).unchanged, [])
        assert.equal(text('a.txt'), 'ONE\ntwo\nthree\nfour\nfive\n')
      })

    it('in a file whose change was reported with its text only, also before the agent worked', async () => {
      git('checkout', '-q', '-b', 'more')
      put('a.txt', 'other\n')
      git('commit', '-q', '-a', '-m', 'other')
      git('checkout', '-q', 'main')
      const before = text('a.txt')
      const position = await repositoryOf(root)
      assert.ok(position)
      changes.beginTurn(1, () => false, undefined, { began: Date.now(), repositories: [position] })
      git('checkout', '-q', 'more')
      await changes.noticed([{ path: file('a.txt'), before }])
      assert.deepEqual(listed(), [])
    })

    it('but not what a command does to these files later', async () => {
      await begin()
      await gitSeen('checkout', '-q', 'other')
      await look()
      put('more.txt', 'by a command\n')
      put('a.txt', 'ONE\ntwo\nthree\nfour\nby a command\n')
      await look()
      assert.deepEqual(listed(), ['a.txt modified +1-1 all', 'more.txt modified +1-1 all'])
      await changes.undo()
      assert.deepEqual([text('a.txt'), text('more.txt')], ['ONE\ntwo\nthree\nfour\nfive\n', 'more\n'])
    })

    it('and what the user had stashed before', async () => {
      put('a.txt', 'one\ntwo\nthree\nfour\nmine\n')
      put('mine.txt', 'mine\n')
      git('stash', '-q', '--include-untracked')
      await begin()
      await gitSeen('stash', 'pop', '-q')
      await look()
      assert.deepEqual(listed(), [])
      put('mine.txt', 'mine\nby a command\n')
      await look()
      await changes.undo()
      assert.equal(text('mine.txt'), 'mine\n')
    })

    it('unless a command of the agent may have done it', async () => {
      await begin()
      ranGit = true
      await gitSeen('checkout', '-q', 'other')
      await look()
      assert.deepEqual(listed(), [
        'a.txt modified +1-1 all',
        'b.txt deleted +0-1 all',
        'gone.txt deleted +0-5 all',
        'more.txt added +1-0 all',
      ])
    })

    it('but not what a command did to files that Git only committed or never had', async () => {
      put('mine.txt', 'mine\n')
      await begin()
      put('a.txt', 'one\ntwo\nthree\nfour\nby a command\n')
      git('commit', '-q', '-a', '-m', 'second')
      await look()
      assert.deepEqual(listed(), ['a.txt modified +1-1 all'])
      rmSync(file('mine.txt'))
      await gitSeen('checkout', '-q', '-b', 'third')
      await look()
      assert.deepEqual(listed(), ['a.txt modified +1-1 all', 'mine.txt deleted +0-1 all'])
    })
  })

  describe('are kept by a commit', () => {
    const begin = () => changes.beginTurn(1, () => true)

    it('of a file, and can still be restored to before the prompt', async () => {
      begin()
      await edit('a.txt', 'two', '2')
      await remove('gone.txt')
      await add('new.txt', 'new\n')
      await changes.endTurn()
      git('add', '.')
      await changes.refresh()
      assert.deepEqual(listed(), ['a.txt modified +1-1', 'gone.txt deleted +0-5', 'new.txt added +1-0'])
      await gitSeen('commit', '-q', '-m', 'second')
      assert.deepEqual(listed(), [])
      assert.deepEqual((await changes.undo({ since: 1 })).unchanged, [])
      assert.deepEqual([text('a.txt'), existsSync(file('new.txt'))], [text('gone.txt'), false])
    })

    it('of some lines only', async () => {
      begin()
      await edit('a.txt', 'one', '1')
      git('commit', '-q', '-a', '-m', 'second')
      await edit('a.txt', 'five', '5')
      await changes.refresh()
      assert.deepEqual(listed(), ['a.txt modified +1-1'])
      await edit('a.txt', 'three\n', '')
      const both = text('a.txt')
      put('a.txt', both.replace('5\n', 'five\n'))
      git('add', 'a.txt')
      put('a.txt', both)
      await gitSeen('commit', '-q', '-m', 'third')
      assert.deepEqual(listed(), ['a.txt modified +1-1'])
      await changes.undo()
      assert.equal(text('a.txt'), '1\ntwo\nfour\nfive\n')
    })

    it('not of other files, and not if the last commit had the same before', async () => {
      put('a.txt', 'one\nmine\nthree\nfour\nfive\n')
      begin()
      await edit('a.txt', 'mine', 'two')
      put('other.txt', 'other\n')
      git('add', 'other.txt')
      await gitSeen('commit', '-q', '-m', 'other')
      assert.deepEqual(listed(), ['a.txt modified +1-1'])
    })

    it('as soon as the window notices it', async () => {
      begin()
      await edit('a.txt', 'two', '2')
      git('commit', '-q', '-a', '-m', 'second')
      watching?.(file('.git/logs/HEAD'))
      await until(() => listed().length === 0)
    })
  })
})

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ChangeTracker } from '../../../src/changes/change-tracker.ts'
import { type Snapshot, WorkTree } from '../../../src/changes/detect/work-tree.ts'
import type { CheckpointLimits } from '../../../src/changes/model/checkpoints.ts'
import { UndoLog } from '../../../src/changes/model/undo-log.ts'
import { SessionChanges } from '../../../src/changes/session-changes.ts'
import { disk } from '../../../src/editor/files/file-system.ts'
import { type FilesShared, filesShared, SessionFiles } from '../../../src/editor/files/files.ts'
import { waitFor } from '../../host/wait-for.ts'
import { ChangesOnDisk, hasSqlite } from '../../support/changes-on-disk.ts'
import { FakeEditor } from '../../support/fake-editor.ts'
import { MemoryStore } from '../../support/memory-tracker.ts'

describe('a checkpoint', () => {
  let root = ''
  let store: MemoryStore
  let editor: FakeEditor
  let shared: FilesShared
  let tracker: ChangeTracker
  let changes: SessionChanges
  let other: SessionChanges
  let limits: CheckpointLimits
  const file = (name: string) => join(root, name)
  const text = (name: string) => readFileSync(file(name), 'utf8')
  const roots = () => ({ cwd: root, additionalDirectories: [] })
  /** Opens another window, after the previous one was closed or crashed. */
  const create = async () => {
    tracker = new ChangeTracker({ files: shared, store, checkpoints: () => limits })
    editor.tracker = tracker
    changes = new SessionChanges(tracker, 's', roots())
    other = new SessionChanges(tracker, 'o', roots())
    await tracker.files.ready
  }
  beforeEach(async () => {
    root = realpathSync(mkdtempSync(join(tmpdir(), 'parley-checkpoint-')))
    store = new MemoryStore()
    editor = new FakeEditor()
    shared = filesShared({ documents: editor, fileSystem: disk })
    limits = { maxAgeMs: Number.POSITIVE_INFINITY, maxBytes: Number.POSITIVE_INFINITY }
    writeFileSync(file('a.txt'), 'one\ntwo\nthree\n')
    await create()
  })
  afterEach(() => {
    tracker.dispose()
    rmSync(root, { recursive: true, force: true })
  })

  const write = (name: string, content: string, by = changes) => {
    const files = new SessionFiles(shared, { roots: roots(), askAccess: async () => 'refuse' })
    return by.writing(file(name), content, tracked =>
      files.writeTextFile({ path: file(name), content }, undefined, tracked),
    )
  }
  /** Runs a tool call that reports a file's location and changes it directly. */
  const tool = async (name: string, work: () => void, by = changes) => {
    await by.tool({ toolCallId: 't', begun: true, done: false }, [], [file(name)])
    work()
    await by.tool({ toolCallId: 't', begun: true, done: true }, [], [file(name)])
  }
  const begin = (turn: number, by = changes) => by.beginTurn(turn, () => false)
  const listed = (since: number) =>
    changes.checkpoint(since).map(({ path, ...rest }) => ({ name: path.slice(root.length + 1), ...rest }))
  const restore = (since: number, options = {}) => changes.undo({ since }, options)

  it("restores an empty file that the agent's tool call deletes", async () => {
    begin(1)
    writeFileSync(file('empty.txt'), '')
    begin(2)
    const deletion = [{ changes: [{ operation: 'delete' as const, path: file('empty.txt') }] }]
    await changes.tool({ toolCallId: 't', begun: true, done: false }, deletion, [])
    rmSync(file('empty.txt'))
    await changes.tool({ toolCallId: 't', begun: true, done: true }, deletion, [])
    await restore(2)
    assert.equal(text('empty.txt'), '')
  })

  it('restores the state before a turn, including kept changes, and can be undone', async () => {
    begin(1)
    await write('a.txt', 'one\n2\nthree\n')
    begin(2)
    await write('a.txt', 'one\n2\n3\n')
    await write('new.txt', 'x\n')
    await tool('gone.txt', () => {})
    changes.keep()
    assert.deepEqual(listed(2), [
      { name: 'a.txt', action: 'change', added: 1, removed: 1 },
      { name: 'new.txt', action: 'delete', added: 0, removed: 1 },
    ])
    const { undone, unchanged } = await restore(2)
    assert.deepEqual(unchanged, [])
    assert.equal(text('a.txt'), 'one\n2\nthree\n')
    assert.equal(existsSync(file('new.txt')), false)
    assert.deepEqual(changes.list(), [])
    assert.deepEqual(await tracker.review.restore(undone!.id), [])
    assert.equal(text('a.txt'), 'one\n2\n3\n')
    assert.equal(text('new.txt'), 'x\n')
    await restore(1)
    assert.equal(text('a.txt'), 'one\ntwo\nthree\n')
    assert.equal(store.files.size, 0)
  })

  it("keeps the user's later edits, saved or not", async () => {
    begin(1)
    await write('a.txt', 'one\n2\nthree\n')
    changes.keep()
    writeFileSync(file('a.txt'), 'one\n2\nthree\nmine\n')
    await tracker.disk.refresh()
    editor.open(file('a.txt'))
    editor.type(file('a.txt'), 'typed\none\n2\nthree\nmine\n')
    assert.deepEqual((await restore(1)).unchanged, [])
    assert.equal(editor.textOf(file('a.txt')), 'typed\none\ntwo\nthree\nmine\n')
    await editor.save(file('a.txt'))
    await tracker.disk.refresh()
    assert.deepEqual(listed(1), [])
    assert.deepEqual(changes.list(), [])
  })

  for (const when of ['while its turn is being examined', 'after the turn'])
    it(`keeps the parts of a file apart that was seen empty while the user saved it, ${when}`, async () => {
      const edit = async (turn: number, from: string, to: string) => {
        changes.beginTurn(turn, () => true)
        const oldText = text('a.txt')
        const newText = oldText.replace(from, to)
        const change = { operation: 'modify' as const, path: file('a.txt'), oldText, newText }
        const call = { toolCallId: `t${turn}`, begun: true }
        await changes.tool({ ...call, done: false }, [{ changes: [change] }], [])
        writeFileSync(file('a.txt'), newText)
        await changes.tool({ ...call, done: true }, [{ changes: [change] }], [])
      }
      await edit(1, 'one', '1')
      await changes.endTurn()
      await edit(2, 'three', '3')
      if (when === 'after the turn') await changes.endTurn()
      editor.open(file('a.txt'))
      editor.type(file('a.txt'), 'mine\ntwo\n3\n')
      // editors empty a file before they write it
      truncateSync(file('a.txt'))
      await changes.refresh()
      await editor.save(file('a.txt'))
      await changes.refresh()
      await changes.endTurn()
      assert.deepEqual(listed(1), [
        { name: 'a.txt', action: 'change', added: 1, removed: 1, unchangedBecause: 'user' },
      ])
      assert.equal(changes.restored(file('a.txt'), 1)?.text, 'mine\ntwo\nthree\n')
      await restore(1, { force: true })
      assert.equal(text('a.txt'), 'one\ntwo\nthree\n')
    })

  it("replaces the user's text in the same lines only if asked to, and that can be undone", async () => {
    begin(1)
    await write('a.txt', 'one\n2\nthree\n')
    writeFileSync(file('a.txt'), 'one\nmine\nthree\n')
    await tracker.disk.refresh()
    assert.equal(listed(1)[0]?.unchangedBecause, 'user')
    assert.deepEqual(
      (await restore(1)).unchanged.map(({ why }) => why),
      ['user'],
    )
    assert.equal(text('a.txt'), 'one\nmine\nthree\n')
    const { undone } = await restore(1, { force: true })
    assert.equal(text('a.txt'), 'one\ntwo\nthree\n')
    await tracker.review.restore(undone!.id)
    assert.equal(text('a.txt'), 'one\nmine\nthree\n')
  })

  it("can be undone, including the user's edits that it discarded", async () => {
    const before = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\n'
    const now = 'one\nmine\nthree\nfour\nfive\n6\nseven\n'
    writeFileSync(file('a.txt'), before)
    begin(1)
    await write('a.txt', 'one\n2\nthree\nfour\nfive\n6\nseven\n')
    writeFileSync(file('a.txt'), now)
    await tracker.disk.refresh()
    const { undone } = await restore(1)
    assert.equal(text('a.txt'), now.replace('6', 'six'))
    await changes.undo({ since: 1 }, { force: true, into: undone! })
    assert.equal(text('a.txt'), before)
    await create()
    assert.equal(tracker.review.undone.length, 1)
    assert.deepEqual(await tracker.review.restore(undone!.id), [])
    assert.equal(text('a.txt'), now)
    assert.deepEqual(tracker.review.undone, [])
  })

  it('of a fork includes the turns before the fork, and nothing else of the original session', async () => {
    begin(1)
    await write('a.txt', 'one\n2\nthree\n')
    other.origins = () => [{ session: 's', turn: 1 }]
    begin(2)
    await write('later.txt', 'x\n')
    begin(2, other)
    await write('b.txt', 'y\n', other)
    assert.deepEqual(
      other.checkpoint(1).map(({ path, action }) => [path.slice(root.length + 1), action]),
      [
        ['a.txt', 'change'],
        ['b.txt', 'delete'],
      ],
    )
    // only the session's own changes can be reviewed and reverted
    assert.deepEqual(
      other.list().map(({ path }) => path),
      [file('b.txt')],
    )
    await other.undo()
    assert.equal(text('a.txt'), 'one\n2\nthree\n')
    const { undone } = await other.undo({ since: 1 })
    assert.equal(text('a.txt'), 'one\ntwo\nthree\n')
    assert.equal(text('later.txt'), 'x\n')
    writeFileSync(file('a.txt'), 'one\ntwo\nthree\nmine\n')
    await tracker.disk.refresh()
    assert.deepEqual(await tracker.review.restore(undone!.id), [])
    assert.equal(text('a.txt'), 'one\n2\nthree\nmine\n')
    assert.deepEqual(
      changes.list().map(({ path }) => path),
      [file('later.txt'), file('a.txt')],
    )
  })

  it("keeps another session's changes and reports conflicting ones", async () => {
    begin(1)
    begin(1, other)
    await write('a.txt', 'one\n2\nthree\n')
    await write('a.txt', 'one\nII\nthree\nfour\n', other)
    assert.equal(listed(1)[0]?.unchangedBecause, 'agent')
    await restore(1)
    assert.equal(text('a.txt'), 'one\nII\nthree\nfour\n')
    await other.undo({ since: 1 })
    assert.equal(text('a.txt'), 'one\n2\nthree\n')
    await restore(1)
    assert.equal(text('a.txt'), 'one\ntwo\nthree\n')
  })

  it('removes an empty file that replaced one that another session had deleted', async () => {
    begin(1, other)
    await tool('a.txt', () => rmSync(file('a.txt')), other)
    begin(1)
    await write('a.txt', '')
    assert.deepEqual((await restore(1)).unchanged, [])
    assert.equal(existsSync(file('a.txt')), false)
    await other.undo()
    assert.equal(text('a.txt'), 'one\ntwo\nthree\n')
  })

  it('restores deleted files, their bytes and modes', async () => {
    const bytes = Buffer.from([0, 1, 2, 255])
    writeFileSync(file('b.bin'), bytes)
    writeFileSync(file('run.sh'), 'x\n')
    chmodSync(file('run.sh'), 0o755)
    begin(1)
    await tool('b.bin', () => writeFileSync(file('b.bin'), Buffer.from([9, 0])))
    await tool('run.sh', () => rmSync(file('run.sh')))
    changes.keep()
    await create()
    await tracker.disk.refresh()
    assert.deepEqual(
      listed(1).map(({ name, action }) => [name, action]),
      [
        ['b.bin', 'change'],
        ['run.sh', 'create'],
      ],
    )
    assert.deepEqual((await restore(1)).unchanged, [])
    assert.deepEqual(readFileSync(file('b.bin')), bytes)
    assert.equal(text('run.sh'), 'x\n')
    if (process.platform !== 'win32') assert.equal(statSync(file('run.sh')).mode & 0o777, 0o755)
  })

  it('restores the start of a turn even if a later turn reverted that', async () => {
    begin(1)
    await write('a.txt', 'one\n2\nthree\n')
    begin(2)
    await write('a.txt', 'one\ntwo\nthree\n')
    assert.deepEqual(changes.list(), [])
    await restore(2)
    assert.equal(text('a.txt'), 'one\n2\nthree\n')
    await restore(1)
    assert.equal(text('a.txt'), 'one\ntwo\nthree\n')
  })

  for (const [when, early] of [
    ['before the report', true],
    ['after the report', false],
  ] as const)
    it(`assigns a reported change that is seen ${when} during the turn`, async () => {
      const texts = ['one\ntwo\nthree\n', 'one\n2\nthree\n', 'one\n2\n3\n']
      for (const turn of [1, 2]) {
        const [oldText, newText] = texts.slice(turn - 1) as [string, string]
        const change = { operation: 'modify' as const, path: file('a.txt'), oldText, newText }
        const report = (done: boolean) =>
          changes.tool({ toolCallId: `t${turn}`, begun: true, done }, [{ changes: [change] }], [])
        changes.beginTurn(turn, () => true)
        if (!early) await report(false)
        writeFileSync(file('a.txt'), newText)
        if (early) {
          await tracker.disk.refresh()
          await report(false)
        }
        await report(true)
        await changes.endTurn()
      }
      assert.deepEqual(listed(2), [{ name: 'a.txt', action: 'change', added: 1, removed: 1 }])
      assert.deepEqual(listed(1), [{ name: 'a.txt', action: 'change', added: 2, removed: 2 }])
    })

  // the snapshot, the empty file, its new text, the report before and after, a read of the file, and a search for changes
  for (const order of ['SENLPD', 'SENCLPD', 'SEPCNLD', 'CSEPNLD', 'SELCNCPD'])
    it(`includes what is reported only after it was found in a search, in the order ${order}`, async () => {
      const [oldText, newText] = ['one\ntwo\nthree\n', 'one\ntwo\n3\n']
      const change = { operation: 'modify' as const, path: file('a.txt'), oldText, newText }
      const report = (done: boolean) =>
        changes.tool({ toolCallId: 't', begun: true, done }, [{ changes: [change] }], [])
      const tree = new WorkTree(changes)
      changes.beginTurn(1, () => true)
      let before: Promise<Snapshot> | undefined
      const steps: Record<string, () => unknown> = {
        S: () => {
          before = tree.snapshot([root], Number.POSITIVE_INFINITY)
          return before
        },
        E: () => truncateSync(file('a.txt')),
        N: () => writeFileSync(file('a.txt'), newText),
        P: () => report(false),
        D: () => report(true),
        C: () => changes.refresh(),
        L: async () => changes.noticed((await tree.changed(await before!)).changes, 1),
      }
      for (const step of `${order}L`) await steps[step]!()
      await changes.endTurn()
      assert.deepEqual(listed(1), [{ name: 'a.txt', action: 'change', added: 1, removed: 1 }])
      assert.equal(changes.restored(file('a.txt'), 1)?.text, oldText)
    })

  it('includes a change made before the agent reported it, in a file that is already watched', async () => {
    begin(1)
    await write('a.txt', 'one\n2\nthree\n')
    changes.keep()
    // no tool call is known yet
    begin(2)
    writeFileSync(file('a.txt'), 'one\n2\n3\n')
    await tracker.disk.refresh()
    const change = { operation: 'modify' as const, path: file('a.txt'), oldText: 'three', newText: '3' }
    await changes.tool({ toolCallId: 'late', begun: true, done: true }, [{ changes: [change] }], [])
    assert.deepEqual(
      changes.list().map(one => [one.added, one.removed, one.uncertain]),
      [[1, 1, undefined]],
    )
    assert.deepEqual(listed(2), [{ name: 'a.txt', action: 'change', added: 1, removed: 1 }])
    // what the user saved is the user's, whatever a tool call reports
    writeFileSync(file('a.txt'), 'one\n2\nIII\n')
    editor.open(file('a.txt'))
    await tracker.disk.refresh()
    tracker.edits.saved(file('a.txt'), 'one\n2\nIII\n')
    const other = { operation: 'modify' as const, path: file('a.txt'), oldText: '3', newText: 'III' }
    await changes.tool({ toolCallId: 'later', begun: true, done: true }, [{ changes: [other] }], [])
    assert.equal(listed(2)[0]?.unchangedBecause, 'user')
  })

  /** A second turn edits the last line, which its tool call is just reporting. */
  const reportLastLine = async () => {
    begin(1)
    await write('a.txt', 'one\n2\nthree\n')
    await changes.endTurn()
    begin(2)
    writeFileSync(file('a.txt'), 'one\n2\n3\n')
    const change = { operation: 'modify' as const, path: file('a.txt'), oldText: 'three', newText: '3' }
    const reporting = changes.tool({ toolCallId: 'c', begun: true, done: true }, [{ changes: [change] }], [])
    return { reporting }
  }

  it('includes what a tool call has just reported, once it has been refreshed', async () => {
    const { reporting } = await reportLastLine()
    await changes.refresh()
    assert.deepEqual(listed(2), [{ name: 'a.txt', action: 'change', added: 1, removed: 1 }])
    await reporting
  })

  it("doesn't include what was changed before the turn and is only noticed in it", async () => {
    begin(1)
    await write('a.txt', 'one\n2\nthree\n')
    await write('b.txt', 'agent\n')
    await changes.endTurn()
    writeFileSync(file('a.txt'), 'one\n2\n3\n')
    rmSync(file('b.txt'))
    const { ctimeMs } = statSync(file('.'))
    await waitFor('a later moment', () => Date.now() > ctimeMs + 150)
    changes.beginTurn(2, () => true)
    await tracker.disk.refresh()
    await changes.endTurn()
    assert.deepEqual(listed(2), [])
    // what is moved into place in the turn is the turn's, however old its text is
    changes.beginTurn(3, () => true)
    writeFileSync(file('a.new'), 'one\n2\nIII\n')
    utimesSync(file('a.new'), new Date(0), new Date(0))
    renameSync(file('a.new'), file('a.txt'))
    await tracker.disk.refresh()
    assert.deepEqual(
      listed(3).map(({ name, uncertain }) => [name, uncertain]),
      [['a.txt', 'all']],
    )
  })

  it('includes what a tool call reports right before its turn ends', async () => {
    const { reporting } = await reportLastLine()
    await changes.endTurn()
    await reporting
    assert.deepEqual(
      listed(2).map(({ name, uncertain }) => [name, uncertain]),
      [['a.txt', undefined]],
    )
  })

  it("includes what a tool call reports while the previous turn's changes are still being examined", async () => {
    begin(1)
    await write('a.txt', 'one\n2\nthree\n')
    let release = () => {}
    const held = new Promise<void>(resolve => {
      release = resolve
    })
    const undoing = tracker.review.undo(
      file('a.txt'),
      () => true,
      {},
      () => held.then(() => async () => {}),
    )
    const ending = changes.endTurn()
    begin(2)
    writeFileSync(file('b.bin'), Buffer.from([0, 1]))
    await changes.tool({ toolCallId: 'b', begun: true, done: false }, [], [file('b.bin')])
    release()
    await undoing
    await ending
    writeFileSync(file('b.bin'), Buffer.from([0, 2]))
    await changes.tool({ toolCallId: 'b', begun: true, done: true }, [], [file('b.bin')])
    assert.deepEqual(
      listed(2).map(({ name, uncertain }) => [name, uncertain]),
      [['b.bin', undefined]],
    )
  })

  it("includes what is written through the client, also if the previous turn's examination finds it", async () => {
    begin(1)
    begin(2)
    await changes.writing(file('new.txt'), 'x\n', async () => {
      writeFileSync(file('new.txt'), 'x\n')
      await changes.noticed([{ path: file('new.txt'), before: null }], 1)
    })
    assert.deepEqual(listed(2), [{ name: 'new.txt', action: 'delete', added: 0, removed: 1 }])
  })

  it('survives a crash, even for kept changes', async () => {
    begin(1)
    await write('a.txt', 'one\n2\nthree\n')
    changes.keep()
    writeFileSync(file('a.txt'), 'one\n2\nthree\nmine\n')
    await create()
    await tracker.disk.refresh()
    assert.deepEqual(listed(1), [{ name: 'a.txt', action: 'change', added: 1, removed: 1 }])
    await restore(1)
    assert.equal(text('a.txt'), 'one\ntwo\nthree\nmine\n')
  })

  it('can be undone after a crash before its result was stored', async () => {
    begin(1)
    await write('a.txt', 'one\n2\nthree\n')
    begin(2)
    await write('a.txt', 'one\n2\n3\n')
    const stored = new Map(store.files)
    const { undone } = await restore(2)
    assert.equal(text('a.txt'), 'one\n2\nthree\n')
    store.files.clear()
    for (const [path, content] of stored) store.files.set(path, content)
    await create()
    await tracker.disk.refresh()
    assert.ok(undone)
    assert.deepEqual(await tracker.review.restore(undone.id), [])
    assert.equal(text('a.txt'), 'one\n2\n3\n')
    const change = { name: 'a.txt', action: 'change' }
    assert.deepEqual(listed(2), [{ ...change, added: 1, removed: 1 }])
    assert.deepEqual(listed(1), [{ ...change, added: 2, removed: 2 }])
    await restore(1)
    assert.equal(text('a.txt'), 'one\ntwo\nthree\n')
  })

  it("reports what it can't restore", async () => {
    begin(1)
    await write('a.txt', 'one\n2\nthree\n')
    await write('b.txt', 'x\n')
    editor.open(file('a.txt'))
    editor.type(file('a.txt'), 'typed\none\n2\nthree\n')
    // another program, below unsaved changes
    writeFileSync(file('a.txt'), 'one\n2\n3\n')
    rmSync(file('b.txt'))
    writeFileSync(file('large.bin'), 'x')
    truncateSync(file('large.bin'), 50_000_001)
    await tool('large.bin', () => writeFileSync(file('large.bin'), 'small\n'))
    await tracker.disk.refresh()
    assert.deepEqual(
      listed(1).map(({ name, unchangedBecause }) => [name, unchangedBecause]),
      [
        ['a.txt', 'conflict'],
        ['b.txt', 'gone'],
        ['large.bin', 'large'],
      ],
    )
    assert.equal(changes.restored(file('b.txt'), 1), undefined)
  })

  it("is deleted when it's too old or too large, which is reported", async () => {
    begin(1)
    await write('a.txt', 'one\n2\nthree\n')
    changes.keep()
    await write('b.txt', `${'x'.repeat(1000)}\n`)
    limits = { maxAgeMs: Number.POSITIVE_INFINITY, maxBytes: 1010 }
    tracker.files.dropCheckpoints()
    assert.deepEqual(
      listed(1).map(({ name, unchangedBecause }) => [name, unchangedBecause]),
      [
        ['b.txt', undefined],
        ['a.txt', 'size'],
      ],
    )
    // changes to review aren't deleted
    assert.equal(changes.list().length, 1)
    limits = { maxAgeMs: -1, maxBytes: Number.POSITIVE_INFINITY }
    await create()
    assert.deepEqual(
      listed(1).map(({ name, unchangedBecause }) => [name, unchangedBecause]),
      [
        ['b.txt', 'age'],
        ['a.txt', 'size'],
      ],
    )
    assert.equal(changes.list().length, 1)
    assert.deepEqual(listed(2), [])
    assert.deepEqual((await restore(1)).undone, undefined)
    assert.equal(text('a.txt'), 'one\n2\nthree\n')
  })

  it('leaves the latest undo if all of them are larger than the limit', async () => {
    begin(1)
    for (const name of ['a.txt', 'b.txt', 'c.txt']) {
      await write(name, `${name.repeat(200)}\n`)
      await changes.undo({ paths: [file(name)] })
    }
    const names = () => tracker.review.undone.map(({ files }) => files[0]?.before.path.slice(root.length + 1))
    assert.deepEqual(names(), ['c.txt', 'b.txt', 'a.txt'])
    limits = { maxAgeMs: Number.POSITIVE_INFINITY, maxBytes: 2500 }
    tracker.files.dropCheckpoints()
    assert.deepEqual(names(), ['c.txt', 'b.txt'])
    limits = { maxAgeMs: Number.POSITIVE_INFINITY, maxBytes: 10 }
    await create()
    assert.deepEqual(names(), ['c.txt'])
    assert.deepEqual([...store.undone.keys()], [tracker.review.undone[0]?.id])
  })

  it('leaves an undo while it is being reverted or continued, and the others', async () => {
    begin(1)
    for (const name of ['a.txt', 'b.txt', 'c.txt']) {
      await write(name, `${name.repeat(200)}\n`)
      await changes.undo({ paths: [file(name)] })
    }
    const ids = () => tracker.review.undone.map(({ id }) => id)
    const [c, b, a] = tracker.review.undone
    limits = { maxAgeMs: Number.POSITIVE_INFINITY, maxBytes: 10 }
    const { end } = await tracker.review.beginUndo('s', b)
    const log = new UndoLog(store)
    await log.load()
    const reverting = tracker.review.restore(a!.id)
    await tracker.files.ready
    tracker.files.dropCheckpoints()
    assert.deepEqual(ids(), [c!.id, b!.id, a!.id])
    assert.deepEqual(await reverting, [])
    assert.deepEqual(ids(), [c!.id, b!.id])
    end()
    tracker.files.dropCheckpoints()
    assert.deepEqual(ids(), [c!.id])
    // one that is gone
    log.forget({ id: 'x', at: 0, files: [] })
    assert.equal(log.all.length, 3)
  })

  it('lists an undo again, with all of its files, if it was dropped before its second part', async () => {
    begin(1)
    await write('a.txt', 'one\n2\nthree\n')
    await write('b.txt', `${'x'.repeat(1000)}\n`)
    const { undone: into } = await changes.undo({ paths: [file('a.txt')] })
    await write('c.txt', 'c\n')
    await changes.undo({ paths: [file('c.txt')] })
    limits = { maxAgeMs: Number.POSITIVE_INFINITY, maxBytes: 0 }
    tracker.files.dropCheckpoints()
    assert.equal(tracker.review.undone.length, 1)
    await changes.undo({ paths: [file('b.txt')] }, { into: into! })
    assert.equal(tracker.review.undone[0], into)
    const stored = (await store.loadUndone()).find(({ id }) => id === into!.id)
    assert.equal(stored?.files.length, 2)
  })

  it('refers to the contents of each keep that can be undone', async () => {
    const bytes = [0, 1, 2].map(n => Buffer.from([0, n]))
    const hashes = bytes.map(one => createHash('sha256').update(one).digest('hex'))
    begin(1)
    writeFileSync(file('b.bin'), bytes[0]!)
    await tool('b.bin', () => writeFileSync(file('b.bin'), bytes[1]!))
    const first = changes.keep()
    limits = { maxAgeMs: -1, maxBytes: Number.POSITIVE_INFINITY }
    tracker.files.dropCheckpoints()
    await tool('b.bin', () => writeFileSync(file('b.bin'), bytes[2]!))
    const second = changes.keep()
    const used = new Set<string>()
    tracker.holders.addTo(used, true)
    for (const hash of hashes) assert.ok(used.has(hash))
    assert.deepEqual([first.paths, second.paths], [[file('b.bin')], [file('b.bin')]])
  })

  const itOnDisk = hasSqlite ? it : it.skip
  itOnDisk(
    'stays near the limit on disk, however many texts agents write and users revert while the window is open',
    async () => {
      const folder = join(root, 'store')
      const onDisk = new ChangesOnDisk(folder)
      const maxBytes = 50_000
      const limited = { maxAgeMs: Number.POSITIVE_INFINITY, maxBytes }
      tracker.dispose()
      tracker = new ChangeTracker({ files: shared, store: onDisk, checkpoints: () => limited })
      changes = new SessionChanges(tracker, 's', roots())
      await tracker.files.ready
      const stored = () =>
        readdirSync(join(folder, 'contents'), { recursive: true, withFileTypes: true })
          .filter(one => one.isFile())
          .reduce((sum, one) => sum + statSync(join(one.parentPath, one.name)).size, 0)
      let most = 0
      for (let turn = 1; turn <= 16; turn++) {
        begin(turn)
        await write('a.txt', `${turn} ${'x'.repeat(98)}\n`.repeat(200))
        await changes.endTurn()
        await changes.undo()
        await onDisk.flushed()
        most = Math.max(most, stored())
      }
      onDisk.dispose()
      // 320 kB were written, and as much was reverted
      assert.ok(most < 4 * maxBytes, `${most} bytes`)
      assert.ok(tracker.review.undone.length > 0)
    },
  )

  it('includes no changes of an earlier session with the same id', async () => {
    begin(1)
    await write('a.txt', 'one\n2\nthree\n')
    changes.clear()
    await tracker.files.ready
    await tracker.disk.refresh()
    assert.deepEqual(listed(1), [])
    assert.equal(store.files.size, 0)
  })
})

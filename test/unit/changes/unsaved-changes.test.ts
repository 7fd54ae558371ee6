import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { offerMerges } from '../../../src/app/changes/merge-unsaved.ts'
import { ChangeTracker } from '../../../src/changes/change-tracker.ts'
import { SessionChanges } from '../../../src/changes/session-changes.ts'
import { deferred } from '../../../src/common/async.ts'
import type { MergeAnswer } from '../../../src/editor/files/agent-write.ts'
import { disk } from '../../../src/editor/files/file-system.ts'
import { filesShared, SessionFiles } from '../../../src/editor/files/files.ts'
import { FakeEditor } from '../../support/fake-editor.ts'
import { MemoryStore } from '../../support/memory-tracker.ts'
import { scaledRuns } from '../../support/property-tests.ts'

/** A file that a user edits in the editor, and an agent through the client and on disk. */
class World {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), 'parley-unsaved-')))
  readonly path = join(this.root, 'a.txt')
  readonly editor = new FakeEditor()
  readonly tracker: ChangeTracker
  readonly changes: SessionChanges
  readonly files: SessionFiles
  /** what the user does when the agent changes lines with unsaved changes */
  answer: MergeAnswer = 'refuse'
  /** Called before the user answers. */
  beforeAnswer = () => {}
  asked = 0
  /** Called before the path of a reported file is checked, once. */
  beforeCheck: (() => Promise<void>) | undefined
  /** how often the agent was refused because another kind of editor has unsaved changes */
  refused = 0
  #calls = 0

  constructor(text: string) {
    writeFileSync(this.path, text)
    const realpath = async (path: string) => {
      const before = this.beforeCheck
      this.beforeCheck = undefined
      await before?.()
      return disk.realpath(path)
    }
    const shared = filesShared({ documents: this.editor, fileSystem: { ...disk, realpath } })
    this.tracker = new ChangeTracker({ files: shared, store: new MemoryStore() })
    this.editor.tracker = this.tracker
    const roots = { cwd: this.root, additionalDirectories: [] }
    this.changes = new SessionChanges(this.tracker, 's', roots)
    this.files = new SessionFiles(shared, {
      roots,
      askAccess: async () => 'refuse',
      askMerge: async () => {
        this.asked++
        this.beforeAnswer()
        return this.answer
      },
      onUnsaved: () => {
        this.refused++
      },
    })
    this.editor.open(this.path)
  }

  get disk(): string {
    return readFileSync(this.path, 'utf8')
  }

  get text(): string {
    return this.editor.textOf(this.path) ?? this.disk
  }

  type(text: string): void {
    this.editor.type(this.path, text)
  }

  /** Types, and resolves when it's known what the unsaved changes are based on. */
  async beginToType(text: string): Promise<void> {
    const isFirst = !this.editor.isDirty(this.path) && !this.tracker.files.at(this.path)
    if (!isFirst || text === this.text) return this.type(text)
    const begun = deferred()
    const listening = this.tracker.edits.onDidBeginEdit(() => begun.resolve())
    this.type(text)
    await begun.promise
    listening.dispose()
  }

  async write(content: string): Promise<void> {
    const { path } = this
    await this.changes.writing(path, content, tracked =>
      this.files.writeTextFile({ path, content }, undefined, tracked),
    )
    this.editor.reload()
  }

  /** The agent writes by itself and doesn't say so. */
  writeSilently(text: string): void {
    writeFileSync(this.path, text)
    this.editor.reload()
  }

  /** The agent writes by itself, and says so. */
  async writeOnDisk(newText: string): Promise<void> {
    const { path, disk: oldText } = this
    const toolCallId = `t${this.#calls++}`
    const diffs = [{ changes: [{ operation: 'modify' as const, path, oldText, newText }] }]
    await this.changes.tool({ toolCallId, begun: true, done: false }, diffs, [])
    writeFileSync(path, newText)
    this.editor.reload()
    await this.changes.tool({ toolCallId, begun: true, done: true }, diffs, [])
  }

  /** Reverts the agent's changes, and merges if the editor's text conflicts with the disk. */
  async revert(take: 'mine' | 'theirs' = 'mine'): Promise<void> {
    const { unchanged } = await this.changes.undo()
    if (unchanged.some(({ why }) => why === 'conflict')) {
      const merged = await this.tracker.review.unsavedMerge(this.path)
      assert.ok(merged)
      assert.ok(await this.tracker.review.merge(this.path, take, merged))
      await this.changes.undo()
    }
    this.editor.reload()
  }

  async settled(): Promise<void> {
    await this.tracker.disk.refresh()
    await this.tracker.disk.refresh()
  }

  dispose(): void {
    this.tracker.dispose()
    rmSync(this.root, { recursive: true, force: true })
  }
}

describe('unsaved changes of a file that an agent writes', () => {
  let world: World
  beforeEach(() => {
    world = new World('one\ntwo\nthree\n')
  })
  afterEach(() => world.dispose())

  it("that are saved while the agent's first report is looked at aren't the agent's", async () => {
    world.changes.beginTurn(1, () => true)
    const change = { operation: 'modify' as const, path: world.path, oldText: 'one\n', newText: 'ONE\n' }
    const report = (done: boolean) =>
      world.changes.tool({ toolCallId: 'first', begun: true, done }, [{ changes: [change] }], [])
    world.writeSilently('ONE\ntwo\nthree\n')
    const isRead = deferred()
    const isSaved = deferred()
    const { reader } = world.tracker
    const readWhole = reader.readWhole.bind(reader)
    reader.readWhole = async (...file) => {
      const read = await readWhole(...file)
      isRead.resolve()
      await isSaved.promise
      return read
    }
    const reported = report(true)
    await isRead.promise
    world.type('ONE\ntwo\nthree\nmine\n')
    await world.editor.save(world.path)
    isSaved.resolve()
    await reported
    await world.settled()
    await world.changes.endTurn()
    const [file] = world.changes.list()
    assert.deepEqual([file?.added, file?.removed, file?.uncertain], [1, 1, undefined])
    await world.revert()
    assert.equal(world.disk, 'one\ntwo\nthree\nmine\n')
  })

  /** Looks at the file during a turn: `before` runs before it's read, and `after` before the result is used. */
  async function readDuring(before: () => Promise<unknown>, after = async () => {}): Promise<void> {
    const { reader } = world.tracker
    const readWhole = reader.readWhole.bind(reader)
    const isAsked = deferred()
    const isReady = deferred()
    const isRead = deferred()
    const isDone = deferred()
    reader.readWhole = async (...file) => {
      reader.readWhole = readWhole
      isAsked.resolve()
      await isReady.promise
      const read = await readWhole(...file)
      isRead.resolve()
      await isDone.promise
      return read
    }
    const looking = world.tracker.disk.refresh()
    await isAsked.promise
    await before()
    isReady.resolve()
    await isRead.promise
    await after()
    isDone.resolve()
    await looking
    await world.settled()
  }

  it("that are saved twice while the file is read aren't the agent's", async () => {
    world.changes.beginTurn(1, () => true)
    await world.writeOnDisk('ONE\ntwo\nthree\n')
    const save = async (text: string) => {
      world.type(text)
      await world.editor.save(world.path)
    }
    await readDuring(
      () => save('ONE\ntwo\nthree\nmine\n'),
      () => save('ONE\ntwo\nthree\nmine\nmore\n'),
    )
    const [file] = world.changes.list()
    assert.deepEqual([file?.added, file?.removed, file?.uncertain], [1, 1, undefined])
    await world.revert()
    assert.equal(world.disk, 'one\ntwo\nthree\nmine\nmore\n')
  })

  it("that are saved and seen with the agent's next change leave that to its tool call", async () => {
    world.changes.beginTurn(1, () => true)
    await world.writeOnDisk('ONE\ntwo\nthree\n')
    const { path } = world
    const change = { operation: 'modify' as const, path, oldText: 'two\n', newText: 'TWO\n' }
    await world.changes.tool({ toolCallId: 'next', begun: true, done: false }, [{ changes: [change] }], [])
    await readDuring(async () => {
      world.type('ONE\ntwo\nthree\nmine\n')
      await world.editor.save(path)
      world.writeSilently('ONE\nTWO\nthree\nmine\n')
    })
    const [file] = world.changes.list()
    assert.deepEqual([file?.added, file?.removed, file?.uncertain], [2, 2, undefined])
    await world.revert()
    assert.equal(world.disk, 'one\ntwo\nthree\nmine\n')
  })

  it("that are seen with the agent's next change before the editor reports the save leave that to its tool call", async () => {
    world.changes.beginTurn(1, () => true)
    await world.writeOnDisk('ONE\ntwo\nthree\n')
    const { path } = world
    const change = { operation: 'modify' as const, path, oldText: 'two\n', newText: 'TWO\n' }
    await world.changes.tool({ toolCallId: 'next', begun: true, done: false }, [{ changes: [change] }], [])
    const isSeen = deferred()
    let saved: Promise<void> | undefined
    await readDuring(async () => {
      // what the editor reports about the document is handled after the look
      world.editor.revert(path)
      world.type('ONE\ntwo\nthree\nmine\n')
      saved = world.editor.save(path, () => isSeen.promise)
      world.writeSilently('ONE\nTWO\nthree\nmine\n')
    })
    isSeen.resolve()
    await saved
    await world.settled()
    const [file] = world.changes.list()
    assert.deepEqual([file?.added, file?.removed, file?.uncertain], [2, 2, undefined])
    await world.revert()
    assert.equal(world.disk, 'one\ntwo\nthree\nmine\n')
  })

  it("that are saved while the file is read aren't the agent's if the user types on at once", async () => {
    world.changes.beginTurn(1, () => true)
    await world.writeOnDisk('ONE\ntwo\nthree\n')
    await readDuring(
      async () => {
        world.type('ONE\ntwo\nthree\nmine\n')
        await world.editor.save(world.path)
      },
      async () => world.type('ONE\ntwo\nthree\nmine\nmore\n'),
    )
    const [file] = world.changes.list()
    assert.deepEqual([file?.added, file?.removed, file?.uncertain], [1, 1, undefined])
    await world.editor.save(world.path)
    await world.settled()
    await world.revert()
    assert.equal(world.disk, 'one\ntwo\nthree\nmine\nmore\n')
  })

  it('are saved without the lines of an agent that deletes the file, whose reports are late', async () => {
    const before = (await world.tracker.reader.stateOf(world.path))!
    world.changes.beginTurn(1, () => true)
    world.writeSilently('ONE\ntwo\nthree\n')
    world.type('ONE\ntwo\nthree\nmine\n')
    rmSync(world.path)
    // the path of the first report takes longer to check than that of the second
    world.beforeCheck = async () => {
      for (let i = 0; i < 50; i++) await disk.realpath(world.root)
    }
    const change = { operation: 'modify' as const, path: world.path, oldText: 'one\n', newText: 'ONE\n' }
    const report = (done: boolean) =>
      world.changes.tool({ toolCallId: 'late', begun: true, done }, [{ changes: [change] }], [])
    await Promise.all([report(false), report(true)])
    await world.changes.noticed([{ path: world.path, before }], 1)
    const [deleted] = world.changes.list()
    assert.deepEqual([deleted?.status, deleted?.removed, deleted?.uncertain], ['deleted', 3, 'some'])
    await world.changes.endTurn()
    await world.editor.save(world.path)
    await world.settled()
    const [saved] = world.changes.list()
    assert.deepEqual([saved?.added, saved?.removed, saved?.uncertain], [1, 1, undefined])
    await world.revert()
    assert.equal(world.disk, 'one\ntwo\nthree\nmine\n')
  })

  it("aren't the agent's, nor reverted, if it writes other lines through the client", async () => {
    world.type('one\ntwo\nthree\nmine\n')
    await world.write('ONE\ntwo\nthree\n')
    assert.equal(world.disk, 'ONE\ntwo\nthree\nmine\n')
    const [file] = world.changes.list()
    assert.deepEqual([file?.added, file?.removed], [1, 1])
    await world.revert()
    assert.equal(world.disk, 'one\ntwo\nthree\nmine\n')
  })

  it("stay unsaved, and aren't listed, if the agent writes what's on disk", async () => {
    world.type('one\nmine\nthree\n')
    await world.write('one\ntwo\nthree\n')
    assert.equal(world.text, 'one\nmine\nthree\n')
    assert.equal(world.editor.isDirty(world.path), true)
    assert.deepEqual(world.changes.list(), [])
  })

  it('stay if the user refuses, and none of the agent is listed', async () => {
    world.type('one\nmine\nthree\n')
    await assert.rejects(world.write('one\n2\nthree\n'))
    assert.equal(world.text, 'one\nmine\nthree\n')
    assert.equal(world.disk, 'one\ntwo\nthree\n')
    assert.deepEqual(world.changes.list(), [])
  })

  it('include what the user types while Parley asks', async () => {
    world.answer = 'theirs'
    world.beforeAnswer = () => {
      if (world.asked < 3) world.type(`one\nmine ${world.asked}\nthree\n`)
      else world.answer = 'mine'
    }
    world.type('one\nmine\nthree\n')
    await world.write('one\n2\nthree\nfour\n')
    assert.equal(world.disk, 'one\nmine 2\nthree\nfour\n')
    await world.revert()
    assert.equal(world.disk, 'one\nmine 2\nthree\n')
  })

  it('are replaced if the user agrees, and come back with Revert', async () => {
    world.answer = 'theirs'
    world.type('one\nmine\nthree\n')
    await world.write('one\n2\nthree\n')
    assert.equal(world.disk, 'one\n2\nthree\n')
    await world.revert()
    assert.equal(world.disk, 'one\nmine\nthree\n')
  })

  it('are merged with what the agent wrote to disk, and only that is reverted', async () => {
    const conflicts: string[] = []
    world.tracker.disk.onDidConflict(path => conflicts.push(path))
    world.type('one\ntwo\nthree\nmine\n')
    await world.writeOnDisk('ONE\ntwo\nthree\n')
    await world.writeOnDisk('ONE\nTWO\nthree\n')
    assert.deepEqual(conflicts, [world.path], 'told once')
    assert.deepEqual(
      (await world.changes.undo()).unchanged.map(({ why }) => why),
      ['conflict'],
    )
    const merged = await world.tracker.review.unsavedMerge(world.path)
    assert.deepEqual(merged?.conflicts, [])
    assert.ok(await world.tracker.review.merge(world.path, 'mine', merged!))
    assert.equal(world.disk, 'ONE\nTWO\nthree\nmine\n')
    assert.equal(world.text, world.disk)
    assert.equal(world.editor.isDirty(world.path), false)
    const [file] = world.changes.list()
    assert.deepEqual([file?.added, file?.removed], [2, 2])
    await world.revert()
    assert.equal(world.disk, 'one\ntwo\nthree\nmine\n')
  })

  it('stay when the changes are reverted beside them, and when that is undone', async () => {
    await world.writeOnDisk('ONE\ntwo\nthree\n')
    world.type('ONE\ntwo\nthree\nmine\n')
    const { undone } = await world.changes.undo()
    assert.equal(world.text, 'one\ntwo\nthree\nmine\n')
    assert.deepEqual(await world.tracker.review.restore(undone!.id), [])
    assert.equal(world.text, 'ONE\ntwo\nthree\nmine\n')
    assert.equal(world.disk, 'ONE\ntwo\nthree\n')
    assert.deepEqual(
      world.changes.hunks(world.path).map(({ start }) => start),
      [0],
    )
    await world.editor.find([world.path])!.save()
    await world.settled()
    assert.equal(world.disk, 'ONE\ntwo\nthree\nmine\n')
    const [file] = world.changes.list()
    assert.deepEqual([file?.added, file?.removed], [1, 1])
    await world.revert()
    assert.equal(world.disk, 'one\ntwo\nthree\nmine\n')
  })

  it('can stay where the agent changed the same lines on disk, or give way', async () => {
    world.type('one\nmine\nthree\n')
    await world.writeOnDisk('one\n2\nthree\n')
    const merged = await world.tracker.review.unsavedMerge(world.path)
    assert.deepEqual(merged?.conflicts, [{ line: 2, mine: 'mine\n', theirs: '2\n' }])
    world.type('one\nmine, too\nthree\n')
    assert.equal(
      await world.tracker.review.merge(world.path, 'theirs', merged!),
      false,
      'not the lines asked about',
    )
    const again = await world.tracker.review.unsavedMerge(world.path)
    assert.ok(await world.tracker.review.merge(world.path, 'theirs', again!))
    assert.equal(world.disk, 'one\n2\nthree\n')
  })

  it("leave nothing of the agent to review where they stay instead of the agent's lines", async () => {
    world.type('one\nmine\nthree\n')
    await world.writeOnDisk('one\n2\nthree\nfour\n')
    const merged = await world.tracker.review.unsavedMerge(world.path)
    assert.ok(await world.tracker.review.merge(world.path, 'mine', merged!))
    assert.equal(world.disk, 'one\nmine\nthree\nfour\n')
    const [file] = world.changes.list()
    assert.deepEqual([file?.added, file?.removed], [1, 0])
    assert.deepEqual((await world.changes.undo()).unchanged, [])
    world.editor.reload()
    assert.equal(world.disk, 'one\nmine\nthree\n')
  })

  it('are merged with what the agent wrote to disk if it then writes through the client', async () => {
    world.type('one\ntwo\nthree\nmine\n')
    await world.writeOnDisk('ONE\ntwo\nthree\n')
    await world.write('ONE\nTWO\nthree\n')
    assert.equal(world.disk, 'ONE\nTWO\nthree\nmine\n')
    assert.equal(world.asked, 0)
    await world.revert()
    assert.equal(world.disk, 'one\ntwo\nthree\nmine\n')
  })

  // opencode writes a file by itself, and then sends the same text
  for (const [how, writeOnDisk] of [
    ['with a report', (text: string) => world.writeOnDisk(text)],
    ['without a report', async (text: string) => world.writeSilently(text)],
  ] as const) {
    it(`are merged with what the agent wrote to disk ${how}, and then through the client, too`, async () => {
      await world.beginToType('one\ntwo\nthree\nmine\n')
      await writeOnDisk('ONE\ntwo\nthree\n')
      await world.write('ONE\ntwo\nthree\n')
      assert.equal(world.disk, 'ONE\ntwo\nthree\nmine\n')
      assert.equal(world.text, world.disk)
      assert.deepEqual([world.editor.isDirty(world.path), world.asked], [false, 0])
      const [file] = world.changes.list()
      assert.deepEqual([file?.added, file?.removed], [1, 1])
      await world.revert()
      assert.equal(world.disk, 'one\ntwo\nthree\nmine\n')
    })

    it(`are asked about if the agent wrote the same lines to disk ${how}, and then through the client, too`, async () => {
      world.answer = 'mine'
      await world.beginToType('one\nmine\nthree\n')
      await writeOnDisk('one\n2\nthree\nfour\n')
      await world.write('one\n2\nthree\nfour\n')
      assert.equal(world.asked, 1)
      assert.equal(world.disk, 'one\nmine\nthree\nfour\n')
      assert.equal(world.text, world.disk)
    })
  }

  it('stay as they are if they were typed after what the agent wrote to disk, and then through the client', async () => {
    world.writeSilently('ONE\ntwo\nthree\n')
    world.type('ONE\nmine\nthree\n')
    await world.write('ONE\ntwo\nthree\n')
    assert.equal(world.text, 'ONE\nmine\nthree\n')
    assert.deepEqual([world.editor.isDirty(world.path), world.asked], [true, 0])
  })

  it("stay the user's if the agent writes the same through the client, after it wrote something else to disk", async () => {
    world.type('mine\none\ntwo\nthree\n')
    await world.writeOnDisk('ONE\ntwo\nthree\n')
    await world.write('mine\none\ntwo\nthree\n')
    assert.equal(world.disk, 'mine\none\ntwo\nthree\n')
    await world.revert()
    assert.equal(world.disk, 'mine\none\ntwo\nthree\n')
  })

  it('conflict with what a command wrote, which is told', async () => {
    const conflicts: string[] = []
    world.tracker.disk.onDidConflict(path => conflicts.push(path))
    await world.beginToType('one\ntwo\nthree\nmine\n')
    const { path } = world
    world.writeSilently('ONE\ntwo\nthree\n')
    await world.changes.noticed([{ path, before: 'one\ntwo\nthree\n' }])
    assert.deepEqual(conflicts, [path])
    const merged = await world.tracker.review.unsavedMerge(path)
    assert.equal(merged?.mine, 'ONE\ntwo\nthree\nmine\n')
  })

  it('in a notebook or custom editor refuse the agent, and conflict with what it writes to disk, which is told once', async () => {
    const conflicts: string[] = []
    world.tracker.disk.onDidConflict(path => conflicts.push(path))
    const shown: string[] = []
    const dialogs = { warn: async (...texts: string[]) => void shown.push(texts.join(' | ')) }
    offerMerges({ workbench: { dialogs } as never, tracker: world.tracker })
    const { path } = world
    world.editor.close(path)
    world.editor.elsewhere.add(path)
    await assert.rejects(world.write('ONE\ntwo\nthree\n'), { reason: 'unsaved' })
    await assert.rejects(world.files.readTextFile({ path }), { reason: 'unsaved' })
    assert.deepEqual([world.disk, world.changes.list(), conflicts], ['one\ntwo\nthree\n', [], []])
    assert.equal(world.refused, 2)
    await world.writeOnDisk('ONE\ntwo\nthree\n')
    await world.writeOnDisk('ONE\nTWO\nthree\n')
    assert.deepEqual(shown, ['An agent changed a.txt on disk while it has unsaved changes.'])
    assert.deepEqual(conflicts, [path])
    world.editor.elsewhere.clear()
    await world.write('ONE\nTWO\n3\n')
    assert.equal(world.disk, 'ONE\nTWO\n3\n')
  })

  it("don't conflict with what a command wrote before they were typed", async () => {
    const conflicts: string[] = []
    world.tracker.disk.onDidConflict(path => conflicts.push(path))
    const { path } = world
    world.writeSilently('ONE\ntwo\nthree\n')
    world.type('ONE\ntwo\nthree\nmine\n')
    await world.changes.noticed([{ path, before: 'one\ntwo\nthree\n' }])
    assert.deepEqual(conflicts, [])
    await world.revert()
    assert.equal(world.text, 'one\ntwo\nthree\nmine\n')
  })

  it('show in a checkpoint that they conflict', async () => {
    world.changes.beginTurn(1, () => true)
    world.type('one\ntwo\nthree\nmine\n')
    await world.writeOnDisk('ONE\ntwo\nthree\n')
    await world.changes.endTurn()
    const [file] = world.changes.checkpoint(1)
    assert.deepEqual([file?.unchangedBecause, file?.added, file?.removed], ['conflict', 1, 1])
  })
})

const WHAT = [
  'type',
  'type',
  'type',
  'save',
  'read',
  'write',
  'write',
  'write',
  'write on disk',
  'write on disk',
  'write on disk, then through the client',
  'write on disk, then through the client',
  'revert',
  'undo the revert',
  'close',
] as const
const step = fc.record({
  what: fc.constantFrom(...WHAT),
  at: fc.nat(10),
  count: fc.nat(2),
  add: fc.nat(2),
  answer: fc.constantFrom<MergeAnswer>('mine', 'theirs', 'refuse'),
})

describe('unsaved changes of a file that an agent writes (property)', () => {
  it('are never lost, whatever the interleaving', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 3, maxLength: 14 }),
        fc.boolean(),
        async (steps, readsDisk) => {
          let next = 0
          const fresh = (who: string, count: number) =>
            Array.from({ length: count }, () => `${who}${next++}\n`)
          const linesOf = (text: string) => text.split(/(?<=\n)/).filter(line => line !== '')
          const world = new World(fresh('user', 6).join(''))
          /** the user's lines that nobody may take */
          let own = new Set(linesOf(world.disk))
          /** the user's lines that an agent took */
          const taken = new Set<string>()
          let read: string | undefined
          /** what was on disk when the file had no unsaved changes */
          let based = world.disk
          const edited = (text: string, who: string, { at, count, add }: (typeof steps)[number]) => {
            const lines = linesOf(text)
            const gone = lines.splice(at % (lines.length + 1), count, ...fresh(who, add))
            return { text: lines.join(''), gone }
          }
          try {
            for (const one of steps) {
              const { what, answer } = one
              const shown = linesOf(world.text)
              const isDirty = world.editor.isDirty(world.path)
              world.answer = answer
              const asked = world.asked
              const saved = linesOf(world.disk)
              /** lines that the agent removes because it has seen them, or because the user agrees */
              let given: string[] = []
              if (what === 'type') {
                if (world.editor.textOf(world.path) === undefined) world.editor.open(world.path)
                const { text, gone } = edited(world.text, 'user', one)
                await world.beginToType(text)
                given = gone
              } else if (what === 'save') {
                const before = linesOf(world.disk)
                if (!isDirty) continue
                // as VS Code, which doesn't overwrite a newer file
                await world.editor.find([world.path])!.save()
                given = before
              } else if (what === 'read')
                read = readsDisk ? world.disk : await world.files.readTextFile({ path: world.path })
              else if (what === 'write') {
                const from = readsDisk ? world.disk : read
                if (from === undefined) continue
                const { text, gone } = edited(from, 'agent', one)
                const before = world.disk
                await world.write(text).catch((error: { reason?: string }) => {
                  assert.equal(error.reason, 'refused')
                })
                read = text
                given = gone
                if (world.asked > asked && answer === 'theirs') given = shown
                if (isDirty && text === before && text === based)
                  assert.deepEqual(linesOf(world.text), shown, 'the buffer was touched')
              } else if (what.startsWith('write on disk')) {
                const { disk } = world
                const { text, gone } = edited(disk, 'agent', one)
                given = gone
                await world.writeOnDisk(text)
                if (what !== 'write on disk') {
                  await world.write(text).catch((error: { reason?: string }) => {
                    assert.equal(error.reason, 'refused')
                  })
                  read = text
                  if (world.asked > asked && answer === 'theirs') given = shown
                  if (world.asked === asked && text !== based) {
                    assert.equal(world.text, world.disk, 'the editor shows another text')
                    const isMissing = linesOf(text).some(
                      line => !disk.includes(line) && !world.disk.includes(line),
                    )
                    assert.equal(isMissing, false, "the agent's lines are lost")
                  }
                }
              } else if (what === 'revert') await world.revert()
              else if (what === 'undo the revert') {
                const [last] = world.tracker.review.undone
                // what the agent had replaced
                given = (last?.files ?? []).flatMap(({ before, after }) =>
                  linesOf(after.text).filter(line => !linesOf(before.text).includes(line)),
                )
                if (last) await world.tracker.review.restore(last.id)
                world.editor.reload()
              } else if (!isDirty) world.editor.close(world.path)
              await world.settled()
              if (!world.editor.isDirty(world.path)) based = world.disk
              for (const line of given) own.delete(line)
              const now = linesOf(world.text)
              // what was saved before can be restored
              const known = JSON.stringify(world.tracker.views.at(world.path)?.store() ?? null)
              const isRestorable = (line: string) =>
                what === 'write' && saved.includes(line) && known.includes(line.trim())
              for (const line of own)
                assert.ok(
                  now.includes(line) || isRestorable(line),
                  `${line.trim()} is lost after ${what}: ${now.join(' ')}`,
                )
              // an agent may bring back what the user has removed, and remove what is still in the editor
              if (what === 'revert') taken.clear()
              const isAgents = what.startsWith('write') || what === 'undo the revert'
              const back = now.filter(line => line.startsWith('user') && !own.has(line))
              for (const line of isAgents ? [...given, ...back] : []) taken.add(line)
              const isOwn = (line: string) => line.startsWith('user') && !taken.has(line)
              own = new Set(now.filter(line => isOwn(line) && (!isAgents || own.has(line))))
              for (const line of given) own.delete(line)
              assert.equal(
                new Set(now).size,
                now.length,
                `a line is there twice after ${what}: ${now.join(' ')}`,
              )
            }
          } finally {
            world.dispose()
          }
        },
      ),
      { numRuns: scaledRuns(100) },
    )
  })
})

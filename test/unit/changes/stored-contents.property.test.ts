import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
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
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { ChangeTracker } from '../../../src/changes/change-tracker.ts'
import { type Snapshot, WorkTree } from '../../../src/changes/detect/work-tree.ts'
import { type KeptChanges, SessionChanges } from '../../../src/changes/session-changes.ts'
import { noDocuments } from '../../../src/editor/files/documents.ts'
import { disk } from '../../../src/editor/files/file-system.ts'
import { filesShared } from '../../../src/editor/files/files.ts'
import { ChangesOnDisk, databaseOf, hasSqlite } from '../../support/changes-on-disk.ts'
import { scaledRuns } from '../../support/property-tests.ts'
import { until } from '../../support/until.ts'

const NAMES = ['x.bin', 'y.bin', 'z.bin']
/** of a file, bytes */
const SIZE = 10_000
const LIMIT = 8 * SIZE
/** in milliseconds: what isn't used by then, twice, is removed */
const TIMES = { collectAfter: 250 }

/** A folder without a repository, where an agent writes binary files. */
class World {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), 'parley-contents-')))
  readonly storage = mkdtempSync(join(tmpdir(), 'parley-contents-storage-'))
  readonly written = new Map<string, Buffer>()
  store!: ChangesOnDisk
  tracker!: ChangeTracker
  changes!: SessionChanges
  turn: { tree: WorkTree; before: Snapshot } | undefined
  kept: KeptChanges | undefined
  turns = 0
  #next = 0

  async open(): Promise<void> {
    const files = filesShared({ documents: noDocuments, fileSystem: disk })
    this.store = new ChangesOnDisk(this.storage, { times: TIMES })
    const trash = (path: string) => disk.remove(path)
    const limits = { maxAgeMs: Number.POSITIVE_INFINITY, maxBytes: LIMIT }
    this.tracker = new ChangeTracker({ files, store: this.store, trash, checkpoints: () => limits })
    this.changes = new SessionChanges(this.tracker, 's', { cwd: this.root, additionalDirectories: [] })
    this.turn = undefined
    this.kept = undefined
    await this.tracker.files.ready
  }

  async close(): Promise<void> {
    await this.changes.refresh()
    this.tracker.dispose()
    await this.store.flushed()
    this.store.dispose()
  }

  write(name: string): void {
    const bytes = Buffer.alloc(SIZE)
    bytes.write(`${this.#next++}`, 100)
    this.written.set(createHash('sha256').update(bytes).digest('hex'), bytes)
    writeFileSync(join(this.root, name), bytes)
  }

  get blobs(): string[] {
    const folder = join(this.storage, 'contents')
    if (!existsSync(folder)) return []
    return readdirSync(folder, { recursive: true, encoding: 'utf8' }).flatMap(name => {
      const hash = name.slice(3)
      return hash.length === 64 ? hash : []
    })
  }

  /** All that what is stored names: tracked files, checkpoints and undos. */
  named(): Set<string> {
    const records = ['changed_files', 'undone_files'].flatMap(table =>
      this.sql(`SELECT record FROM ${table}`).map(({ record }) => String(record)),
    )
    return new Set(records.flatMap(record => record.match(/\b[0-9a-f]{64}\b/g) ?? []))
  }

  sql(text: string): Array<Record<string, unknown>> {
    const { DatabaseSync } = process.getBuiltinModule('node:sqlite')
    const db = new DatabaseSync(databaseOf(this.storage))
    try {
      return db.prepare(text).all()
    } finally {
      db.close()
    }
  }

  /** `isLate`: contents could be removed before the changes are noticed. */
  async look(isLate = false): Promise<void> {
    if (!this.turn) return
    const { changes } = await this.turn.tree.changed(this.turn.before)
    if (isLate) {
      const removed = await this.store.put(Buffer.from(`unused ${this.#next++}`))
      await until(async () => !(await this.store.get(removed)), 'what nothing uses to be removed')
    }
    await this.changes.noticed(changes, this.turns)
  }

  dispose(): void {
    this.tracker.dispose()
    this.store.dispose()
    for (const folder of [this.root, this.storage]) rmSync(folder, { recursive: true, force: true })
  }
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
}

const WHAT = [
  'begin a turn',
  'begin a turn',
  'end a turn',
  'write by a tool call',
  'write by a command',
  'write by a command',
  'write by a command, noticed late',
  'write by the user',
  'delete by a command',
  'keep',
  'undo the last keep',
  'undo',
  'restore',
  'reload',
  'another window',
  'wait',
] as const
interface Step {
  what: (typeof WHAT)[number]
  name: string
}
const step: fc.Arbitrary<Step> = fc.record({
  what: fc.constantFrom(...WHAT),
  name: fc.constantFrom(...NAMES),
})

async function take(world: World, { what, name }: Step): Promise<void> {
  const { changes, tracker } = world
  const path = join(world.root, name)
  switch (what) {
    case 'begin a turn': {
      if (world.turn) await take(world, { what: 'end a turn', name })
      const tree = new WorkTree(changes)
      const taking = tree.snapshot([world.root], Number.POSITIVE_INFINITY)
      changes.beginTurn(++world.turns, () => true)
      world.turn = { tree, before: await taking }
      return
    }
    case 'end a turn':
      await world.look()
      world.turn = undefined
      return changes.endTurn()
    case 'write by a tool call':
      await changes.tool({ toolCallId: 't', begun: true, done: false }, [], [path])
      world.write(name)
      return changes.tool({ toolCallId: 't', begun: true, done: true }, [], [path])
    case 'write by a command':
      if (!world.turn) return
      world.write(name)
      return world.look()
    case 'write by a command, noticed late':
      if (!world.turn) return
      world.write(name)
      return world.look(true)
    case 'delete by a command':
      if (!world.turn) return
      rmSync(path, { force: true })
      return world.look()
    case 'write by the user':
      if (world.turn) return
      world.write(name)
      return changes.refresh()
    case 'keep':
      world.kept = changes.keep()
      return
    case 'undo the last keep':
      await world.kept?.undo()
      return
    case 'undo':
      await changes.undo()
      return
    case 'restore': {
      const [last] = tracker.review.undone
      if (last) await tracker.review.restore(last.id)
      return
    }
    case 'reload':
      await world.close()
      return world.open()
    case 'another window': {
      const other = new ChangesOnDisk(world.storage, { times: TIMES })
      await other.load()
      await other.loadUndone()
      other.dispose()
      return
    }
    case 'wait': {
      const start = performance.now()
      await until(() => performance.now() - start > 2 * TIMES.collectAfter, 'some time to pass')
    }
  }
}

const describeStored = hasSqlite ? describe : describe.skip
describeStored('contents of binary files that are stored (property)', () => {
  it('stay while something names them, and no longer', async () => {
    const steps = fc.array(step, { minLength: 5, maxLength: 30 })
    await fc.assert(
      fc.asyncProperty(steps, async steps => {
        const world = new World()
        try {
          await world.open()
          for (const name of NAMES) world.write(name)
          for (const one of steps) {
            await take(world, one)
            const used = world.tracker.files.values().flatMap(({ contents }) => contents)
            for (const hash of used)
              assert.deepEqual(await world.store.get(hash), world.written.get(hash), `after ${one.what}`)
            for (const { hash } of world.turn?.before.folders.flatMap(({ files }) => [...files.values()]) ??
              [])
              if (hash !== undefined)
                assert.ok(await world.store.get(hash), `at the start before ${one.what}`)
          }
          if (world.turn) await take(world, { what: 'end a turn', name: 'x.bin' })
          await world.store.flushed()
          for (const hash of world.named())
            assert.ok(!world.written.has(hash) || (await world.store.get(hash)))
          // what an earlier window hadn't removed yet goes when one loads later
          await take(world, { what: 'reload', name: 'x.bin' })
          const early = new Set(world.written.keys())
          for (const hash of world.named()) early.delete(hash)
          await take(world, { what: 'begin a turn', name: 'x.bin' })
          await take(world, { what: 'write by a command', name: 'x.bin' })
          await take(world, { what: 'write by a command', name: 'x.bin' })
          await take(world, { what: 'end a turn', name: 'x.bin' })
          await world.store.flushed()
          const now = NAMES.map(name => join(world.root, name)).filter(path => existsSync(path))
          const hashes = now.map(path => createHash('sha256').update(readFileSync(path)).digest('hex'))
          const unused = () => {
            const used = new Set([...world.named(), ...hashes])
            return world.blobs.filter(hash => world.written.has(hash) && !early.has(hash) && !used.has(hash))
          }
          await until(() => unused().length === 0, 'what nothing names to be removed')
        } finally {
          world.dispose()
        }
      }),
      { numRuns: scaledRuns(12) },
    )
  })

  it('stay near the limit while turns write them', async () => {
    const world = new World()
    try {
      await world.open()
      const bytes = () =>
        world.blobs.reduce((sum, hash) => {
          const file = join(world.storage, 'contents', hash.slice(0, 2), hash)
          return sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0)
        }, 0)
      for (let i = 0; i < 20; i++) {
        await take(world, { what: 'begin a turn', name: 'x.bin' })
        for (const name of NAMES) await take(world, { what: 'write by a command', name })
        await take(world, { what: 'end a turn', name: 'x.bin' })
        world.changes.keep()
        if (i % 10 !== 9) continue
        // a keep that nothing can undo anymore refers to its contents until it is collected
        collectGarbage()
        await until(() => bytes() <= 2 * LIMIT, 'the stored bytes to be near the limit')
      }
      for (let i = 0; i < 6; i++) {
        await take(world, { what: 'begin a turn', name: 'x.bin' })
        for (const name of NAMES) await take(world, { what: 'write by a command', name })
        await take(world, { what: 'end a turn', name: 'x.bin' })
        await world.changes.undo()
      }
      await until(() => bytes() <= 2 * LIMIT, 'the stored bytes with undos to be near the limit')
    } finally {
      world.dispose()
    }
  })

  it('stay if an undo that cannot be read names them, or if another window uses them', async () => {
    const world = new World()
    try {
      await world.open()
      const [hash, other] = [await world.store.put(Buffer.alloc(10)), await world.store.put(Buffer.alloc(20))]
      const value = { type: 'binary' as const, hash, size: 10, mode: 0o644 }
      const file = {
        path: '/a',
        text: '',
        segments: [],
        attributes: [{ value, by: 'user' as const, seq: 0 }],
      }
      await world.store.addUndone({ id: 'u', at: Date.now() }, [{ before: file, after: file }])
      world.sql("UPDATE undone_files SET record = '{'")
      const window = new ChangesOnDisk(world.storage, { times: TIMES })
      await window.put(Buffer.alloc(20))
      await take(world, { what: 'wait', name: '' })
      await take(world, { what: 'wait', name: '' })
      assert.ok((await world.store.get(hash)) && (await world.store.get(other)))
      world.store.forgetUndone('u')
      await until(
        async () => (await world.store.get(hash)) === undefined,
        'the content that nothing uses to be removed',
      )
      assert.ok(await world.store.get(other))
      window.dispose()
      await world.store.put(Buffer.alloc(30))
      await until(
        async () => (await world.store.get(other)) === undefined,
        'the content that no window uses anymore to be removed',
      )
    } finally {
      world.dispose()
    }
  })
})

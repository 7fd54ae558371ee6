import assert from 'node:assert/strict'
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import type { FileChange } from '../../../src/acp/model.ts'
import { ChangeTracker } from '../../../src/changes/change-tracker.ts'
import { TrackedFile } from '../../../src/changes/model/tracked-file.ts'
import { SessionChanges } from '../../../src/changes/session-changes.ts'
import { disk } from '../../../src/editor/files/file-system.ts'
import { filesShared, SessionFiles } from '../../../src/editor/files/files.ts'
import { FakeEditor } from '../../support/fake-editor.ts'
import { MemoryStore } from '../../support/memory-tracker.ts'
import { scaledRuns } from '../../support/property-tests.ts'

const NAMES = ['x.txt', 'y.txt', 'z.txt']

const WHAT = [
  'work',
  'rest',
  'begin a turn',
  'begin a turn',
  'write through the client',
  'write through the client',
  'write by a tool call',
  'write by a tool call',
  'delete by an agent',
  'type',
  'save',
  'write by another program',
  'keep',
  'keep a hunk',
  'undo a hunk',
  'restore a checkpoint',
  'restore a checkpoint',
  'undo a restore',
  'reload',
] as const

interface Place {
  at: number
  count: number
  add: number
}
type Step = Place & { what: (typeof WHAT)[number]; name: string; session: string }

const step: fc.Arbitrary<Step> = fc.record({
  what: fc.constantFrom(...WHAT),
  name: fc.constantFrom(...NAMES),
  session: fc.constantFrom('a', 'a', 'b'),
  at: fc.nat(12),
  count: fc.nat(3),
  add: fc.nat(2),
})

/** All files at the start of a turn, and what anyone but its session changed since then. */
interface Snapshot {
  turn: number
  files: Map<string, string | undefined>
  /** files that someone else changed since then */
  touched: Set<string>
}

/** A folder that a user, another program and two sessions change. Every line is unique and has an author. */
class World {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), 'parley-checkpoints-')))
  readonly store = new MemoryStore()
  readonly editor = new FakeEditor()
  readonly shared = filesShared({ documents: this.editor, fileSystem: disk })
  readonly turns = new Map([
    ['a', 0],
    ['b', 0],
  ])
  readonly snapshots = new Map<string, Snapshot[]>([
    ['a', []],
    ['b', []],
  ])
  /** the user's lines that the user removed */
  readonly removed = new Set<string>()
  readonly written = new Set<string>()
  /** sessions whose turns may be changing files */
  readonly working = new Set<string>()
  tracker!: ChangeTracker
  sessions!: Map<string, SessionChanges>
  #next = 0
  #calls = 0

  constructor() {
    for (const name of NAMES.slice(0, 2)) writeFileSync(this.path(name), this.fresh('user', 6).join(''))
    this.start()
    for (const session of ['a', 'b']) this.begin(session)
  }

  start(): void {
    this.tracker = new ChangeTracker({ files: this.shared, store: this.store })
    this.editor.tracker = this.tracker
    const roots = { cwd: this.root, additionalDirectories: [] }
    this.sessions = new Map(['a', 'b'].map(name => [name, new SessionChanges(this.tracker, name, roots)]))
    for (const session of this.turns.keys()) this.run(session)
  }

  begin(session: string): void {
    const turn = this.turns.get(session)! + 1
    this.turns.set(session, turn)
    this.run(session)
    const files = new Map(NAMES.map(name => [name, this.on(name)]))
    // unsaved text belongs to the user, whenever it's saved
    const touched = new Set(NAMES.filter(name => this.editor.isDirty(this.path(name))))
    this.snapshots.get(session)!.push({ turn, files, touched })
  }

  run(session: string): void {
    this.sessions.get(session)!.beginTurn(this.turns.get(session)!, () => this.working.has(session))
  }

  path(name: string): string {
    return join(this.root, name)
  }

  fresh(who: string, count: number): string[] {
    const lines = Array.from({ length: count }, () => `${who}${this.#next++}\n`)
    if (who === 'user') for (const line of lines) this.written.add(line)
    return lines
  }

  /** Records that someone other than the agent of `session` changed the file. */
  touch(name: string, session?: string): void {
    for (const [owner, snapshots] of this.snapshots)
      if (owner !== session) for (const { touched } of snapshots) touched.add(name)
  }

  on(name: string): string | undefined {
    return existsSync(this.path(name)) ? readFileSync(this.path(name), 'utf8') : undefined
  }

  lines(name: string): string[] {
    const path = this.path(name)
    const seen = this.editor.isDirty(path) ? this.editor.textOf(path) : this.on(name)
    return (seen ?? '').split(/(?<=\n)/).filter(line => line !== '')
  }

  visible(): Set<string> {
    return new Set(NAMES.flatMap(name => [...this.lines(name), ...(this.on(name) ?? '').split(/(?<=\n)/)]))
  }

  edited(name: string, who: string, { at, count, add }: Place): string {
    const lines = this.lines(name)
    const gone = lines.splice(at % (lines.length + 1), count, ...this.fresh(who, add))
    if (who === 'user') for (const line of gone) this.removed.add(line)
    return lines.join('')
  }

  callId(): string {
    return `t${this.#calls++}`
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

async function take(world: World, { what, name, session, ...place }: Step): Promise<void> {
  const path = world.path(name)
  const { editor, tracker } = world
  const changes = world.sessions.get(session)!
  const exists = world.on(name) !== undefined
  const dirty = editor.isDirty(path)
  switch (what) {
    case 'work':
      world.working.add(session)
      return
    case 'rest':
      world.working.delete(session)
      return
    case 'begin a turn':
      world.begin(session)
      return
    case 'write through the client': {
      world.touch(name, session)
      const content = world.edited(name, `${session}-${world.turns.get(session)}-`, place)
      const roots = { cwd: world.root, additionalDirectories: [] }
      // where both changed the same lines, the user's stay
      const askMerge = async () => (place.add % 2 === 0 ? 'mine' : 'refuse') as 'mine' | 'refuse'
      const files = new SessionFiles(world.shared, { roots, askAccess: async () => 'refuse', askMerge })
      await changes
        .writing(path, content, tracked => files.writeTextFile({ path, content }, undefined, tracked))
        .catch((error: { reason?: string }) => assert.equal(error.reason, 'refused'))
      editor.reload()
      return
    }
    case 'write by a tool call': {
      if (dirty || !exists) return
      world.touch(name, session)
      const reported = { toolCallId: world.callId(), begun: true }
      const oldText = world.on(name)!
      const newText = world.edited(name, `${session}-${world.turns.get(session)}-`, place)
      const change: FileChange = { operation: 'modify', path, oldText, newText }
      await changes.tool({ ...reported, done: false }, [{ changes: [change] }], [])
      writeFileSync(path, newText)
      editor.reload()
      await changes.tool({ ...reported, done: true }, [{ changes: [change] }], [])
      return
    }
    case 'delete by an agent': {
      if (!exists || dirty) return
      world.touch(name, session)
      const reported = { toolCallId: world.callId(), begun: true }
      const diffs = [{ changes: [{ operation: 'delete' as const, path }] }]
      await changes.tool({ ...reported, done: false }, diffs, [])
      await rm(path)
      editor.close(path)
      await changes.tool({ ...reported, done: true }, diffs, [])
      return
    }
    case 'type':
      if (!exists) return
      world.touch(name)
      if (editor.textOf(path) === undefined) editor.open(path)
      editor.type(path, world.edited(name, 'user', place))
      return
    case 'save': {
      if (!dirty || !exists) return
      world.touch(name)
      const before = world.on(name)?.split(/(?<=\n)/) ?? []
      await editor.save(path)
      for (const line of before) if (!world.lines(name).includes(line)) world.removed.add(line)
      return
    }
    case 'write by another program':
      // during a turn, the other program can't be distinguished from a command
      if (dirty || world.working.size > 0) return
      world.touch(name)
      writeFileSync(path, world.edited(name, 'user', place))
      editor.reload()
      return
    case 'keep':
      await world.settled()
      changes.keep()
      return
    case 'keep a hunk':
    case 'undo a hunk': {
      await world.settled()
      const hunk = changes.hunks(path)[place.at % Math.max(1, changes.hunks(path).length)]
      if (!hunk) return
      const selection = { hunks: { path, ids: new Set([hunk.id]) } }
      if (what === 'keep a hunk') {
        changes.keep(selection)
        return
      }
      world.touch(name)
      await changes.undo(selection)
      editor.reload()
      return
    }
    case 'restore a checkpoint':
      await restore(world, session, place.at)
      return
    case 'undo a restore': {
      const [last] = tracker.review.undone
      if (!last) return
      for (const one of NAMES) world.touch(one)
      await tracker.review.restore(last.id)
      editor.reload()
      return
    }
    case 'reload':
      await world.settled()
      tracker.dispose()
      world.start()
      await world.tracker.files.ready
      for (const one of readdirSync(world.root))
        if (editor.isDirty(world.path(one)))
          editor.type(world.path(one), `${editor.textOf(world.path(one))}${world.fresh('user', 1)}`)
      return
  }
}

async function restore(world: World, session: string, at: number): Promise<void> {
  const { tracker, editor } = world
  const changes = world.sessions.get(session)!
  const snapshots = world.snapshots.get(session)!
  const { turn, files, touched } = snapshots[at % snapshots.length]!
  await world.settled()
  const before = NAMES.map(name => world.on(name))
  const others = session === 'a' ? 'b-' : 'a-'
  const mine = (line: string) => line.startsWith(`${session}-`) && Number(line.split('-')[1]) >= turn
  const visible = [...world.visible()]
  const plan = changes.checkpoint(turn)
  const report = await changes.undo({ since: turn })
  editor.reload()
  const after = world.visible()
  for (const line of visible) {
    if (line.startsWith('user')) assert.ok(after.has(line), `the restore took ${line}`)
    if (line.startsWith(others)) assert.ok(after.has(line), `the restore took ${line} of the other session`)
  }
  // what isn't restored has to be listed
  const left = new Set(report.unchanged.map(one => one.path))
  const listed = new Map(plan.map(one => [one.path, one]))
  for (const path of left) assert.ok(listed.get(path)?.unchangedBecause, `${path} stayed and nobody said so`)
  for (const [i, name] of NAMES.entries()) {
    const path = world.path(name)
    if (editor.isDirty(path)) continue
    const now = world.on(name)
    if (now !== before[i]) assert.ok(listed.has(path), `${name} changed and is not in the list`)
    const entry = listed.get(path)
    if (entry && !left.has(path)) {
      assert.equal(entry.action === 'delete', now === undefined, `${name} is not what the list said`)
      if (entry.action === 'create') assert.ok(before[i] === undefined && now !== undefined)
    }
    // if no one else changed the file, it's exactly as before
    if (!touched.has(name)) {
      assert.equal(now, files.get(name), `${name} is not as before turn ${turn}`)
      assert.ok(!left.has(path))
    }
    if (!left.has(path))
      assert.deepEqual(world.lines(name).filter(mine), [], `${name} has lines of later turns`)
  }
  const taken = NAMES.filter((name, i) => world.on(name) !== before[i])
  // an immediate undo restores everything
  if (report.undone && at % 2 === 0 && NAMES.every(name => !editor.isDirty(world.path(name)))) {
    assert.deepEqual(await tracker.review.restore(report.undone.id), [])
    editor.reload()
    assert.deepEqual(
      NAMES.map(name => world.on(name)),
      before,
    )
    return
  }
  for (const name of taken) world.touch(name, session)
  // later turns start without any files
  for (const one of snapshots) if (one.turn > turn) for (const name of NAMES) one.touched.add(name)
}

describe('checkpoints (property)', () => {
  it('restore the state before a turn, and lose nothing of the user or other sessions', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 18 }), async steps => {
        const world = new World()
        try {
          for (const one of steps) {
            await take(world, one)
            await world.settled()
            const visible = world.visible()
            const views = world.tracker.views.checkpointed(() => true)
            const stored = [...world.tracker.views.changed(), ...views].map(view =>
              JSON.stringify(view.store()),
            )
            const known = new Set(
              [...stored, ...world.tracker.review.undone.map(one => JSON.stringify(one))].flatMap(
                text => text.match(/user\d+\\n/g) ?? [],
              ),
            )
            for (const line of world.written) {
              if (world.removed.has(line)) continue
              assert.ok(
                visible.has(line) || known.has(line.replace('\n', '\\n')),
                `${line.trim()} is lost after ${one.what}`,
              )
            }
            // the stored content of each file is complete
            for (const view of views) {
              const again = TrackedFile.restore(JSON.parse(JSON.stringify(view.store())))
              assert.equal(again?.historyAt, view.historyAt)
            }
          }
        } finally {
          world.dispose()
        }
      }),
      { numRuns: scaledRuns(100) },
    )
  })
})

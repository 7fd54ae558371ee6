import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { Decisions } from '../../../src/app/changes/decisions.ts'
import {
  confirmUndo,
  offerRestore,
  restoreStored,
  restoreUndone,
  type UndoServices,
  undoChanges,
} from '../../../src/app/changes/undo-changes.ts'
import type { Workbench } from '../../../src/app/workbench.ts'
import type { ChangeTracker } from '../../../src/changes/change-tracker.ts'
import type { Undone, UndoneFile } from '../../../src/changes/model/undo-log.ts'
import type { DecidedFile, ReviewedFile } from '../../../src/changes/review/review-progress.ts'
import { type ChangeSelection, SessionChanges } from '../../../src/changes/session-changes.ts'
import { MemoryStore, memoryTracker } from '../../support/memory-tracker.ts'
import { scaledRuns } from '../../support/property-tests.ts'
import { until } from '../../support/until.ts'

const WHAT = [
  'the agent writes',
  'the agent writes',
  'the user writes',
  'keep a hunk',
  'keep all',
  'revert a hunk',
  'revert a hunk',
  'revert a file',
  'revert all',
  'undo',
  'undo',
  'undo in a file',
  'undo in a file',
  'reload',
  'crash before the file is written',
  'crash before the decision is stored',
] as const

const step = fc.record({
  what: fc.constantFrom(...WHAT),
  name: fc.constantFrom('x.txt', 'y.txt'),
  at: fc.nat(12),
  count: fc.nat(2),
})
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/** A store whose process can end at the worst moment. */
class CrashingStore extends MemoryStore {
  /** Ends once an undo is stored, before it's done. */
  endsAfterUndo = false
  losesDecisions = false
  ended = false

  override async saveUndone(undone: Undone): Promise<void> {
    await super.saveUndone(undone)
    await this.#mayEnd()
  }
  override async addUndone(head: Omit<Undone, 'files'>, files: readonly UndoneFile[]): Promise<void> {
    await super.addUndone(head, files)
    await this.#mayEnd()
  }
  override saveDecided(id: string, decided: DecidedFile | undefined): void {
    if (!this.losesDecisions) super.saveDecided(id, decided)
  }
  async #mayEnd(): Promise<void> {
    if (!this.endsAfterUndo) return
    this.ended = true
    await new Promise(() => {})
  }
}

/** A folder with two files. The user only adds lines, and the agent removes none of them. */
class World {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), 'parley-decisions-')))
  readonly store = new CrashingStore()
  readonly mine = new Map<string, string[]>()
  /** by the id of a revert: the texts of its files, by path */
  readonly reverts = new Map<string, Map<string, { before: string; after: string }>>()
  /** the ids of the decisions that this window can undo */
  here: string[] = []
  /** the ids of those that couldn't be undone */
  failed: string[] = []
  warnings = 0
  tracker!: ChangeTracker
  changes!: SessionChanges
  services!: UndoServices
  #turn = 0
  #next = 0

  constructor() {
    for (const name of ['x.txt', 'y.txt'])
      writeFileSync(this.path(name), Array.from({ length: 8 }, (_, i) => `${name} ${i}\n`).join(''))
    this.start()
  }

  start(): void {
    this.here = []
    this.failed = []
    const { store } = this
    this.tracker = memoryTracker(undefined, store)
    this.changes = new SessionChanges(this.tracker, 'a', { cwd: this.root, additionalDirectories: [] })
    const dialogs = {
      showStatus: () => ({ dispose: () => {} }),
      warn: async () => void this.warnings++,
      error: async () => void this.warnings++,
      confirm: async (question: string, _: object, revert: string) => {
        assert.match(question, /2 files/)
        return revert
      },
    }
    const editors = { openChanges: async () => {} }
    const workbench = {
      ...{ dialogs, editors },
      folders: [{ name: 'w', path: this.root }],
      setContext: async () => {},
    } as unknown as Workbench
    const sessions = { list: () => [] }
    const decisions = new Decisions(workbench, sessions, this.tracker)
    this.services = { workbench, tracker: this.tracker, decisions, sessions }
  }

  async reload(): Promise<void> {
    this.tracker.dispose()
    this.start()
    await this.tracker.files.ready
    await this.changes.refresh()
  }

  path(name: string): string {
    return join(this.root, name)
  }
  text(path: string): string {
    return readFileSync(path, 'utf8')
  }
  fresh(who: string): string {
    return `${who} ${this.#next++}\n`
  }

  async agentWrites(path: string, at: number, count: number): Promise<void> {
    const oldText = this.text(path)
    const lines = oldText.split(/(?<=\n)/)
    const from = at % (lines.length + 1)
    const isMine = (line: string | undefined) => line?.startsWith('user') !== false
    let gone = 0
    while (gone < count && !isMine(lines[from + gone])) gone++
    lines.splice(from, gone, this.fresh('agent'))
    const change = { operation: 'modify' as const, path, oldText, newText: lines.join('') }
    this.changes.beginTurn(++this.#turn, () => true)
    const call = { toolCallId: `t${this.#turn}`, begun: true }
    await this.changes.tool({ ...call, done: false }, [{ changes: [change] }], [])
    writeFileSync(path, change.newText)
    await this.changes.tool({ ...call, done: true }, [{ changes: [change] }], [])
    await this.changes.endTurn()
  }

  async userWrites(path: string, at: number): Promise<void> {
    const lines = this.text(path).split(/(?<=\n)/)
    const line = this.fresh('user')
    this.mine.set(path, [...(this.mine.get(path) ?? []), line])
    lines.splice(at % (lines.length + 1), 0, line)
    writeFileSync(path, lines.join(''))
    await this.changes.refresh()
  }

  #hunk(path: string, at: number) {
    const hunks = this.changes.hunks(path)
    const hunk = hunks[at % Math.max(1, hunks.length)]
    return hunk && { hunks: { path, ids: new Set([hunk.id]) } }
  }

  row(path: string): ReviewedFile | undefined {
    return this.tracker.progress.files(this.changes).find(one => one.path === path)
  }

  /** The ids of the decisions in the review. */
  get decided(): Set<string> {
    return new Set(this.tracker.progress.files(this.changes).flatMap(({ decisions }) => decisions))
  }

  keep(selection: ChangeSelection | undefined): void {
    if (!selection) return
    const before = this.decided
    this.services.decisions.keep(this.changes, selection)
    this.here.push(...[...this.decided].filter(id => !before.has(id)))
  }

  keepHunk(path: string, at: number): void {
    this.keep(this.#hunk(path, at))
  }

  /** `at`: only this hunk. Without `path`, all files. */
  async revert(path: string | undefined, at: number | undefined): Promise<void> {
    const { services, changes, texts: before } = this
    const known = new Set(this.tracker.review.undone.map(({ id }) => id))
    const selection = path === undefined || at === undefined ? undefined : this.#hunk(path, at)
    if (selection)
      await undoChanges(changes, selection, services, undone =>
        offerRestore(undone, services, { isChange: true }),
      )
    else await confirmUndo(changes, path === undefined ? {} : { paths: [path] }, services)
    const made = this.tracker.review.undone.filter(({ id }) => !known.has(id))
    assert.ok(made.length <= 1)
    for (const { id, files } of made) {
      const texts = files.map(({ before: { path: of } }) => {
        return [of, { before: before.get(of)!, after: this.text(of) }] as const
      })
      this.reverts.set(id, new Map(texts))
      this.here.push(id)
    }
  }

  /** As the command does. */
  undoLatest(onStored: (id: string) => void = () => {}): Promise<boolean> {
    return this.services.decisions.undo(id => {
      onStored(id)
      return restoreStored(id, this.services)
    })
  }

  get texts(): Map<string, string> {
    return new Map(['x.txt', 'y.txt'].map(name => [this.path(name), this.text(this.path(name))]))
  }

  async undo(): Promise<void> {
    const { texts } = this
    let undone = this.here.pop()
    const isHere = undone !== undefined
    const isUndone = await this.undoLatest(id => {
      assert.ok(!isHere)
      undone = id
    })
    undone ??= this.failed.shift()
    assert.equal(isUndone, undone !== undefined)
    if (undone === undefined) return
    if (this.#canStillUndo(undone)) this.failed.push(undone)
    const reverted = this.reverts.get(undone)
    for (const [path, text] of texts) {
      const revert = reverted?.get(path)
      if (revert && text !== revert.after) continue
      assert.equal(this.text(path), revert?.before ?? text)
    }
    for (const [path, { before, after }] of reverted ?? [])
      assert.ok(this.text(path) !== after || before === after)
  }

  #canStillUndo(id: string): boolean {
    return this.reverts.has(id) ? this.tracker.review.undone.some(one => one.id === id) : this.decided.has(id)
  }

  /** As the button of the file's row does, also if it's clicked twice. */
  async undoIn(path: string): Promise<void> {
    const { texts, warnings } = this
    const row = this.row(path)
    const { decisions } = this.services
    const isOffered = row !== undefined && decisions.undoable([row]).has(path)
    const mine = row?.decisions ?? []
    if (row && row.undecided === 0 && mine.some(id => this.here.includes(id) || this.reverts.has(id)))
      assert.ok(isOffered || !mine.some(id => this.#canStillUndo(id)))
    const undo = () =>
      decisions.undoIn(
        () => this.row(path),
        (id, only) => restoreUndone(id, this.services, only),
      )
    await Promise.all([undo(), undo()])
    for (const [other, text] of texts) if (other !== path || !isOffered) assert.equal(this.text(other), text)
    this.here = this.here.filter(id => this.#canStillUndo(id))
    this.failed = this.failed.filter(id => this.#canStillUndo(id))
    if (!isOffered) return
    const now = this.row(path)
    if (now?.undecided === 0 && decisions.undoable([now]).has(path)) {
      // not used up, and the user knows
      assert.ok(this.warnings > warnings)
      return
    }
    const [only, ...others] = mine
    const revert = only === undefined || others.length > 0 ? undefined : this.reverts.get(only)?.get(path)
    if (revert && texts.get(path) === revert.after && this.warnings === warnings)
      assert.equal(this.text(path), revert.before)
  }

  dispose(): void {
    this.tracker.dispose()
    rmSync(this.root, { recursive: true, force: true })
  }
}

async function take(world: World, { what, name, at, count }: Step): Promise<void> {
  const path = world.path(name)
  const { store } = world
  switch (what) {
    case 'the agent writes':
      return world.agentWrites(path, at, count)
    case 'the user writes':
      return world.userWrites(path, at)
    case 'keep a hunk':
      return world.keepHunk(path, at)
    case 'keep all':
      return world.keep(world.changes.list().length > 0 ? {} : undefined)
    case 'revert all':
      if (world.changes.list().length === 2) await world.revert(undefined, undefined)
      return
    case 'undo in a file':
      return world.undoIn(path)
    case 'revert a hunk':
      return world.revert(path, at)
    case 'revert a file':
      return world.revert(path, undefined)
    case 'undo':
      return world.undo()
    case 'reload':
      return world.reload()
    case 'crash before the file is written': {
      if (world.changes.hunks(path).length === 0) return
      store.endsAfterUndo = true
      const reverting = world.revert(path, undefined)
      const isDone = reverting.then(() => true)
      await Promise.race([isDone, until(() => store.ended)])
      store.endsAfterUndo = store.ended = false
      return world.reload()
    }
    case 'crash before the decision is stored':
      store.losesDecisions = true
      await world.revert(path, undefined)
      store.losesDecisions = false
      return world.reload()
  }
}

describe('Decisions about changes, with any edits, reloads and crashes in between', () => {
  it('lose no line that the user wrote, and the undo of a revert brings back exactly what was there', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 14 }), async steps => {
        const world = new World()
        try {
          await world.agentWrites(world.path('x.txt'), 2, 1)
          for (const one of steps) {
            await take(world, one)
            for (const [path, lines] of world.mine)
              for (const line of lines) assert.ok(world.text(path).includes(line), `${one.what} took ${line}`)
          }
        } finally {
          world.dispose()
        }
      }),
      { numRuns: scaledRuns(60) },
    )
  }).timeout(60_000)

  for (const isReloaded of [false, true])
    it(`stay to be undone where they can't be undone yet, after the others${isReloaded ? ', also after a reload' : ''}`, async () => {
      const world = new World()
      try {
        const [x, y] = [world.path('x.txt'), world.path('y.txt')]
        await world.agentWrites(y, 2, 1)
        await world.agentWrites(x, 2, 1)
        const [withX, withY] = [world.text(x), world.text(y)]
        await world.revert(y, undefined)
        await world.revert(x, undefined)
        if (isReloaded) await world.reload()
        const reverted = world.text(x)
        writeFileSync(x, reverted.replace('x.txt 2', 'user 2'))
        await world.undoLatest()
        assert.notEqual(world.text(x), withX)
        await world.undoLatest()
        assert.equal(world.text(y), withY)
        writeFileSync(x, reverted)
        await world.undoLatest()
        assert.equal(world.text(x), withX)
        assert.equal(await world.undoLatest(), false)
      } finally {
        world.dispose()
      }
    })

  it('that were restored with another command are passed over', async () => {
    const world = new World()
    try {
      const path = world.path('x.txt')
      await world.agentWrites(path, 2, 1)
      await world.agentWrites(path, 6, 1)
      const both = world.text(path)
      await world.revert(path, 0)
      await world.revert(path, undefined)
      await restoreUndone(world.tracker.review.undone[0]!.id, world.services)
      assert.equal(await world.undoLatest(), true)
      assert.equal(world.text(path), both)
    } finally {
      world.dispose()
    }
  })

  it('can be undone after a reload, the latest first, until they are undone', async () => {
    const world = new World()
    try {
      const path = world.path('x.txt')
      await world.agentWrites(path, 2, 1)
      await world.agentWrites(path, 6, 1)
      const both = world.text(path)
      await world.revert(path, 0)
      const one = world.text(path)
      await world.revert(path, undefined)
      assert.ok(both !== one && one !== world.text(path))
      await world.reload()
      await world.undo()
      assert.equal(world.text(path), one)
      await world.reload()
      await world.undo()
      assert.equal(world.text(path), both)
      assert.equal(await world.undoLatest(), false)
    } finally {
      world.dispose()
    }
  })
})

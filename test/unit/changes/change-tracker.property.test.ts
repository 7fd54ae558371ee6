import assert from 'node:assert/strict'
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import type { FileChange } from '../../../src/acp/model.ts'
import { ChangeTracker } from '../../../src/changes/change-tracker.ts'
import { WorkTree } from '../../../src/changes/detect/work-tree.ts'
import { SessionChanges } from '../../../src/changes/session-changes.ts'
import type { MergeAnswer } from '../../../src/editor/files/agent-write.ts'
import { disk } from '../../../src/editor/files/file-system.ts'
import { filesShared, SessionFiles } from '../../../src/editor/files/files.ts'
import { FakeEditor } from '../../support/fake-editor.ts'
import { MemoryStore } from '../../support/memory-tracker.ts'
import { scaledRuns } from '../../support/property-tests.ts'

const NAMES = ['x.txt', 'y.txt', 'z.txt']

/** A turn of a session with tool calls and commands. */
interface Turn {
  number: number
  tree: WorkTree
  before: Awaited<ReturnType<WorkTree['snapshot']>>
  /** tool calls that were reported and haven't written yet */
  calls: Array<{ toolCallId: string; name: string }>
}

/**
 * A folder that is changed by a user, another program, and the agents of two sessions. Every line is unique and has an
 * author.
 */
class World {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), 'parley-world-')))
  readonly store = new MemoryStore()
  readonly editor = new FakeEditor()
  readonly shared = filesShared({ documents: this.editor, fileSystem: disk })
  tracker!: ChangeTracker
  sessions!: Map<string, SessionChanges>
  /** what each session's agent reads and writes through the client */
  files!: Map<string, SessionFiles>
  /** what the agents have read, by session and file */
  readonly reads = new Map<string, string>()
  /** what the user does when an agent changes lines with unsaved changes */
  answer: MergeAnswer = 'mine'
  /** lines of agents that the user kept */
  readonly taken = new Set<string>()
  /** the user's lines that the user removed */
  readonly removed = new Set<string>()
  /** files with reverted changes in their unsaved text */
  readonly undoneUnsaved = new Set<string>()
  /** the running turns by session */
  readonly turns = new Map<string, Turn>()
  #next = 0
  #calls = 0
  #turns = 0
  #accepted: Promise<unknown> = Promise.resolve()

  constructor() {
    this.start()
    for (const name of NAMES.slice(0, 2)) writeFileSync(this.path(name), this.fresh('user', 6).join(''))
  }

  /** The author of a line that a command of this session writes. Unknown while another session is working. */
  commander(session: string): string {
    return this.turns.size > 1 ? 'some' : session
  }

  async begin(session: string): Promise<void> {
    const earlier = this.turns.get(session)
    if (earlier) await this.look(session, earlier)
    const changes = this.sessions.get(session)!
    const tree = new WorkTree(changes)
    const number = ++this.#turns
    // nothing is written while the snapshot is taken
    const before = await tree.snapshot([this.root], Number.POSITIVE_INFINITY)
    this.turns.set(session, { number, tree, before, calls: [] })
    changes.beginTurn(number, () => true)
  }

  /** Looks for changes by commands, as during and after a turn. */
  async look(session: string, turn: Turn): Promise<void> {
    await this.#accepted
    const { changes, omitted, unseen } = await turn.tree.changed(turn.before)
    assert.deepEqual([omitted, unseen], [0, []])
    await this.sessions.get(session)!.noticed(changes, turn.number)
  }

  async end(session: string): Promise<void> {
    const turn = this.turns.get(session)
    if (!turn) return
    await this.look(session, turn)
    this.turns.delete(session)
    await this.sessions.get(session)!.endTurn()
  }

  /** Records that the user changed a file in the editor. */
  async byUser(path: string): Promise<void> {
    for (const { tree, before } of this.turns.values()) await tree.accept(before, path)
  }

  start(): void {
    this.turns.clear()
    this.tracker = new ChangeTracker({ files: this.shared, store: this.store })
    this.editor.tracker = this.tracker
    this.tracker.files.onDidDecide(path => {
      this.#accepted = Promise.all([this.#accepted, this.byUser(path)])
    })
    const roots = { cwd: this.root, additionalDirectories: [] }
    this.sessions = new Map(['a', 'b'].map(name => [name, new SessionChanges(this.tracker, name, roots)]))
    const options = { roots, askAccess: async () => 'refuse' as const, askMerge: async () => this.answer }
    this.files = new Map(['a', 'b'].map(name => [name, new SessionFiles(this.shared, options)]))
    this.reads.clear()
  }

  path(name: string): string {
    return join(this.root, name)
  }

  fresh(who: string, count: number): string[] {
    return Array.from({ length: count }, () => `${who}${this.#next++}\n`)
  }

  on(name: string): string | undefined {
    return existsSync(this.path(name)) ? readFileSync(this.path(name), 'utf8') : undefined
  }

  /** What the user sees. */
  seen(name: string): string | undefined {
    return this.editor.isDirty(this.path(name)) ? this.editor.textOf(this.path(name)) : this.on(name)
  }

  lines(name: string): string[] {
    return linesIn(this.seen(name) ?? '')
  }

  /** Everything that the user can see anywhere. */
  visible(): Set<string> {
    const on = NAMES.flatMap(name => [...this.lines(name), ...(this.on(name) ?? '').split(/(?<=\n)/)])
    return new Set(on.filter(line => line !== ''))
  }

  edited(name: string, who: string, { at, count, add }: Place, lines: string[] = this.lines(name)): string {
    const start = at % (lines.length + 1)
    const gone = lines.splice(start, count, ...this.fresh(who, add))
    if (who === 'user') for (const line of gone) this.removed.add(line)
    return lines.join('')
  }

  callId(): string {
    return `t${this.#calls++}`
  }

  /** Waits until all file operations are done. */
  async settled(): Promise<void> {
    await this.#accepted
    await this.tracker.disk.refresh()
    await this.tracker.disk.refresh()
  }

  dispose(): void {
    this.tracker.dispose()
    rmSync(this.root, { recursive: true, force: true })
  }
}

interface Place {
  at: number
  count: number
  add: number
}
type Step = Place & { what: (typeof WHAT)[number]; name: string; session: string }

const WHAT = [
  'type',
  'type',
  'save',
  'revert',
  'take a hunk back',
  'write by another program',
  'stash and bring back',
  'close the tab',
  'read through the client',
  'write through the client what it read',
  'write through the client what it read',
  'write through the client what is on disk',
  'write through the client what is on disk',
  'write by a tool call',
  'write by a tool call',
  'write by a tool call that only names it',
  'save while a permission is pending',
  'save what a tool call wrote before it reports that',
  'save what a tool call wrote before it reports that',
  'save after the first of two writes is reported, and before the second is',
  'begin a turn',
  'begin a turn',
  'begin a tool call',
  'end a tool call',
  'write by a command',
  'write by a command',
  'write by a command and then by a tool call',
  'write by a command and then by a tool call',
  'delete by a command',
  'move by a command',
  'move by a command',
  'end a turn',
  'delete by an agent',
  'delete by the user',
  'rename',
  'undo',
  'undo',
  'undo a hunk',
  'keep a hunk',
  'restore',
  'reload',
] as const

const step: fc.Arbitrary<Step> = fc.record({
  what: fc.constantFrom(...WHAT),
  name: fc.constantFrom(...NAMES),
  session: fc.constantFrom('a', 'b'),
  at: fc.nat(12),
  count: fc.nat(3),
  add: fc.nat(2),
})

async function take(world: World, { what, name, session, ...place }: Step): Promise<void> {
  const path = world.path(name)
  const { editor, tracker } = world
  const changes = world.sessions.get(session)!
  const exists = world.on(name) !== undefined
  const dirty = editor.isDirty(path)
  const open = () => {
    if (editor.textOf(path) === undefined) editor.open(path)
  }
  const save = async (meanwhile?: () => Promise<void>) => {
    const before = world.on(name)?.split(/(?<=\n)/) ?? []
    await editor.save(path, meanwhile)
    await world.byUser(path)
    // the user overwrote what was only on disk
    const now = world.lines(name)
    for (const line of before) if (!now.includes(line)) world.removed.add(line)
  }
  switch (what) {
    case 'type':
      if (!exists) return
      open()
      editor.type(path, world.edited(name, 'user', place))
      return
    case 'save':
      if (dirty && exists) await save()
      return
    case 'revert': {
      if (!dirty) return
      const before = world.lines(name)
      editor.revert(path)
      for (const line of before) if (!world.lines(name).includes(line)) world.removed.add(line)
      return
    }
    case 'take a hunk back': {
      // with the editor's own undo, or by typing
      await world.settled()
      const hunk = changes.hunks(path)[place.at % Math.max(1, changes.hunks(path).length)]
      if (!exists || !hunk) return
      open()
      const lines = world.lines(name)
      lines.splice(hunk.start, hunk.after.length, ...hunk.before)
      for (const line of linesOf(tracker.views.at(path)?.store())) world.removed.add(line)
      editor.type(path, lines.join(''))
      return
    }
    case 'begin a turn':
      await world.begin(session)
      return
    case 'end a turn':
      await world.end(session)
      return
    case 'begin a tool call': {
      const turn = world.turns.get(session)
      if (!turn || dirty || !exists) return
      const toolCallId = world.callId()
      turn.calls.push({ toolCallId, name })
      const oldText = world.on(name)!
      const newText = `${oldText}${session}-planned\n`
      const change: FileChange = { operation: 'modify', path, oldText, newText }
      await changes.tool({ toolCallId, begun: place.at % 2 === 0, done: false }, [{ changes: [change] }], [])
      return
    }
    case 'end a tool call': {
      const turn = world.turns.get(session)
      const call = turn?.calls.shift()
      if (!call || editor.isDirty(world.path(call.name)) || world.on(call.name) === undefined) return
      const { toolCallId } = call
      const at = world.path(call.name)
      // reports what it reads now
      const oldText = world.on(call.name)!
      const newText = world.edited(call.name, session, place)
      const diffs = [{ changes: [{ operation: 'modify' as const, path: at, oldText, newText }] }]
      await changes.tool({ toolCallId, begun: true, done: false }, diffs, [])
      writeFileSync(at, newText)
      editor.reload()
      await changes.tool({ toolCallId, begun: true, done: true }, diffs, [])
      return
    }
    case 'write by a command':
    case 'delete by a command':
    case 'move by a command': {
      const turn = world.turns.get(session)
      const to = NAMES.find(one => world.on(one) === undefined)
      if (!turn || dirty) return
      if (what === 'write by a command')
        writeFileSync(path, world.edited(name, world.commander(session), place))
      else if (!exists) return
      else if (what === 'delete by a command') await rm(path)
      else if (to === undefined) return
      else renameSync(path, world.path(to))
      if (what !== 'write by a command') editor.close(path)
      editor.reload()
      await world.look(session, turn)
      return
    }
    case 'write by a command and then by a tool call': {
      const turn = world.turns.get(session)
      if (!turn || dirty || !exists) return
      writeFileSync(path, world.edited(name, world.commander(session), place))
      editor.reload()
      const toolCallId = world.callId()
      const oldText = world.on(name)!
      const newText = world.edited(name, session, { at: place.at + 3, count: 1, add: 1 })
      const change: FileChange = { operation: 'modify', path, oldText, newText }
      await changes.tool({ toolCallId, begun: true, done: false }, [{ changes: [change] }], [])
      writeFileSync(path, newText)
      editor.reload()
      await changes.tool({ toolCallId, begun: true, done: true }, [{ changes: [change] }], [])
      await world.look(session, turn)
      return
    }
    case 'write by another program':
      // during a turn, the other program can't be distinguished from a command
      if (dirty || world.turns.size > 0) return
      writeFileSync(path, world.edited(name, 'user', place))
      editor.reload()
      return
    case 'stash and bring back': {
      // during a turn, only what Git brings back is known not to be a command's
      const file = world.turns.size === 0 ? tracker.views.at(path) : undefined
      if (dirty || !exists || !file?.hasChanges || file.base.attributes.type !== 'text') return
      const text = world.on(name)!
      const hunks = () =>
        ['a', 'b'].map(one =>
          world.sessions
            .get(one)!
            .hunks(path)
            .map(({ before, after }) => [before, after]),
        )
      const before = hunks()
      for (const content of [file.base.text, text]) {
        writeFileSync(path, content)
        editor.reload()
        await world.settled()
      }
      assert.deepEqual(hunks(), before, 'a stash changed what is listed')
      return
    }
    case 'close the tab':
      if (!dirty) editor.close(path)
      return
    case 'read through the client':
      if (exists)
        world.reads.set(`${session} ${name}`, await world.files.get(session)!.readTextFile({ path }))
      return
    case 'write through the client what it read':
    case 'write through the client what is on disk': {
      const isRead = what === 'write through the client what it read'
      const known = isRead ? world.reads.get(`${session} ${name}`) : (world.on(name) ?? '')
      if (known === undefined) return
      const content = world.edited(name, session, place, linesIn(known))
      world.answer = (['mine', 'theirs', 'refuse'] as const)[(place.at + place.add) % 3]!
      const before = world.lines(name)
      const isSame = exists && content === world.on(name)
      await changes
        .writing(path, content, tracked =>
          world.files.get(session)!.writeTextFile({ path, content }, undefined, tracked),
        )
        .catch((error: { reason?: string }) => assert.equal(error.reason, 'refused'))
      if (isRead) world.reads.set(`${session} ${name}`, content)
      // the user didn't answer that these lines can be replaced
      if (dirty && (isSame || world.answer !== 'theirs'))
        for (const line of before.filter(one => one.startsWith('user') && !linesIn(known).includes(one)))
          assert.ok(world.lines(name).includes(line), `${line.trim()}, which wasn't saved, is gone`)
      editor.reload()
      return
    }
    case 'save while a permission is pending':
    case 'write by a tool call': {
      if (dirty || !exists) return
      const toolCallId = world.callId()
      let oldText = world.on(name)!
      let newText = world.edited(name, session, place)
      if (what === 'save while a permission is pending') {
        const change: FileChange = { operation: 'modify', path, oldText, newText }
        await changes.tool({ toolCallId, begun: false, done: false }, [{ changes: [change] }], [])
        open()
        editor.type(path, world.edited(name, 'user', { at: place.at + 2, count: place.add, add: 1 }))
        await save()
        // the agent checks again before it writes
        oldText = world.on(name)!
        newText = world.edited(name, session, place)
      }
      const change: FileChange = { operation: 'modify', path, oldText, newText }
      await changes.tool({ toolCallId, begun: true, done: false }, [{ changes: [change] }], [])
      writeFileSync(path, newText)
      editor.reload()
      await changes.tool({ toolCallId, begun: true, done: true }, [{ changes: [change] }], [])
      return
    }
    case 'save what a tool call wrote before it reports that': {
      // without a tracked file, the report is the first that is known of it
      if (dirty || !exists || !world.turns.has(session) || !tracker.files.at(path)) return
      const reported = { toolCallId: world.callId(), begun: true }
      const oldText = world.on(name)!
      const newText = world.edited(name, session, place)
      const diffs = [{ changes: [{ operation: 'modify' as const, path, oldText, newText }] }]
      const late = place.at % 2 === 0
      if (!late) await changes.tool({ ...reported, done: false }, diffs, [])
      writeFileSync(path, newText)
      editor.reload()
      open()
      editor.type(path, world.edited(name, 'user', { at: place.at + 2, count: place.count % 2, add: 1 }))
      await save(place.at % 3 === 0 ? () => tracker.disk.refresh() : undefined)
      if (late) await changes.tool({ ...reported, done: false }, diffs, [])
      await changes.tool({ ...reported, done: true }, diffs, [])
      return
    }
    case 'save after the first of two writes is reported, and before the second is': {
      // writes that meet can't be told apart
      if (dirty || !world.turns.has(session) || world.lines(name).length < 5) return
      const count = place.count % 2
      const write = (at: number) => {
        const oldText = world.on(name)!
        const newText = world.edited(name, session, { at, count, add: place.add })
        const reported = { toolCallId: world.callId(), begun: true }
        const diffs = [{ changes: [{ operation: 'modify' as const, path, oldText, newText }] }]
        writeFileSync(path, newText)
        editor.reload()
        return async () => {
          await changes.tool({ ...reported, done: false }, diffs, [])
          await changes.tool({ ...reported, done: true }, diffs, [])
        }
      }
      const reports = [write(place.at % 2), write(world.lines(name).length - count)]
      await reports[0]!()
      open()
      editor.type(path, world.edited(name, 'user', { at: place.at + 2, count: place.count % 2, add: 1 }))
      await save(place.at % 3 === 0 ? () => tracker.disk.refresh() : undefined)
      await reports[1]!()
      return
    }
    case 'write by a tool call that only names it': {
      if (dirty) return
      const reported = { toolCallId: world.callId(), begun: true }
      const text = world.edited(name, session, place)
      await changes.tool({ ...reported, done: false }, [], [path])
      writeFileSync(path, text)
      editor.reload()
      await changes.tool({ ...reported, done: true }, [], [path])
      return
    }
    case 'delete by an agent': {
      if (!exists || dirty) return
      const reported = { toolCallId: world.callId(), begun: true }
      const diffs = [{ changes: [{ operation: 'delete' as const, path }] }]
      await changes.tool({ ...reported, done: false }, diffs, [])
      await rm(path)
      editor.close(path)
      await changes.tool({ ...reported, done: true }, diffs, [])
      return
    }
    case 'delete by the user':
      if (!exists || dirty || world.turns.size > 0) return
      // with all of its earlier content
      for (const line of [...world.lines(name), ...linesOf(tracker.views.at(path)?.store())])
        world.removed.add(line)
      await rm(path)
      editor.close(path)
      return
    case 'rename': {
      const to = NAMES.find(one => world.on(one) === undefined)
      if (!exists || dirty || to === undefined) return
      // VS Code waits for listeners
      await world.settled()
      tracker.renames.renaming(path, world.path(to))
      renameSync(path, world.path(to))
      editor.close(path)
      for (const one of [name, to]) await world.byUser(world.path(one))
      await tracker.renames.renamed(path, world.path(to))
      return
    }
    case 'undo':
    case 'undo a hunk': {
      await world.settled()
      const before = [...world.visible()].filter(line => line.startsWith('user'))
      const other = session === 'a' ? 'b' : 'a'
      const others = [...world.visible()].filter(line => line.startsWith(other))
      const hunk = changes.hunks(path)[place.at % Math.max(1, changes.hunks(path).length)]
      if (what === 'undo a hunk' && !hunk) return
      // a file that was moved and exists again is a deletion and an addition, which are reverted separately
      const deleted = NAMES.filter(one => one !== name).flatMap(one =>
        changes.hunks(world.path(one)).flatMap(({ before }) => before),
      )
      const isMoved = (line: string) =>
        what === 'undo a hunk' && hunk!.after.includes(line) && deleted.includes(line)
      await changes.undo(hunk && what === 'undo a hunk' ? { hunks: { path, ids: new Set([hunk.id]) } } : {})
      editor.reload()
      for (const one of NAMES.map(one => world.path(one)))
        if (editor.isDirty(one)) world.undoneUnsaved.add(one)
      const after = world.visible()
      for (const line of before) {
        // the user removed the line, but an agent's copy still has it
        if (world.removed.has(line)) continue
        assert.ok(after.has(line) || isMoved(line), `undo took ${line}`)
      }
      for (const line of others)
        assert.ok(after.has(line) || isMoved(line), `undo took ${line} of the other session`)
      return
    }
    case 'keep a hunk': {
      await world.settled()
      const hunk = changes.hunks(path)[0]
      if (!hunk) return
      // the earlier content of a file that stays deleted
      if (!exists) for (const line of linesOf(tracker.views.at(path)?.store())) world.removed.add(line)
      // keeping a renamed file keeps the changes of both names
      const entry = changes.file(path)
      for (const one of [entry?.path, entry?.from])
        if (one !== undefined)
          for (const who of ['a', 'b', 'some'])
            for (const line of linesOf(tracker.views.at(one)?.store(), who)) world.taken.add(line)
      // including the removal of lines from before it was renamed
      if (entry?.from !== undefined)
        for (const line of linesOf(tracker.views.at(entry.from)?.store()))
          if (!world.lines(name).includes(line)) world.removed.add(line)
      // even below what another session removed later
      for (const line of linesOf(tracker.views.at(path)?.store(), session)) world.taken.add(line)
      // even if the agent removed what the user wrote there after an earlier change by the agent
      const place = tracker.views
        .at(path)!
        .store()
        .segments.find(one => typeof one === 'object' && one.id === hunk.id)
      for (const line of linesOf(place)) if (!hunk.after.includes(line)) world.removed.add(line)
      changes.keep({ hunks: { path, ids: new Set([hunk.id]) } })
      for (const line of hunk.after) world.taken.add(line)
      for (const line of hunk.before) world.removed.add(line)
      return
    }
    case 'restore': {
      const [last] = tracker.review.undone
      if (!last) return
      const before = [...world.visible()].filter(line => line.startsWith('user'))
      await tracker.review.restore(last.id)
      editor.reload()
      const after = world.visible()
      const known = new Set(tracker.views.changed().flatMap(view => linesOf(view.store())))
      for (const line of before) assert.ok(after.has(line) || known.has(line), `restore lost ${line}`)
      return
    }
    case 'reload': {
      // changes that were reverted in unsaved text are known only while the window is open
      for (const one of world.undoneUnsaved) if (editor.isDirty(one)) await editor.save(one)
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
}

describe('the change tracker (property)', () => {
  it("never loses the user's text, and finds every agent's change", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 16 }), async steps => {
        const world = new World()
        try {
          for (const one of steps) {
            await take(world, one)
            await world.settled()
            const visible = world.visible()
            const views = world.tracker.views.changed()
            const kept = new Set([
              ...views.flatMap(view => linesOf(view.store())),
              ...world.tracker.review.undone.flatMap(one => linesOf(one)),
            ])
            for (let i = 0; i < 200; i++) {
              const line = `user${i}\n`
              if (!seen.get(world)?.has(line) && !visible.has(line)) continue
              remember(world, line)
              if (world.removed.has(line)) continue
              assert.ok(visible.has(line) || kept.has(line), `${line.trim()} is lost after ${one.what}`)
            }
            for (const name of NAMES) {
              assert.deepEqual(twice(world.lines(name)), [], `${name} holds lines twice after ${one.what}`)
              const before = world.tracker.views.at(world.path(name))?.base.text ?? ''
              assert.deepEqual(
                twice(before.split(/(?<=\n)/)),
                [],
                `${name} held lines twice before, after ${one.what}`,
              )
              const found = new Set(
                ['a', 'b'].flatMap(session =>
                  world.sessions
                    .get(session)!
                    .hunks(world.path(name))
                    .flatMap(({ after }) => after),
                ),
              )
              for (const line of world.lines(name)) {
                if (line.startsWith('user') || world.taken.has(line)) continue
                assert.ok(found.has(line), `${line.trim()} in ${name} is in no change after ${one.what}`)
              }
            }
          }
          for (const session of ['a', 'b']) await world.end(session)
          // without later changes by the user, everything can be reverted and restored
          for (const name of NAMES)
            if (world.editor.isDirty(world.path(name))) await world.editor.save(world.path(name))
          await world.settled()
          const before = NAMES.map(name => world.on(name))
          const bases = NAMES.map(name => world.tracker.views.at(world.path(name)))
          const expected = bases.flatMap(view => (view && !view.gone ? linesOf(view.base.text) : []))
          const undone: string[] = []
          for (let left = 2; left > 0; ) {
            for (const session of ['a', 'b']) {
              const report = await world.sessions.get(session)!.undo({}, { force: true })
              for (const { why } of report.unchanged) assert.equal(why, 'agent')
              // changes below those of another session are reverted after them
              left = report.undone ? 2 : left - 1
              if (report.undone) undone.push(report.undone.id)
            }
          }
          for (const name of NAMES) {
            const view = world.tracker.views.at(world.path(name))
            if (view) assert.ok(!view.hasChanges || view.gone, 'something is left')
          }
          const after = world.visible()
          for (const line of expected) assert.ok(after.has(line), `${line.trim()} did not come back`)
          for (const line of after)
            assert.ok(line.startsWith('user') || world.taken.has(line), `${line.trim()} is left`)
          for (const id of undone.reverse()) assert.deepEqual(await world.tracker.review.restore(id), [])
          assert.deepEqual(
            NAMES.map(name => world.on(name)),
            before,
          )
        } finally {
          world.dispose()
        }
      }),
      { numRuns: scaledRuns(150) },
    )
  })
})

/** The lines of an author in a stored value. */
function linesOf(stored: unknown, who = 'user'): string[] {
  const found =
    JSON.stringify(stored ?? null).match(new RegExp(`(?:\\b|(?<=\\\\n))${who}\\d+(?=\\\\n)`, 'g')) ?? []
  return found.map(line => `${line}\n`)
}

function linesIn(text: string): string[] {
  return text.split(/(?<=\n)/).filter(line => line !== '')
}

function twice(lines: readonly string[]): string[] {
  return lines.filter((line, i) => lines.indexOf(line) !== i)
}

const seen = new WeakMap<World, Set<string>>()
function remember(world: World, line: string): void {
  const lines = seen.get(world) ?? new Set()
  lines.add(line)
  seen.set(world, lines)
}

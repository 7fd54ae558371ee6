import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import fs from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mock } from 'node:test'
import fc from 'fast-check'
import type { FileChange } from '../../../src/acp/model.ts'
import { ChangeTracker } from '../../../src/changes/change-tracker.ts'
import { WorkTree } from '../../../src/changes/detect/work-tree.ts'
import { SessionChanges } from '../../../src/changes/session-changes.ts'
import { noDocuments } from '../../../src/editor/files/documents.ts'
import { disk } from '../../../src/editor/files/file-system.ts'
import { filesShared } from '../../../src/editor/files/files.ts'
import { ChangesOnDisk, hasSqlite } from '../../support/changes-on-disk.ts'
import {
  charactersOf,
  decodeLegacy,
  encodeLegacy,
  LEGACY_ENCODINGS,
  legacyEncodings,
} from '../../support/legacy-encodings.ts'
import { scaledRuns } from '../../support/property-tests.ts'

const NAMES = ['x.txt', 'y.txt', 'z.txt']

/**
 * What a store does when it writes: the disk is full, which leaves half of what is written, or the window is killed in
 * the middle of it.
 */
class Trouble {
  readonly #folder: string
  isFull = false
  /** writes until the window is killed */
  left = Number.POSITIVE_INFINITY

  constructor(folder: string) {
    this.#folder = folder
    const { appendFile, rename, rm, writeFile } = fs
    const half = (content: unknown) => Buffer.from(content as string).subarray(0, 40)
    const fails = (file: unknown) => {
      if (!String(file).startsWith(this.#folder)) return false
      return this.isFull || --this.left < 0
    }
    const error = () => Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' })
    mock.method(fs, 'writeFile', async (...args: Parameters<typeof writeFile>) => {
      if (!fails(args[0])) return writeFile(...args)
      if (this.left > -2) await writeFile(args[0], half(args[1]))
      throw error()
    })
    mock.method(fs, 'appendFile', async (...args: Parameters<typeof appendFile>) => {
      if (!fails(args[0])) return appendFile(...args)
      if (this.left > -2) await appendFile(args[0], half(args[1]))
      throw error()
    })
    // a full disk can still rename and remove
    mock.method(fs, 'rename', async (...args: Parameters<typeof rename>) => {
      if (!this.isFull && fails(args[0])) throw error()
      return rename(...args)
    })
    mock.method(fs, 'rm', async (...args: Parameters<typeof rm>) => {
      if (!this.isFull && fails(args[0])) throw error()
      return rm(...args)
    })
    syncBuiltinESMExports()
  }

  dispose(): void {
    mock.restoreAll()
    syncBuiltinESMExports()
  }
}

/** A repository in which an agent, its commands, the user, other programs and Git write. Every line is unique. */
class World {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), 'parley-repository-')))
  readonly storage = mkdtempSync(join(tmpdir(), 'parley-repository-storage-'))
  readonly trouble = new Trouble(this.storage)
  readonly #encoding: string | undefined
  readonly #sign: string
  store!: ChangesOnDisk
  tracker!: ChangeTracker
  changes!: SessionChanges
  turn: { number: number; tree: WorkTree; before: Awaited<ReturnType<WorkTree['snapshot']>> } | undefined
  /** lines of the agent that the user kept or committed, or of which a killed window didn't store whose they are */
  readonly taken = new Set<string>()
  /** where the work tree was stashed */
  stashed: string | undefined
  #next = 0

  constructor(encoding: string | undefined) {
    this.#encoding = encoding
    this.#sign = encoding === undefined ? 'é' : [...charactersOf(encoding)][0]!
  }

  start(): void {
    this.git('init', '-q', '-b', 'main')
    for (const name of NAMES.slice(0, 2)) this.write(name, this.fresh('user', 6).join(''))
    this.git('add', '.')
    this.git('commit', '-q', '-m', 'first')
    this.git('checkout', '-q', '-b', 'other')
    this.write('y.txt', [...this.fresh('user', 1), ...this.lines('y.txt')].join(''))
    this.git('commit', '-q', '-a', '-m', 'other')
    this.git('checkout', '-q', 'main')
    this.open()
  }

  open(): void {
    const encodings = { ...legacyEncodings, configured: async () => this.#encoding }
    const files = filesShared({ documents: noDocuments, fileSystem: disk, encodings })
    this.store = new ChangesOnDisk(this.storage)
    const trash = (path: string) => disk.remove(path)
    this.tracker = new ChangeTracker({ files, store: this.store, trash })
    this.changes = new SessionChanges(this.tracker, 's', { cwd: this.root, additionalDirectories: [] })
    this.turn = undefined
  }

  git(...args: string[]): boolean {
    const identity = ['user.name=t', 'user.email=t@t.example', 'core.autocrlf=false', 'gc.auto=0']
    try {
      const options = identity.flatMap(one => ['-c', one])
      execFileSync('git', [...options, ...args], { cwd: this.root, stdio: 'pipe' })
      return true
    } catch {
      return false
    }
  }

  path(name: string): string {
    return join(this.root, name)
  }

  fresh(who: string, count: number): string[] {
    return Array.from({ length: count }, () => `${who}${this.#next++} ${this.#sign}\n`)
  }

  write(name: string, text: string): void {
    writeFileSync(this.path(name), this.#encoding === undefined ? text : encodeLegacy(text, this.#encoding))
  }

  has(name: string): boolean {
    return existsSync(this.path(name))
  }

  text(name: string): string {
    const bytes = readFileSync(this.path(name))
    return this.#encoding === undefined ? bytes.toString() : decodeLegacy(bytes, this.#encoding)
  }

  lines(name: string): string[] {
    return this.has(name) ? this.text(name).split(/(?<=\n)/) : []
  }

  visible(): Set<string> {
    return new Set(NAMES.flatMap(name => this.lines(name)).filter(line => line !== ''))
  }

  listed(): Set<string> {
    return new Set(NAMES.flatMap(name => this.changes.hunks(this.path(name)).flatMap(({ after }) => after)))
  }

  edited(name: string, who: string, { at, count, add }: Place): string {
    const lines = this.lines(name).filter(line => line !== '')
    // the user's lines are removed by nobody else
    const isOwn = (line: string | undefined) => line !== undefined && !line.startsWith('user')
    const start = at % (lines.length + 1)
    let end = start
    while (end < start + count && isOwn(lines[end])) end++
    lines.splice(start, end - start, ...this.fresh(who, add + 1))
    return lines.join('')
  }

  async look(): Promise<void> {
    const { turn } = this
    if (!turn) return
    const { changes, omitted, unseen } = await turn.tree.changed(turn.before)
    assert.deepEqual([omitted, unseen], [0, []])
    await this.changes.noticed(changes, turn.number)
  }

  async settled(): Promise<void> {
    await this.tracker.files.ready
    await this.changes.refresh()
  }

  dispose(): void {
    this.trouble.dispose()
    this.tracker.dispose()
    this.store.dispose()
    for (const folder of [this.root, this.storage]) rmSync(folder, { recursive: true, force: true })
  }
}

interface Place {
  at: number
  count: number
  add: number
}

const WHAT = [
  'begin a turn',
  'begin a turn',
  'end a turn',
  'write by a tool call',
  'write by a tool call',
  'write by a tool call',
  'create by a tool call',
  'write by a command',
  'write by a command',
  'write by another program',
  'write by another program',
  'commit',
  'stash',
  'stash',
  'bring back',
  'bring back',
  'branch and back',
  'keep',
  'undo',
  'undo what is certain',
  'restore',
  'reload',
  'kill the window',
  'kill the window while it stores an undo',
  'fill the disk',
  'free the disk',
] as const
type Step = Place & { what: (typeof WHAT)[number]; name: string }

const step: fc.Arbitrary<Step> = fc.record({
  what: fc.constantFrom(...WHAT),
  name: fc.constantFrom(...NAMES),
  at: fc.nat(12),
  count: fc.nat(2),
  add: fc.nat(1),
})

async function take(world: World, { what, name, ...place }: Step): Promise<void> {
  const { changes, trouble, turn } = world
  const tool = async (operation: FileChange['operation'], newText: string) => {
    const path = world.path(name)
    const oldText = world.lines(name).join('')
    const toolCallId = newText
    const change = { operation, path, newText, ...(operation === 'modify' && { oldText }) } as FileChange
    await changes.tool({ toolCallId, begun: true, done: false }, [{ changes: [change] }], [])
    world.write(name, newText)
    await changes.tool({ toolCallId, begun: true, done: true }, [{ changes: [change] }], [])
  }
  /** Git changes files, during a turn, too; the user's lines are in it. */
  const git = async (...args: string[]) => {
    await world.settled()
    world.git(...args)
    await world.settled()
    await world.look()
  }
  /** What a window that is killed hasn't stored counts as the user's. */
  const reopen = async () => {
    world.open()
    await world.settled()
    const listed = world.listed()
    for (const line of world.visible()) if (!listed.has(line)) world.taken.add(line)
  }
  switch (what) {
    case 'begin a turn': {
      if (turn) await take(world, { what: 'end a turn', name, ...place })
      const tree = new WorkTree(changes)
      const number = (turn?.number ?? 0) + 1
      const before = await tree.snapshot([world.root], Number.POSITIVE_INFINITY)
      changes.beginTurn(number, () => true)
      world.turn = { number, tree, before }
      return
    }
    case 'end a turn':
      await world.look()
      world.turn = undefined
      await changes.endTurn()
      return
    case 'write by a tool call':
      if (world.has(name)) await tool('modify', world.edited(name, 'agent', place))
      return
    case 'create by a tool call':
      if (!world.has(name)) await tool('add', world.fresh('agent', 1 + place.add).join(''))
      return
    case 'write by a command':
      if (!turn) return
      world.write(name, world.edited(name, 'command', place))
      await world.look()
      return
    case 'write by another program':
      if (!world.has(name)) return
      // during a turn, another program is like a command
      world.write(name, world.edited(name, turn ? 'command' : 'user', place))
      await world.look()
      return
    case 'commit':
      await world.look()
      world.git('add', '-A')
      await git('commit', '-q', '-m', 'more')
      for (const line of world.visible()) world.taken.add(line)
      return
    case 'stash': {
      if (world.stashed !== undefined) return
      await world.look()
      const before = readFileSync(join(world.root, '.git/HEAD'), 'utf8')
      await git('stash', '-q', '--include-untracked')
      if (existsSync(join(world.root, '.git/refs/stash'))) world.stashed = before
      return
    }
    case 'bring back': {
      if (world.stashed === undefined || trouble.isFull) return
      // it doesn't apply to other changes of the same files
      const isClean = () => execFileSync('git', ['status', '--porcelain'], { cwd: world.root }).length === 0
      if (!isClean()) return
      await git('stash', 'pop', '-q')
      world.stashed = undefined
      return
    }
    case 'branch and back':
      await world.look()
      await git('checkout', '-q', 'other')
      await git('checkout', '-q', 'main')
      return
    case 'keep':
      await world.look()
      await world.settled()
      for (const line of world.listed()) world.taken.add(line)
      changes.keep()
      return
    case 'undo':
    case 'undo what is certain': {
      await world.settled()
      const certain = what === 'undo what is certain'
      const before = world.visible()
      const { unchanged } = await changes.undo(certain ? { certain } : {})
      for (const { why } of unchanged)
        assert.ok(why instanceof Error ? trouble.isFull : why === 'user', String(why))
      const after = world.visible()
      if (certain)
        for (const line of before)
          if (line.startsWith('command')) assert.ok(after.has(line), `${line.trim()} was reverted as certain`)
      return
    }
    case 'restore': {
      const [last] = world.tracker.review.undone
      if (last) await world.tracker.review.restore(last.id).catch(() => assert.ok(trouble.isFull))
      return
    }
    case 'reload':
      await world.settled()
      world.tracker.dispose()
      world.store.dispose()
      await world.store.flushed()
      world.open()
      return
    case 'kill the window':
    case 'kill the window while it stores an undo': {
      await world.settled()
      trouble.left = place.at
      if (what !== 'kill the window') await changes.undo().catch(() => {})
      else changes.keep({ paths: [world.path(name)] })
      await world.store.flushed()
      world.tracker.dispose()
      // what it would still write is lost
      trouble.left = -2
      await world.store.flushed()
      trouble.left = Number.POSITIVE_INFINITY
      await reopen()
      return
    }
    case 'fill the disk':
      trouble.isFull = true
      return
    case 'free the disk':
      trouble.isFull = false
  }
}

const isGit = (what: string) => ['commit', 'stash', 'bring back', 'branch and back'].includes(what)

const describeStored = hasSqlite ? describe : describe.skip
describeStored('the change tracker in a repository, with stores on disk (property)', () => {
  it("never takes the user's lines, and finds every agent's change, whatever Git and the disk do", async () => {
    const steps = fc.array(step, { minLength: 3, maxLength: 12 })
    const encoding = fc.constantFrom(undefined, ...LEGACY_ENCODINGS)
    await fc.assert(
      fc.asyncProperty(steps, encoding, async (steps, encoding) => {
        const world = new World(encoding)
        try {
          world.start()
          for (const one of steps) {
            const before = [...world.visible()].filter(line => line.startsWith('user'))
            await take(world, one)
            await world.settled()
            const after = world.visible()
            if (!isGit(one.what))
              for (const line of before)
                assert.ok(after.has(line), `${line.trim()} is lost after ${one.what}`)
            const listed = world.listed()
            for (const line of after) {
              if (line.startsWith('user'))
                assert.ok(!listed.has(line), `${line.trim()} is listed after ${one.what}`)
              else if (!world.taken.has(line))
                assert.ok(listed.has(line), `${line.trim()} is in no change after ${one.what}`)
            }
          }
          world.trouble.isFull = false
          if (world.turn) await take(world, { what: 'end a turn', name: 'x.txt', at: 0, count: 0, add: 0 })
          await take(world, { what: 'reload', name: 'x.txt', at: 0, count: 0, add: 0 })
          await world.settled()
          const before = NAMES.map(name => world.lines(name))
          const { undone } = await world.changes.undo({}, { force: true })
          for (const line of world.visible())
            assert.ok(line.startsWith('user') || world.taken.has(line), `${line.trim()} is left`)
          for (const line of before.flat())
            if (line.startsWith('user')) assert.ok(world.visible().has(line), `${line.trim()} was reverted`)
          if (undone) assert.deepEqual(await world.tracker.review.restore(undone.id), [])
          assert.deepEqual(
            NAMES.map(name => world.lines(name)),
            before,
          )
        } finally {
          world.dispose()
        }
      }),
      { numRuns: scaledRuns(20) },
    )
  })
})

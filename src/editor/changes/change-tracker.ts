/**
 * What agents changed on disk, for the whole window: each file once, however many sessions work in it. What an agent
 * writes through the client or says that it writes is its own; what changes otherwise while turns run is theirs, marked
 * as uncertain; all else is the user's and is carried into the text from before.
 */
import type { FileChange } from '../../acp/model.ts'
import { delay, KeyedQueue } from '../../common/async.ts'
import { Owner } from '../../common/disposable.ts'
import { messageOf } from '../../common/errors.ts'
import { Emitter } from '../../common/event.ts'
import type { OpenDocument } from '../files/documents.ts'
import type { FilesShared } from '../files/files.ts'
import { withoutMark } from '../files/text-files.ts'
import { lineEnd, smallestEdit, withLineEnd } from '../text.ts'
import type { AgentAuthor, Author, Matches, TurnRef } from './change-versions.ts'
import { expectedText, type FileText, originalText, othersPart } from './diff-texts.ts'
import {
  ABSENT,
  type BlobStore,
  type FileState,
  FileStates,
  NEW_TEXT,
  sameAttributes,
  sameState,
} from './file-state.ts'
import { FileWatch } from './file-watch.ts'
import { FolderScan } from './folder-scan.ts'
import { mergeLines, splitLines, withLineEndsOf } from './line-edits.ts'
import { type Rewound, type StoredFile, TrackedFile } from './tracked-file.ts'

/** A file before and after something was undone in it. */
export interface UndoneFile {
  before: StoredFile
  after: StoredFile
}

/** Something that was undone, and can be brought back. */
export interface Undone {
  id: string
  /** milliseconds since the epoch */
  at: number
  /** whose changes they were; absent: of several */
  session?: string
  files: UndoneFile[]
}

/** Keeps what is known through a reload. */
export interface TrackerStore extends BlobStore {
  load(): Promise<StoredFile[]>
  /** Soon, in the background; `undefined`: nothing is to be known of it. */
  save(path: string, file: StoredFile | undefined): void
  /** Resolves once it is on the disk; it replaces what is known of it. */
  saveUndone(undone: Undone): Promise<void>
  /** Adds one more file to it. Resolves once that is on the disk. */
  addUndone(undone: Omit<Undone, 'files'>, file: UndoneFile): Promise<void>
  /** The latest first. */
  loadUndone(): Promise<Undone[]>
  forgetUndone(id: string): void
  /** Soon, in the background; replaces what is stored. */
  saveDropped(dropped: readonly DroppedHistory[]): void
  loadDropped(): Promise<DroppedHistory[]>
}

/** A file whose checkpoints are no longer kept. */
export interface DroppedHistory {
  path: string
  turns: TurnRef[]
  why: 'age' | 'size'
}

/** What changed while a session's agent worked, and is not tracked. */
export interface Omitted {
  /** There are too many, or they are too large. */
  files: number
  /** Folders in which nobody can tell what commands changed. */
  folders: readonly string[]
}
const NOTHING: Omitted = { files: 0, folders: [] }

/** How long, and how much of it, checkpoints are kept. */
export interface CheckpointLimits {
  maxAgeMs: number
  maxBytes: number
}

export interface TrackerOptions {
  files: FilesShared
  store: TrackerStore
  /** Takes a file away whose content is in the store; rejects where there is no trash. */
  trash?: (path: string) => Promise<void>
  /** Read whenever checkpoints are dropped; absent: they are kept without a limit. */
  checkpoints?: () => CheckpointLimits
  /** Globs of what is not looked at in folders without a repository. */
  excluded?: () => readonly string[]
}

/** What an agent says that a tool call does to a file. */
export interface ToolChange {
  toolCallId: string
  /** It may have been done, since the tool call is no longer waiting. */
  begun: boolean
  done: boolean
  /** Absent: the tool call only names the file. */
  change?: FileChange
  patch?: { format: string; text: string }
}

interface Claim extends ToolChange {
  author: AgentAuthor
  /** The change was seen on disk. */
  applied: boolean
}

interface RunningTurn {
  author: AgentAuthor
  /** It may be changing files now. */
  isWorking: () => boolean
  covers: (path: string) => boolean
}

/**
 * - `undone`: nothing is left of it.
 * - `user`, `agent`: the rest has changes of theirs on top.
 * - `unsaved`: the file has unsaved changes that do not go with it.
 */
export type UndoOutcome = 'undone' | 'user' | 'agent' | 'unsaved'

export interface UndoOptions {
  ids?: ReadonlySet<number>
  /** Gives up the user's changes on top. */
  force?: boolean
  /** Also what the user has kept: a checkpoint is restored. */
  kept?: boolean
}

/**
 * What is known of a document with unsaved changes in which changes were undone: how it was before and after each, so
 * that the editor's own undo and redo are followed. What the user types is found from `at` on.
 */
interface Unsaved {
  states: Array<{ file: TrackedFile; text: string }>
  at: number
}

interface ClientWrite {
  content: string
  /** what the user typed before the editor had it */
  typed?: string
  /** The editor has it, and may format it as it saves. */
  shown?: true
}

/** Of a document with unsaved changes so many states are known. */
const MAX_STATES = 50
/** More files are not tracked. */
const MAX_FILES = 10_000
/** Of so many files it is remembered that their checkpoints were dropped. */
const MAX_DROPPED = 2000
/** So often a file is looked at that has lost all its text, and after so many milliseconds. */
const MAX_EMPTY_LOOKS = 5
const EMPTY_LOOK_MS = 20
/** Files looked at side by side. */
const MAX_LOOKS = 8

export class ChangeTracker extends Owner {
  readonly shared: FilesShared
  /** What commands change where no Git tells of it. */
  readonly scan: FolderScan
  readonly #store: TrackerStore
  readonly #trash: (path: string) => Promise<void>
  readonly #states: FileStates
  readonly #queue = new KeyedQueue()
  readonly #files = new Map<string, TrackedFile>()
  readonly #claims = new Map<string, Claim[]>()
  readonly #turns = new Map<string, RunningTurn>()
  /** by key, what is being written through the client */
  readonly #writes = new Map<string, ClientWrite>()
  /** files whose documents have unsaved changes */
  readonly #dirty = new Set<string>()
  /** by key, of those in which changes were undone */
  readonly #unsaved = new Map<string, Unsaved>()
  /** files that the user is renaming */
  readonly #renaming = new Set<string>()
  /** files that changed on disk under unsaved changes */
  readonly #stale = new Set<string>()
  /** by key: what a file was that was deleted under unsaved changes, which are changes to that */
  readonly #deleted = new Map<string, TrackedFile>()
  /** by the key of another spelling of a file's path, by way of a link: its own key */
  readonly #aliases = new Map<string, string>()
  /** by a file's own key: such paths of it, at which the editor may have it open */
  readonly #spellings = new Map<string, Set<string>>()
  /** by key: a change that no tool call has reported yet, and the file before it */
  readonly #unclaimed = new Map<string, { file: TrackedFile; version: number; before: TrackedFile }>()
  /** by key: what a file was when its first change was reported, as far as what else was reported since tells */
  readonly #assumed = new Map<string, { file: TrackedFile; text: string }>()
  /** by key: how often the user kept or undid changes of it */
  readonly #decided = new Map<string, number>()
  /** by session */
  readonly #omitted = new Map<string, Omitted>()
  /** by session: keys of files that changed when too many were tracked */
  readonly #untracked = new Map<string, Set<string>>()
  readonly #watch: FileWatch
  readonly #ready: Promise<void>
  readonly #change = this.register(new Emitter<ReadonlySet<string>>())
  readonly #decision = this.register(new Emitter<string>())
  readonly #undone: Undone[] = []
  #dropped: readonly DroppedHistory[] = []
  readonly #limits: () => CheckpointLimits | undefined
  #undoCount = 0

  /** Files whose changes are others than before, by their paths. */
  readonly onDidChange = this.#change.event
  /** The user kept or undid changes of a file: its path. */
  readonly onDidDecide = this.#decision.event

  constructor({ files, store, trash, checkpoints, excluded }: TrackerOptions) {
    super()
    this.#limits = checkpoints ?? (() => undefined)
    this.shared = files
    this.#store = store
    this.#trash = trash ?? (() => Promise.reject(new Error('There is no trash.')))
    this.#states = new FileStates(files, store)
    const stateOf = this.stateWith.bind(this)
    const maxBytes = () => this.#limits()?.maxBytes ?? Number.POSITIVE_INFINITY
    this.scan = new FolderScan({ store, stateOf, maxBytes, ...(excluded && { excluded }) })
    this.#watch = this.register(
      new FileWatch(
        files.watch,
        path => this.#ownKey(path),
        keys => void this.#look(keys.filter(key => this.#files.has(key))),
      ),
    )
    this.#ready = this.#load()
  }

  key(path: string): string {
    return this.shared.rules.key(path)
  }

  /** A file is also reached by other paths. */
  alias(realPath: string, paths: readonly string[]): void {
    const own = this.key(realPath)
    for (const path of paths) {
      const key = this.key(path)
      if (key === own || this.#aliases.get(key) === own) continue
      if (this.#aliases.size >= MAX_FILES) {
        this.#aliases.clear()
        this.#spellings.clear()
      }
      this.#aliases.set(key, own)
      const spellings = this.#spellings.get(own)
      if (spellings) spellings.add(path)
      else this.#spellings.set(own, new Set([path]))
    }
  }

  #ownKey(path: string): string {
    const key = this.key(path)
    return this.#aliases.get(key) ?? key
  }

  /** Tells of a file, from now on, whether the user kept or undid changes of it since. */
  watchDecided(): (path: string) => boolean {
    const before = new Map(this.#decided)
    return path => {
      const key = this.#ownKey(path)
      return this.#decided.get(key) !== before.get(key)
    }
  }

  /** What changed during a session's turn and is not tracked. */
  omit(session: string, omitted: Omitted): void {
    if (JSON.stringify(this.#omitted.get(session) ?? NOTHING) === JSON.stringify(omitted)) return
    this.#omitted.set(session, omitted)
    this.#change.fire(new Set())
  }

  omitted(session: string): Omitted {
    const { files, folders } = this.#omitted.get(session) ?? NOTHING
    return { files: files + (this.#untracked.get(session)?.size ?? 0), folders }
  }

  /** What was undone, the latest first. */
  get undone(): readonly Undone[] {
    return this.#undone
  }

  /** Resolves once what was stored is known. */
  get ready(): Promise<void> {
    return this.#ready
  }

  /** The file with the user's unsaved changes in it. */
  view(path: string): TrackedFile | undefined {
    const key = this.#ownKey(path)
    const file = this.#files.get(key)
    if (!file || !this.#dirty.has(key)) return file
    return this.#view(key, file)?.file ?? file
  }

  /**
   * The file without what one session changed, or without what all agents changed; a file that agents did not change is
   * as it is. `undefined`: it can't be read.
   */
  async before(path: string, session?: string): Promise<FileState | undefined> {
    await this.#ready
    const file = this.view(path)
    if (!file) return this.#read(path).catch(() => undefined)
    if (session === undefined) return file.base
    return file.without(author => author.turns.some(turn => turn.session === session))
  }

  /** What a file holds, its text in UTF-8 and marked so. */
  async bytesOf({ attributes, text }: FileState): Promise<Uint8Array> {
    if (attributes.type === 'text') return Buffer.from(/^[\0-\x7f]*$/.test(text) ? text : `\ufeff${text}`)
    if (attributes.type === 'binary') return (await this.#store.get(attributes.hash)) ?? new Uint8Array()
    return attributes.type === 'link' ? Buffer.from(attributes.target) : new Uint8Array()
  }

  /** Files with changes of agents, in the order of the first ones. */
  views(): TrackedFile[] {
    const files = [...this.#files].flatMap(([key, file]) =>
      (file.hasChanges || this.#unsaved.has(key)) && !file.gone ? file : [],
    )
    return this.#viewed(files)
  }

  #viewed(files: TrackedFile[]): TrackedFile[] {
    return this.#dirty.size === 0 ? files : files.map(file => this.view(file.path) ?? file)
  }

  /** Whose changes there are, in the order of the first ones. */
  sessions(): Set<string> {
    const sessions = new Set<string>()
    for (const file of this.#files.values()) {
      if (!file.gone) for (const session of file.sessions) sessions.add(session)
    }
    return sessions
  }

  /** Looks at all files as they are on disk now. Never rejects. */
  async refresh(): Promise<void> {
    await this.#ready
    await this.#look([...this.#files.keys()])
  }

  /** The text of a file as it is on disk; `undefined`: it has none. Never rejects. */
  async textOf(path: string): Promise<FileText | undefined> {
    const state = await this.stateOf(path)
    const type = state?.attributes.type
    return type === 'absent' ? null : type === 'text' ? state!.text : undefined
  }

  /** A file as it is on disk; `undefined`: it can't be told. Never rejects. */
  async stateOf(path: string): Promise<FileState | undefined> {
    return this.#read(path).catch(() => undefined)
  }

  /** Agents changed the file, and it is listed. */
  isKnown(path: string): boolean {
    return this.#files.get(this.#ownKey(path))?.hasChanges ?? false
  }

  /** What a file is that holds these bytes. */
  stateWith(bytes: Uint8Array, path: string, mode: number): Promise<FileState> {
    return this.#states.with(bytes, path, mode, this.#document(path)?.encoding)
  }

  // ---- what the user does ------------------------------------------------------------------------------------------

  /**
   * The user saved a file in the editor. `likely`: or took back what was not saved, to what the file was before it changed
   * on disk.
   */
  saved(path: string, text: string, { likely = false } = {}): void {
    void this.#ofUser(path, async (key, file) => {
      if (likely && this.#stale.has(key)) {
        const now = await this.#read(file.path)
        if (now?.attributes.type !== 'text' || !sameButEnds(now.text, text)) return
      }
      const write = this.#writes.get(key)
      if (write && (write.shown || sameButEnds(write.content, text))) return
      this.#stale.delete(key)
      this.#unclaimed.delete(key)
      const deleted = file.attributes.type === 'absent' ? this.#deleted.get(key) : undefined
      this.#deleted.delete(key)
      const known = (deleted ?? this.#inDocument(key, file)).clone()
      const had = this.#unsaved.delete(key) || deleted !== undefined
      this.#files.set(key, known)
      if (!write) {
        const now = await this.#read(file.path)
        if (now?.attributes.type === 'text' && sameButEnds(now.text, text)) {
          this.#edited(key, known, known.edit(now, 'user') || had)
          return
        }
      }
      this.#edited(key, known, known.editText(withLineEndsOf(text, known.text), 'user') || had)
      if (!write) await this.#observe(key, known)
    })
  }

  /** A document changed: its text is with unsaved changes (`dirty`), or what is on disk. */
  typed(path: string, textOf: () => string, dirty: boolean): void {
    const at = this.#ownKey(path)
    if (dirty ? this.#files.size === 0 : !this.#dirty.has(at) && !this.#files.has(at)) return
    const write = this.#writes.get(at)
    // the agent's own text, or typed before it or after
    const text = write && dirty ? textOf() : undefined
    const unsaved = dirty ? this.#unsaved.get(at) : undefined
    if (unsaved) {
      const now = textOf()
      const known = unsaved.states.findLastIndex(state => state.text === now)
      if (known >= 0) unsaved.at = known
    }
    void this.#ofUser(path, async (key, file) => {
      if (write && text !== undefined) {
        if (sameButEnds(write.content, text)) write.shown = true
        else if (!write.shown) write.typed = text
      }
      const was = this.#dirty.has(key)
      if (dirty) this.#dirty.add(key)
      else {
        this.#dirty.delete(key)
        this.#stale.delete(key)
        this.#deleted.delete(key)
        const had = this.#unsaved.delete(key)
        // loaded anew from the disk
        if (!this.#writes.has(key)) await this.#observe(key, file)
        if (had) this.#edited(key, file, true)
      }
      if (file.hasChanges && (dirty || was)) this.#change.fire(new Set([file.path]))
    })
  }

  /** The user is about to rename files or folders: that they are gone, and that others are there, means nothing. */
  renaming(from: string, to: string): void {
    const { rules } = this.shared
    for (const [key, { path }] of this.#files) {
      if (rules.contains(from, path) || rules.contains(to, path)) this.#renaming.add(key)
    }
  }

  /** The user renamed files or folders in the editor: changes go along. */
  async renamed(from: string, to: string): Promise<void> {
    await this.#ready
    const { rules } = this.shared
    const real = await this.#realPath(to)
    for (const [key, file] of [...this.#files]) {
      if (!rules.contains(from, file.path)) continue
      const path = rules.same(from, file.path) ? real : rules.join(real, rules.relative(from, file.path))
      await this.#queue.run(key, async () => {
        this.#renaming.delete(key)
        if (this.#files.get(key) !== file) return
        const dirty = this.#dirty.has(key)
        const unsaved = this.#unsaved.get(key)
        this.#forget(key)
        const next = this.key(path)
        const there = this.#files.get(next)
        if (there?.isKnown) await this.#putAside(there)
        const moved = file.clone(path)
        this.#renaming.delete(next)
        this.#files.set(next, moved)
        if (dirty) this.#dirty.add(next)
        if (unsaved) {
          const states = unsaved.states.map(({ file: known, text }) => ({ file: known.clone(path), text }))
          this.#unsaved.set(next, { states, at: unsaved.at })
        }
        this.#edited(next, moved, true)
        this.#change.fire(new Set([file.path, path]))
      })
    }
    // a file that no agent changed is where an agent took one away: it is the user's
    for (const [key, { path }] of [...this.#files]) {
      if (!rules.contains(real, path) || !this.#renaming.has(key)) continue
      await this.#queue.run(key, async () => {
        this.#renaming.delete(key)
        const file = this.#files.get(key)
        const now = file && (await this.#read(path))
        if (now) this.#edited(key, file, file.edit(now, 'user'))
      })
    }
  }

  // ---- what agents do ----------------------------------------------------------------------------------------------

  /** A turn runs from now on. `isWorking`: what changes in the roots now may be its work. */
  beginTurn(session: string, author: AgentAuthor, roots: readonly string[], isWorking: () => boolean): void {
    const { rules } = this.shared
    let real = roots
    const covers = (path: string) => real.some(root => rules.contains(root, path))
    this.#turns.set(session, { author, isWorking, covers })
    void Promise.all(roots.map(root => this.#realPath(root))).then(paths => {
      real = paths
    })
  }

  /** Looks at what changed until now, once all is `told` of it, and takes nothing for this turn's work any more. */
  async endTurn(session: string, told?: Promise<unknown>): Promise<void> {
    const turn = this.#turns.get(session)
    if (!turn) return
    await this.#ready
    await told
    await this.#look([...this.#files].flatMap(([key, file]) => (turn.covers(file.path) ? key : [])))
    if (this.#turns.get(session) === turn) this.#turns.delete(session)
    this.dropCheckpoints()
    // the next turn may have begun while the files were looked at: what it has told is its own
    const isNext = this.#turns.has(session)
    if (!isNext)
      for (const seen of [this.#unclaimed, this.#assumed])
        for (const [key, { file }] of [...seen]) if (turn.covers(file.path)) seen.delete(key)
    const isOver = (one: TurnRef) => turn.author.turns.some(over => over.turn === one.turn)
    for (const [key, claims] of [...this.#claims]) {
      const isLeft = ({ author }: Claim) =>
        author.turns.every(one => one.session !== session || (isNext && !isOver(one)))
      this.#setClaims(key, claims.filter(isLeft))
    }
  }

  /** An agent writes a file through the client: `work` does it. */
  async writing<T>(path: string, content: string, author: AgentAuthor, work: () => Promise<T>): Promise<T> {
    const key = this.key(path)
    const write: ClientWrite = { content: withoutMark(content) }
    let onDisk: TrackedFile | undefined
    await this.#run(key, async () => {
      const file = this.#files.get(key)
      if (file) await this.#observe(key, file)
      else await this.#begin(key, path)
      const document = this.#document(path)
      let known = this.#files.get(key)
      if (known && document?.isDirty() && known.attributes.type === 'text') {
        onDisk = known
        known = this.#inDocument(key, known).clone()
        known.editText(withLineEndsOf(document.text(), known.text), 'user')
        this.#files.set(key, known)
      }
      // on the disk before the agent's text is
      if (known) await this.#store.put(Buffer.from(known.text))
      this.#writes.set(key, write)
    })
    let done = false
    try {
      const result = await work()
      done = true
      return result
    } finally {
      await this.#run(key, async () => {
        if (this.#writes.get(key) === write) this.#writes.delete(key)
        const file = this.#files.get(key)
        if (!file) return
        if (!done) {
          if (onDisk) this.#files.set(key, onDisk)
          return this.#observe(key, onDisk ?? file)
        }
        this.#unsaved.delete(key)
        const now = await this.#read(path)
        if (!now) return
        if (write.typed !== undefined) file.editText(withLineEndsOf(write.typed, file.text), 'user')
        const end = lineEnd(now.text)
        const text = end ? withLineEnd(write.content, end) : write.content
        const isText = now.attributes.type === 'text'
        const first = isText ? file.edit({ text, attributes: now.attributes }, author) : false
        const rest = sameButSpace(text, now.text) ? author : 'user'
        this.#edited(key, file, file.edit(now, rest) || first)
        this.#stale.delete(key)
      })
    }
  }

  /** A tool call told what it does to a file, or that it did. */
  async tool(path: string, author: AgentAuthor, reported: readonly ToolChange[]): Promise<void> {
    const key = this.key(path)
    const [first] = reported
    if (!first) return
    await this.#run(key, async () => {
      const known = this.#files.get(key)
      const now = await (known ? this.#readWhole(known) : this.#read(path))
      if (!now) return
      if (!known) {
        const original = this.#original(now, first)
        if (original === undefined) return
        if (!this.#begin(key, path, original)) return this.#leaveOut(key, author)
        this.#assumed.set(key, { file: this.#files.get(key)!, text: original.text })
      } else this.#takeBackAssumed(key, known, author, reported)
      this.#takeBackUnclaimed(key, now, reported)
      const file = this.#files.get(key)!
      const { toolCallId } = first
      const others = (this.#claims.get(key) ?? []).filter(claim => claim.toolCallId !== toolCallId)
      const claims = reported.map(one => ({ ...one, author, applied: false }))
      this.#setClaims(key, [...others, ...claims])
      this.#settle(key, file, now)
      if (first.done) this.#setClaims(key, others)
    })
  }

  /** A file changed while turns ran, and nobody spoke of it: `before` is what it was, or at least its text. */
  async noticed(
    path: string,
    before: FileText | FileState,
    author: AgentAuthor,
    mode?: number,
  ): Promise<void> {
    const key = this.key(path)
    await this.#run(key, async () => {
      // whose text it is, is known
      if (this.#writes.has(key)) return
      const now = await this.#read(path)
      if (!now) return
      const file = this.#files.get(key)
      const working = [...this.#turns].filter(([, turn]) => turn.isWorking() && turn.covers(path))
      // a look at what a turn did may end when the next one has begun
      const isLate = author.turns.some(({ session, turn }) => {
        const running = this.#turns.get(session)
        return running?.author.turns.every(one => one.turn !== turn)
      })
      if (file) return this.#settle(key, file, now, isLate ? { ...author, uncertain: true } : 'user')
      const { type } = now.attributes
      const isState = typeof before === 'object' && before !== null
      if (!isState && type !== 'text' && type !== 'absent') return
      const was = isState ? before : textState(before, now, mode)
      if (sameState(was, now)) return
      if (!this.#begin(key, path, was)) return this.#leaveOut(key, author)
      const begun = this.#files.get(key)!
      const isOwn = (session: string) => author.turns.some(one => one.session === session)
      const turns = isLate ? working.filter(([session]) => !isOwn(session)) : working
      const others = turns.flatMap(([, turn]) => turn.author.turns)
      const all = isLate ? [...author.turns, ...others] : others.length > 0 ? others : author.turns
      this.#edited(key, begun, begun.edit(now, { turns: all, uncertain: true }))
    })
  }

  // ---- keep and undo -----------------------------------------------------------------------------------------------

  /** Takes what matches for the user's: it is no change any more. */
  keep(path: string, matches: Matches, ids?: ReadonlySet<number>): void {
    const key = this.key(path)
    const file = this.#files.get(key)
    if (!file) return
    this.#decide(key, file)
    // ids are the same with and without unsaved changes
    file.keep(matches, ids)
    for (const state of this.#unsaved.get(key)?.states ?? []) state.file.keep(matches, ids)
    this.#edited(key, file, true)
  }

  /**
   * Brings back what was there before what matches, and leaves all else. Rejects with the file system's error. What was
   * undone is told to `note`, to be brought back by {@link restore}.
   */
  async undo(
    path: string,
    matches: Matches,
    options: UndoOptions,
    note: (file: UndoneFile) => Promise<void>,
  ): Promise<UndoOutcome> {
    const key = this.key(path)
    return this.#run(key, async () => {
      const known = this.#files.get(key)
      if (!known) return 'undone'
      await this.#observe(key, known)
      const file = this.#files.get(key)
      if (!file || file.gone) return 'undone'
      const view = this.#view(key, file)
      if (!view) return 'unsaved'
      const rewound = options.kept ? view.file.rewound(matches, options) : undefined
      if (options.kept && !rewound) return 'undone'
      const target = rewound?.file ?? view.file.clone()
      const conflict = rewound ? rewound.conflict : target.undo(matches, options)
      if (!sameState(target.state, view.file.state)) {
        if (view.document && target.attributes.type !== 'text') return 'unsaved'
        await note({ before: view.file.store(), after: target.store() })
        await this.#replace(key, file, target, view)
        this.#decide(key, file)
      } else if (!view.document && !rewound) {
        // a file that the agent added and that holds the user's lines alone is the user's
        this.#files.set(key, target)
        this.#edited(key, target, target.hasChanges !== file.hasChanges)
      }
      return conflict ?? 'undone'
    })
  }

  // ---- checkpoints -------------------------------------------------------------------------------------------------

  /** Files of which a checkpoint knows changes that match, with the user's unsaved changes in them. */
  checkpointed(matches: Matches): TrackedFile[] {
    return this.#viewed([...this.#files.values()].filter(file => file.historyAuthors(matches).length > 0))
  }

  /** What a file becomes without what matches, kept or not; `unsaved`: its unsaved changes don't go with it. */
  rewound(path: string, matches: Matches): Rewound | 'unsaved' | undefined {
    const key = this.#ownKey(path)
    const file = this.#files.get(key)
    if (!file) return undefined
    const view = this.#view(key, file)
    if (!view) return 'unsaved'
    const rewound = view.file.rewound(matches)
    return rewound && view.document && rewound.file.attributes.type !== 'text' ? 'unsaved' : rewound
  }

  /** Files whose checkpoints of these turns were dropped. */
  dropped(matches: (turn: TurnRef) => boolean): DroppedHistory[] {
    return this.#dropped.filter(({ turns }) => turns.some(matches))
  }

  /** Drops what checkpoints know of changes that match. */
  forgetCheckpoints(matches: Matches): void {
    for (const [key, file] of [...this.#files]) {
      if (file.historyAuthors(matches).length === 0) continue
      file.forgetHistory(matches)
      this.#edited(key, file, true)
    }
  }

  /** Drops checkpoints that are too old, and the oldest while all take too much room. */
  dropCheckpoints(): void {
    const limits = this.#limits()
    if (!limits) return
    const kept = [...this.#files].flatMap(([key, file]) => {
      const at = file.historyAt
      return at === undefined ? [] : { key, file, at, bytes: file.historyBytes }
    })
    kept.sort((a, b) => b.at - a.at)
    const oldest = Date.now() - limits.maxAgeMs
    let bytes = 0
    for (const { key, file, at, bytes: own } of kept) {
      bytes += own
      if (at < oldest) this.#dropHistory(key, file, 'age')
      else if (bytes > limits.maxBytes) this.#dropHistory(key, file, 'size')
    }
  }

  #dropHistory(key: string, file: TrackedFile, why: DroppedHistory['why']): void {
    const turns = file.historyAuthors(() => true).flatMap(author => author.turns)
    const known = new Map(turns.map(turn => [`${turn.turn} ${turn.session}`, turn]))
    this.#dropped = [{ path: file.path, turns: [...known.values()], why }, ...this.#dropped].slice(
      0,
      MAX_DROPPED,
    )
    file.forgetHistory()
    this.#edited(key, file, true)
    this.#store.saveDropped(this.#dropped)
  }

  /** Remembers what was undone, on the disk before it is. `into`: it goes on with this. */
  async beginUndone(
    session: string | undefined,
    into?: Undone,
  ): Promise<{ undone: Undone; note: (file: UndoneFile) => Promise<void> }> {
    await this.#ready
    const at = Date.now()
    const undone: Undone = into ?? {
      id: `${at}-${++this.#undoCount}`,
      at,
      ...(session !== undefined && { session }),
      files: [],
    }
    const note = async (file: UndoneFile) => {
      undone.files.push(file)
      if (undone.files.length === 1) this.#undone.unshift(undone)
      const { files: _, ...head } = undone
      await this.#store.addUndone(head, file)
    }
    return { undone, note }
  }

  /** The user put another file in the place of this one: what was there before an agent can be brought back from here on. */
  async #putAside(file: TrackedFile): Promise<void> {
    const [author] = [
      ...file.hunks(() => true).flatMap(hunk => hunk.authors),
      ...file.attributeAuthors(() => true),
    ]
    const { note } = await this.beginUndone(author?.turns[0]?.session)
    await note({ before: TrackedFile.of(file.path, file.base).store(), after: file.store() })
  }

  /** Brings back what was undone. Answers with the paths where something is in the way or not saved, which stay as they are. */
  async restore(id: string): Promise<string[]> {
    await this.#ready
    const undone = this.#undone.find(one => one.id === id)
    if (!undone) return []
    const left: UndoneFile[] = []
    // one file may have been undone in parts: the last one first
    for (const one of undone.files.toReversed()) {
      const key = this.key(one.before.path)
      const isBelow = left.some(other => this.key(other.before.path) === key)
      const done = !isBelow && (await this.#run(key, () => this.#restore(key, one, undone.session)))
      if (!done) left.unshift(one)
    }
    undone.files = left
    if (left.length === 0) {
      this.#undone.splice(this.#undone.indexOf(undone), 1)
      this.#store.forgetUndone(id)
    } else await this.#store.saveUndone(undone)
    return [...new Set(left.map(one => one.before.path))]
  }

  async #restore(key: string, { before, after }: UndoneFile, session?: string): Promise<boolean> {
    const { path } = before
    const known = this.#files.get(key)
    if (known) await this.#observe(key, known)
    const now = await this.#read(path)
    const file = this.#files.get(key) ?? (now && TrackedFile.of(path, now))
    const was = TrackedFile.restore(before)
    const then = TrackedFile.restore(after)
    if (!file || !was || !then || (file.gone && then.attributes.type !== 'absent')) return false
    const view = this.#view(key, file)
    // what is not saved would hide whose the lines are that come back; the editor's own undo brings them back, too
    if (!view || view.document || !sameAttributes(view.file.attributes, then.attributes)) return false
    const text = mergeLines(splitLines(then.text), splitLines(view.file.text), splitLines(was.text))?.join('')
    if (text === undefined) return false
    let target = was
    if (text !== was.text || JSON.stringify(view.file.store().segments) !== JSON.stringify(after.segments)) {
      const mine: Matches = ({ turns }) =>
        session === undefined || turns.some(turn => turn.session === session)
      const [author] = [...was.hunks(mine).flatMap(({ authors }) => authors), ...was.attributeAuthors(mine)]
      target = view.file.clone()
      const state = { text, attributes: was.attributes }
      target.edit(state, author ?? 'user', author ?? was.historyAuthors(mine).at(-1) ?? 'user')
    }
    this.#files.set(key, file)
    await this.#replace(key, file, target, view)
    return true
  }

  // ---- within ------------------------------------------------------------------------------------------------------

  async #load(): Promise<void> {
    try {
      for (const stored of await this.#store.load()) {
        const file = TrackedFile.restore(stored)
        if (file) this.#files.set(this.key(file.path), file)
      }
      this.#undone.push(...(await this.#store.loadUndone()))
      this.#dropped = await this.#store.loadDropped()
      this.dropCheckpoints()
    } catch (error) {
      this.shared.log.warn(`What agents changed could not be read: ${messageOf(error)}`)
    }
    if (this.#files.size === 0) return
    this.#watch.set(true)
    this.#change.fire(new Set([...this.#files.values()].map(({ path }) => path)))
    void this.#look([...this.#files.keys()])
  }

  /** Waits for nothing but what is done to this file. */
  async #run<T>(key: string, work: () => Promise<T>): Promise<T> {
    await this.#ready
    return this.#queue.run(key, work)
  }

  /** Does something about a tracked file, in the order in which the editor tells of it. Never rejects. */
  async #ofUser(path: string, work: (key: string, file: TrackedFile) => Promise<void>): Promise<void> {
    try {
      await this.#ready
      if (this.#files.size === 0) return
      let key = this.#ownKey(path)
      if (!this.#files.has(key)) {
        const real = await this.#realPath(path)
        this.alias(real, [path])
        key = this.key(real)
      }
      await this.#queue.run(key, async () => {
        const file = this.#files.get(key)
        if (file) await work(key, file)
      })
    } catch (error) {
      this.shared.log.debug(`A changed file could not be looked at: ${messageOf(error)}`)
    }
  }

  async #realPath(path: string): Promise<string> {
    return this.shared.fileSystem.realpath(path).catch(() => path)
  }

  async #look(keys: readonly string[]): Promise<void> {
    const waiting = [...keys]
    const next = async (): Promise<void> => {
      for (let key = waiting.shift(); key !== undefined; key = waiting.shift()) {
        const at = key
        await this.#run(at, async () => {
          const file = this.#files.get(at)
          if (file && !this.#writes.has(at) && !this.#renaming.has(at)) await this.#observe(at, file)
        }).catch(error => this.shared.log.debug(`A changed file could not be looked at: ${messageOf(error)}`))
      }
    }
    await Promise.all(Array.from({ length: MAX_LOOKS }, next))
  }

  #leaveOut(key: string, { turns }: AgentAuthor): void {
    for (const { session } of turns)
      this.#untracked.set(session, (this.#untracked.get(session) ?? new Set()).add(key))
    this.#change.fire(new Set())
  }

  async #observe(key: string, file: TrackedFile): Promise<void> {
    const now = await this.#readWhole(file)
    if (now) this.#settle(key, file, now)
  }

  /** Programs empty a file before they write it: what has just lost its text is looked at again. */
  async #readWhole({ path, text }: TrackedFile): Promise<FileState | undefined> {
    let now = await this.#read(path)
    for (let looks = 1; looks < MAX_EMPTY_LOOKS; looks++) {
      if (text === '' || now?.attributes.type !== 'text' || now.text !== '') break
      await delay(EMPTY_LOOK_MS)
      now = await this.#read(path)
    }
    return now
  }

  async #read(path: string): Promise<FileState | undefined> {
    return this.#states.read(path, this.#document(path)?.encoding)
  }

  /** Tracks a file that is the user's until now. False: too many are tracked. */
  #begin(key: string, path: string, state: FileState): boolean
  #begin(key: string, path: string): Promise<boolean>
  #begin(key: string, path: string, state?: FileState): boolean | Promise<boolean> {
    if (!state) return this.#read(path).then(now => now !== undefined && this.#begin(key, path, now))
    if (this.#files.size >= MAX_FILES && !this.#makeRoom()) return false
    this.#files.set(key, TrackedFile.of(path, state))
    if (this.#document(path)?.isDirty()) this.#dirty.add(key)
    this.#watch.set(true)
    return true
  }

  /** Drops the oldest checkpoint of a file that is not to be reviewed. False: there is none. */
  #makeRoom(): boolean {
    let oldest: [string, TrackedFile] | undefined
    for (const entry of this.#files) {
      const [key, file] = entry
      if (file.hasChanges || this.#claims.has(key) || this.#writes.has(key)) continue
      if ((file.historyAt ?? 0) < (oldest?.[1].historyAt ?? Number.POSITIVE_INFINITY)) oldest = entry
    }
    if (!oldest) return false
    this.#dropHistory(...oldest, 'size')
    return true
  }

  /** What the file was before a tool call of which nothing is known yet; `undefined`: nobody can tell. */
  #original(now: FileState, { change, patch, done }: ToolChange): FileState | undefined {
    const { type } = now.attributes
    if (type !== 'text' && type !== 'absent') return done ? undefined : now
    if (!change) return done ? undefined : now
    const text = originalText(change, type === 'absent' ? null : now.text, patch, done)
    return text === undefined ? undefined : textState(text, now)
  }

  /** Whose the difference is between what is known of a file and what it is now. */
  #settle(key: string, file: TrackedFile, now: FileState, otherwise: Author = 'user'): void {
    if (!file.gone && sameState(file.state, now)) return
    const isOtherText = file.text !== now.text
    const unsaved = this.#document(file.path)
    // the editor has written what the user typed, and tells of it next
    if (isOtherText && unsaved?.isDirty() && sameButEnds(unsaved.text(), now.text)) {
      this.#unclaimed.delete(key)
      this.#edited(key, file, file.edit(now, 'user'))
      return
    }
    const before = file.clone()
    // or it has, and somebody wrote once more since
    let changed = isOtherText && unsaved?.isDirty() === true && editSaved(file, unsaved.text(), now.text)
    const claims = this.#claims.get(key) ?? []
    for (const claim of claims)
      if (!claim.applied) changed = this.#settleClaim(file, now, claim, claims) || changed
    const rest = this.#authorOf(file, claims, otherwise)
    if (isOtherText && unsaved?.isDirty()) {
      this.#stale.add(key)
      if (now.attributes.type === 'absent') this.#deleted.set(key, before)
      else this.#deleted.delete(key)
    }
    const edited = file.edit(now, rest)
    const isOpen = [...this.#turns.values()].some(turn => turn.covers(file.path))
    if (edited && !changed && isOpen) this.#unclaimed.set(key, { file, version: file.version, before })
    else this.#unclaimed.delete(key)
    this.#edited(key, file, edited || changed)
  }

  /** What was taken for the user's when the first change was reported is that of a tool call that wrote by then, too. */
  #takeBackAssumed(
    key: string,
    file: TrackedFile,
    author: AgentAuthor,
    reported: readonly ToolChange[],
  ): void {
    const assumed = this.#assumed.get(key)
    if (!assumed || assumed.file !== file || file.attributes.type !== 'text') return
    for (const { change, patch, begun } of reported) {
      if (!begun || change?.operation !== 'modify') continue
      const was = originalText(change, assumed.text, patch, true)
      const without = originalText(change, file.text, patch, true)
      if (typeof was !== 'string' || typeof without !== 'string') continue
      if (was === assumed.text || without === file.text) continue
      assumed.text = was
      const { text } = file
      file.editText(without, 'user')
      this.#edited(key, file, file.editText(text, author))
    }
  }

  /** What was seen before its tool call reported it is that tool call's after all. */
  #takeBackUnclaimed(key: string, now: FileState, reported: readonly ToolChange[]): void {
    const unclaimed = this.#unclaimed.get(key)
    this.#unclaimed.delete(key)
    const [{ change, patch, begun } = {}, ...others] = reported
    const file = this.#files.get(key)
    if (!unclaimed || unclaimed.file !== file || unclaimed.version !== file.version) return
    if (!begun || !change || change.operation === 'delete' || others.length > 0) return
    const expected = expectedText(change, unclaimed.before.text, patch)
    if (expected !== undefined && sameButEnds(expected, now.text)) this.#files.set(key, unclaimed.before)
  }

  #settleClaim(file: TrackedFile, now: FileState, claim: Claim, claims: readonly Claim[]): boolean {
    const { change, patch, author } = claim
    if (!change) return false
    if (change.operation === 'delete') {
      claim.applied = now.attributes.type === 'absent'
      return claim.applied && file.edit(now, author)
    }
    if (now.attributes.type !== 'text') return false
    const expected = expectedText(change, file.text, patch)
    if (expected === undefined) return false
    const bare = (text: string) => text.replaceAll('\r\n', '\n').replace(/\n$/, '')
    const others = bare(expected) === bare(now.text) ? file.text : othersPart(file.text, expected, now.text)
    // not there yet, or nobody can tell
    if (others === now.text || (others === undefined && !claim.begun)) return false
    claim.applied = true
    if (others === undefined) return file.edit({ text: expected, attributes: now.attributes }, author)
    const unclaimed = claims.some(one => one !== claim && one.begun && !one.applied && one.change)
    // what another tool call is to be seen in is left to that
    if (unclaimed && others !== file.text)
      return file.edit({ text: expected, attributes: now.attributes }, author)
    file.editText(others, this.#authorOf(file, claims))
    return file.edit(now, author)
  }

  /** Who changed a file of which nobody said how. */
  #authorOf(file: TrackedFile, claims: readonly Claim[], otherwise: Author = 'user'): Author {
    const naming = claims.find(
      ({ begun, applied, change, patch }) =>
        begun && !applied && (!change || expectedText(change, file.text, patch) === undefined),
    )
    if (naming) return naming.author
    const turns = [...this.#turns.values()].filter(turn => turn.isWorking() && turn.covers(file.path))
    if (turns.length === 0) return otherwise
    return { turns: turns.flatMap(({ author }) => author.turns), uncertain: true }
  }

  #setClaims(key: string, claims: Claim[]): void {
    if (claims.length > 0) {
      this.#claims.set(key, claims)
      return
    }
    this.#claims.delete(key)
    if (this.#files.get(key)?.isKnown === false) this.#forget(key)
  }

  #edited(key: string, file: TrackedFile, changed: boolean): void {
    const isKnown = file.isKnown || this.#unsaved.has(key)
    if (!isKnown && !this.#claims.has(key) && !this.#writes.has(key)) this.#forget(key)
    else if (changed && file.isKnown) this.#store.save(file.path, file.store())
    else if (changed) this.#store.save(file.path, undefined)
    if (changed) this.#change.fire(new Set([file.path]))
  }

  #forget(key: string): void {
    const file = this.#files.get(key)
    if (!file) return
    this.#files.delete(key)
    this.#stale.delete(key)
    this.#deleted.delete(key)
    this.#dirty.delete(key)
    this.#unsaved.delete(key)
    this.#assumed.delete(key)
    this.#store.save(file.path, undefined)
    if (this.#files.size === 0) this.#watch.set(false)
  }

  /** The file with unsaved changes in it, and their document; `undefined` where those do not go with what is on disk. */
  #view(key: string, file: TrackedFile): { file: TrackedFile; document?: OpenDocument } | undefined {
    const document = this.#document(file.path)
    if (!document?.isDirty() || file.gone) return { file }
    if (this.#stale.has(key) || file.attributes.type !== 'text') return undefined
    const view = this.#inDocument(key, file).clone()
    view.editText(withLineEndsOf(document.text(), view.text), 'user')
    return { file: view, document }
  }

  /** What is known of the text that the user types in, where a document of the file has unsaved changes. */
  #inDocument(key: string, file: TrackedFile): TrackedFile {
    const unsaved = this.#unsaved.get(key)
    return unsaved?.states[unsaved.at]?.file ?? file
  }

  async #replace(
    key: string,
    file: TrackedFile,
    target: TrackedFile,
    { file: shown, document }: { file: TrackedFile; document?: OpenDocument },
  ): Promise<void> {
    if (document) {
      const before = document.text()
      const after = withLineEnd(target.text, document.lineEnd)
      const edit = smallestEdit(before, after)
      const known = this.#unsaved.get(key)
      const earlier = known?.states.slice(0, known.at + 1) ?? []
      const states = [...earlier, { file: shown, text: before }, { file: target, text: after }].slice(
        -MAX_STATES,
      )
      this.#unsaved.set(key, { states, at: states.length - 1 })
      if (edit && !(await document.replace(edit, before))) {
        if (known) this.#unsaved.set(key, known)
        else this.#unsaved.delete(key)
        throw new Error('The editor did not take the change.')
      }
      const { attributes } = target
      if (
        attributes.type === 'text' &&
        file.attributes.type === 'text' &&
        attributes.mode !== file.attributes.mode
      )
        await this.#states.setMode(file.path, attributes.mode)
      await this.#observe(key, file)
      this.#change.fire(new Set([file.path]))
      return
    }
    await this.#states.write(file.path, target.state, path => this.#discard(path))
    this.#files.set(key, target)
    this.#watch.set(true)
    this.#edited(key, target, true)
  }

  #decide(key: string, { path }: TrackedFile): void {
    this.#decided.set(key, (this.#decided.get(key) ?? 0) + 1)
    this.#decision.fire(path)
  }

  /** The content is in the store by now. */
  async #discard(path: string): Promise<void> {
    await this.#trash(path).catch(() => this.shared.fileSystem.remove(path))
  }

  #document(path: string): OpenDocument | undefined {
    return this.shared.documents.find([path, ...(this.#spellings.get(this.key(path)) ?? [])])
  }
}

/** A file that had this text, stored as it is now. */
function textState(text: FileText, { attributes }: FileState, mode?: number): FileState {
  if (text === null) return ABSENT
  const stored = attributes.type === 'text' ? attributes : NEW_TEXT
  return { text, attributes: { ...stored, mode: mode ?? stored.mode } }
}

/** Whether a text on disk has all that the user typed in a file: it was saved, and is the user's. */
function editSaved(file: TrackedFile, typed: string, now: string): boolean {
  const text = withLineEndsOf(typed, file.text)
  const merged = mergeLines(splitLines(file.text), splitLines(text), splitLines(now))
  return merged?.join('') === now && file.editText(text, 'user')
}

function sameButEnds(one: string, other: string): boolean {
  return one === other || one.replaceAll('\r\n', '\n') === other.replaceAll('\r\n', '\n')
}

/** A formatter makes one of the other. */
function sameButSpace(one: string, other: string): boolean {
  return one === other || one.replace(/\s/g, '') === other.replace(/\s/g, '')
}

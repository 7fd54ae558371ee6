/**
 * Tracks what agents changed on disk, for the whole window. A file that several sessions change is tracked once. Text
 * that an agent writes through the client, or reports, is the agent's. Other changes during a turn are attributed to the
 * turn and marked as uncertain. All other changes are the user's and are applied to the original text as well.
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

/** A file before and after an undo. */
export interface UndoneFile {
  before: StoredFile
  after: StoredFile
}

/** An undo that can be reverted. */
export interface Undone {
  id: string
  /** milliseconds since the epoch */
  at: number
  /** the session whose changes were undone; absent if there were several */
  session?: string
  files: UndoneFile[]
}

/** Persists the tracked files across reloads. */
export interface TrackerStore extends BlobStore {
  load(): Promise<StoredFile[]>
  /** Saves in the background. `undefined` removes the file. */
  save(path: string, file: StoredFile | undefined): void
  /** Replaces the stored undo. Resolves when it is on disk. */
  saveUndone(undone: Undone): Promise<void>
  /** Adds a file to the undo. Resolves when it is on disk. */
  addUndone(undone: Omit<Undone, 'files'>, file: UndoneFile): Promise<void>
  /** Newest first. */
  loadUndone(): Promise<Undone[]>
  forgetUndone(id: string): void
  /** Saves in the background and replaces what is stored. */
  saveDropped(dropped: readonly DroppedHistory[]): void
  loadDropped(): Promise<DroppedHistory[]>
}

/** A file whose checkpoints are no longer kept. */
export interface DroppedHistory {
  path: string
  turns: TurnRef[]
  why: 'age' | 'size'
}

/** Files that changed during a session's turn but aren't tracked. */
export interface Omitted {
  /** There are too many of them, or they are too large. */
  files: number
  /** Folders where changes by commands can't be detected. */
  folders: readonly string[]
}
const NOTHING: Omitted = { files: 0, folders: [] }

/** How long checkpoints are kept, and how much space they may use. */
export interface CheckpointLimits {
  maxAgeMs: number
  maxBytes: number
}

export interface TrackerOptions {
  files: FilesShared
  store: TrackerStore
  /** Moves a file to the trash; its content is in the store. Rejects if there is no trash. */
  trash?: (path: string) => Promise<void>
  /** Read each time checkpoints are dropped. Absent: checkpoints are kept without a limit. */
  checkpoints?: () => CheckpointLimits
  /** Globs of files to ignore in folders without a repository. */
  excluded?: () => readonly string[]
}

/** What a tool call does to a file, as the agent reports it. */
export interface ToolChange {
  toolCallId: string
  /** The change may have been made: the tool call is no longer waiting. */
  begun: boolean
  done: boolean
  /** Absent if the tool call only names the file. */
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
  /** The agent may be changing files now. */
  isWorking: () => boolean
  covers: (path: string) => boolean
}

/**
 * - `undone`: no change is left.
 * - `user`, `agent`: the rest has later changes by the user or another agent.
 * - `unsaved`: the file has unsaved changes that conflict.
 */
export type UndoOutcome = 'undone' | 'user' | 'agent' | 'unsaved'

export interface UndoOptions {
  ids?: ReadonlySet<number>
  /** Discards the user's later changes. */
  force?: boolean
  /** Also undoes kept changes, to restore a checkpoint. */
  kept?: boolean
}

/**
 * A document with unsaved changes in which agents' changes were undone: its states before and after each undo, so that
 * the editor's own undo and redo can be recognized. What the user types is found from `at` on.
 */
interface Unsaved {
  states: Array<{ file: TrackedFile; text: string }>
  at: number
}

interface ClientWrite {
  content: string
  /** what the user had typed before the editor had the agent's text */
  typed?: string
  /** The editor has the agent's text, and may format it when it saves. */
  shown?: true
}

/** Number of states remembered for a document with unsaved changes. */
const MAX_STATES = 50
/** Maximum number of tracked files. */
const MAX_FILES = 10_000
/** Number of files for which a dropped checkpoint is remembered. */
const MAX_DROPPED = 2000
/** How often a file that became empty is read again, and the delay in milliseconds. */
const MAX_EMPTY_LOOKS = 5
const EMPTY_LOOK_MS = 20
/** Number of files read at the same time. */
const MAX_LOOKS = 8

export class ChangeTracker extends Owner {
  readonly shared: FilesShared
  /** Detects changes by commands in folders without a Git repository. */
  readonly scan: FolderScan
  readonly #store: TrackerStore
  readonly #trash: (path: string) => Promise<void>
  readonly #states: FileStates
  readonly #queue = new KeyedQueue()
  readonly #files = new Map<string, TrackedFile>()
  readonly #claims = new Map<string, Claim[]>()
  readonly #turns = new Map<string, RunningTurn>()
  /** by key: writes through the client in progress */
  readonly #writes = new Map<string, ClientWrite>()
  /** files whose documents have unsaved changes */
  readonly #dirty = new Set<string>()
  /** by key: documents in which changes were undone */
  readonly #unsaved = new Map<string, Unsaved>()
  /** files that the user is renaming */
  readonly #renaming = new Set<string>()
  /** files that changed on disk under unsaved changes */
  readonly #stale = new Set<string>()
  /** by key: a file that was deleted while it had unsaved changes, which are relative to it */
  readonly #deleted = new Map<string, TrackedFile>()
  /** by the key of another path of a file (through a link): its own key */
  readonly #aliases = new Map<string, string>()
  /** by a file's own key: those other paths, under which the editor may have it open */
  readonly #spellings = new Map<string, Set<string>>()
  /** by key: a change that no tool call has reported yet, with the file before it */
  readonly #unclaimed = new Map<string, { file: TrackedFile; version: number; before: TrackedFile }>()
  /** by key: the file when its first change was reported, updated with what was reported since */
  readonly #assumed = new Map<string, { file: TrackedFile; text: string }>()
  /** by key: how often the user kept or undid its changes */
  readonly #decided = new Map<string, number>()
  /** by session */
  readonly #omitted = new Map<string, Omitted>()
  /** by session: keys of files that changed when the limit of tracked files was reached */
  readonly #untracked = new Map<string, Set<string>>()
  readonly #watch: FileWatch
  readonly #ready: Promise<void>
  readonly #change = this.register(new Emitter<ReadonlySet<string>>())
  readonly #decision = this.register(new Emitter<string>())
  readonly #undone: Undone[] = []
  #dropped: readonly DroppedHistory[] = []
  readonly #limits: () => CheckpointLimits | undefined
  #undoCount = 0

  /** Paths of files whose changes are different now. */
  readonly onDidChange = this.#change.event
  /** Path of a file in which the user kept or undid changes. */
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

  /** A file can also be reached by other paths. */
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

  /** Returns a function that tells whether the user has kept or undone changes of the file since this call. */
  watchDecided(): (path: string) => boolean {
    const before = new Map(this.#decided)
    return path => {
      const key = this.#ownKey(path)
      return this.#decided.get(key) !== before.get(key)
    }
  }

  /** Stores which files changed during the session's turn but aren't tracked. */
  omit(session: string, omitted: Omitted): void {
    if (JSON.stringify(this.#omitted.get(session) ?? NOTHING) === JSON.stringify(omitted)) return
    this.#omitted.set(session, omitted)
    this.#change.fire(new Set())
  }

  omitted(session: string): Omitted {
    const { files, folders } = this.#omitted.get(session) ?? NOTHING
    return { files: files + (this.#untracked.get(session)?.size ?? 0), folders }
  }

  /** Undos that can be reverted, newest first. */
  get undone(): readonly Undone[] {
    return this.#undone
  }

  /** Resolves when the stored state has been read. */
  get ready(): Promise<void> {
    return this.#ready
  }

  /** The file including the user's unsaved changes. */
  view(path: string): TrackedFile | undefined {
    const key = this.#ownKey(path)
    const file = this.#files.get(key)
    if (!file || !this.#dirty.has(key)) return file
    return this.#view(key, file)?.file ?? file
  }

  /**
   * The file without the changes of one session, or of all agents. A file that agents didn't change is returned as it is.
   * `undefined` if it can't be read.
   */
  async before(path: string, session?: string): Promise<FileState | undefined> {
    await this.#ready
    const file = this.view(path)
    if (!file) return this.#read(path).catch(() => undefined)
    if (session === undefined) return file.base
    return file.without(author => author.turns.some(turn => turn.session === session))
  }

  /** The content of a file; its text in UTF-8 with a byte order mark. */
  async bytesOf({ attributes, text }: FileState): Promise<Uint8Array> {
    if (attributes.type === 'text') return Buffer.from(/^[\0-\x7f]*$/.test(text) ? text : `\ufeff${text}`)
    if (attributes.type === 'binary') return (await this.#store.get(attributes.hash)) ?? new Uint8Array()
    return attributes.type === 'link' ? Buffer.from(attributes.target) : new Uint8Array()
  }

  /** Files with agents' changes, in the order of their first change. */
  views(): TrackedFile[] {
    const files = [...this.#files].flatMap(([key, file]) =>
      (file.hasChanges || this.#unsaved.has(key)) && !file.gone ? file : [],
    )
    return this.#viewed(files)
  }

  #viewed(files: TrackedFile[]): TrackedFile[] {
    return this.#dirty.size === 0 ? files : files.map(file => this.view(file.path) ?? file)
  }

  /** Sessions with changes, in the order of their first change. */
  sessions(): Set<string> {
    const sessions = new Set<string>()
    for (const file of this.#files.values()) {
      if (!file.gone) for (const session of file.sessions) sessions.add(session)
    }
    return sessions
  }

  /** Reads all tracked files from disk again. Never rejects. */
  async refresh(): Promise<void> {
    await this.#ready
    await this.#look([...this.#files.keys()])
  }

  /** The text of a file on disk; `undefined` if it has none. Never rejects. */
  async textOf(path: string): Promise<FileText | undefined> {
    const state = await this.stateOf(path)
    const type = state?.attributes.type
    return type === 'absent' ? null : type === 'text' ? state!.text : undefined
  }

  /** A file on disk; `undefined` if it can't be read. Never rejects. */
  async stateOf(path: string): Promise<FileState | undefined> {
    return this.#read(path).catch(() => undefined)
  }

  /** Whether agents changed the file, so that it is listed. */
  isKnown(path: string): boolean {
    return this.#files.get(this.#ownKey(path))?.hasChanges ?? false
  }

  /** The file state for these bytes. */
  stateWith(bytes: Uint8Array, path: string, mode: number): Promise<FileState> {
    return this.#states.with(bytes, path, mode, this.#document(path)?.encoding)
  }

  // ---- the user's actions ---------------------------------------------------------------------------------------------

  /**
   * The user saved a file in the editor. `likely`: or reverted unsaved changes, to the file before it changed on disk.
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

  /** A document changed. Its text has unsaved changes (`dirty`) or is what's on disk. */
  typed(path: string, textOf: () => string, dirty: boolean): void {
    const at = this.#ownKey(path)
    if (dirty ? this.#files.size === 0 : !this.#dirty.has(at) && !this.#files.has(at)) return
    const write = this.#writes.get(at)
    // the agent's own text, or typed before or after it
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
        // reloaded from disk
        if (!this.#writes.has(key)) await this.#observe(key, file)
        if (had) this.#edited(key, file, true)
      }
      if (file.hasChanges && (dirty || was)) this.#change.fire(new Set([file.path]))
    })
  }

  /** The user is about to rename files or folders: files that disappear or appear because of that aren't changes. */
  renaming(from: string, to: string): void {
    const { rules } = this.shared
    for (const [key, { path }] of this.#files) {
      if (rules.contains(from, path) || rules.contains(to, path)) this.#renaming.add(key)
    }
  }

  /** The user renamed files or folders in the editor: their changes move with them. */
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
    // a file that no agent changed replaces one that an agent removed: it is the user's
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

  // ---- agents' actions -------------------------------------------------------------------------------------------------

  /** A turn starts. `isWorking`: whether changes in the roots may be its work now. */
  beginTurn(session: string, author: AgentAuthor, roots: readonly string[], isWorking: () => boolean): void {
    const { rules } = this.shared
    let real = roots
    const covers = (path: string) => real.some(root => rules.contains(root, path))
    this.#turns.set(session, { author, isWorking, covers })
    void Promise.all(roots.map(root => this.#realPath(root))).then(paths => {
      real = paths
    })
  }

  /** The turn ends: attributes what has changed so far, after `told` resolves, and nothing after that. */
  async endTurn(session: string, told?: Promise<unknown>): Promise<void> {
    const turn = this.#turns.get(session)
    if (!turn) return
    await this.#ready
    await told
    await this.#look([...this.#files].flatMap(([key, file]) => (turn.covers(file.path) ? key : [])))
    if (this.#turns.get(session) === turn) this.#turns.delete(session)
    this.dropCheckpoints()
    // the next turn may have started meanwhile: what it reported is its own
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

  /** An agent writes a file through the client; `work` does the writing. */
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
      // on disk before the agent's text is
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

  /** A tool call reported what it does or did to a file. */
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

  /** A file changed during turns without a report. `before`: the file before that, or at least its text. */
  async noticed(
    path: string,
    before: FileText | FileState,
    author: AgentAuthor,
    mode?: number,
  ): Promise<void> {
    const key = this.key(path)
    await this.#run(key, async () => {
      // the author of the text is known
      if (this.#writes.has(key)) return
      const now = await this.#read(path)
      if (!now) return
      const file = this.#files.get(key)
      const working = [...this.#turns].filter(([, turn]) => turn.isWorking() && turn.covers(path))
      // detecting a turn's changes may finish after the next turn has started
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

  /** Keeps the matching changes: they become the user's text. */
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
   * Undoes the matching changes and leaves everything else. Rejects with the file system's error. `note` receives what
   * was undone, so that {@link restore} can revert it.
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
        // a file that the agent added but that has only the user's lines is the user's
        this.#files.set(key, target)
        this.#edited(key, target, target.hasChanges !== file.hasChanges)
      }
      return conflict ?? 'undone'
    })
  }

  // ---- checkpoints -------------------------------------------------------------------------------------------------

  /** Files with matching changes in a checkpoint, including the user's unsaved changes. */
  checkpointed(matches: Matches): TrackedFile[] {
    return this.#viewed([...this.#files.values()].filter(file => file.historyAuthors(matches).length > 0))
  }

  /** The file without the matching changes, kept or not. `unsaved`: its unsaved changes conflict with that. */
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

  /** Drops the matching changes from checkpoints. */
  forgetCheckpoints(matches: Matches): void {
    for (const [key, file] of [...this.#files]) {
      if (file.historyAuthors(matches).length === 0) continue
      file.forgetHistory(matches)
      this.#edited(key, file, true)
    }
  }

  /** Drops checkpoints that are too old, and then the oldest ones until the rest fits the size limit. */
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

  /** Stores an undo on disk before it is done. `into`: the undo that it is part of. */
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

  /** The user replaced this file with another one; from now on, undoing restores what was there before the agent. */
  async #putAside(file: TrackedFile): Promise<void> {
    const [author] = [
      ...file.hunks(() => true).flatMap(hunk => hunk.authors),
      ...file.attributeAuthors(() => true),
    ]
    const { note } = await this.beginUndone(author?.turns[0]?.session)
    await note({ before: TrackedFile.of(file.path, file.base).store(), after: file.store() })
  }

  /** Reverts an undo. Returns the paths that were left alone because something is in the way or unsaved. */
  async restore(id: string): Promise<string[]> {
    await this.#ready
    const undone = this.#undone.find(one => one.id === id)
    if (!undone) return []
    const left: UndoneFile[] = []
    // a file may have been undone in steps: revert the last one first
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
    // with unsaved changes, the authors of the restored lines couldn't be told; the editor's own undo restores them, too
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

  // ---- internals ---------------------------------------------------------------------------------------------------------

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

  /** Waits only for work on this file. */
  async #run<T>(key: string, work: () => Promise<T>): Promise<T> {
    await this.#ready
    return this.#queue.run(key, work)
  }

  /** Runs `work` on a tracked file, in the order of the editor's events. Never rejects. */
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

  /** Programs empty a file before they write it, so read a file again that has just become empty. */
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

  /** Starts to track a file, all of which is the user's so far. Returns false if too many are tracked. */
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

  /** Drops the oldest checkpoint of a file that has nothing to review. Returns false if there is none. */
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

  /** The file before a tool call whose changes aren't known yet; `undefined` if that is unknown. */
  #original(now: FileState, { change, patch, done }: ToolChange): FileState | undefined {
    const { type } = now.attributes
    if (type !== 'text' && type !== 'absent') return done ? undefined : now
    if (!change) return done ? undefined : now
    const text = originalText(change, type === 'absent' ? null : now.text, patch, done)
    return text === undefined ? undefined : textState(text, now)
  }

  /** Attributes the difference between the last known file and the file as it is now. */
  #settle(key: string, file: TrackedFile, now: FileState, otherwise: Author = 'user'): void {
    if (!file.gone && sameState(file.state, now)) return
    const isOtherText = file.text !== now.text
    const unsaved = this.#document(file.path)
    // the editor has written what the user typed; its event follows
    if (isOtherText && unsaved?.isDirty() && sameButEnds(unsaved.text(), now.text)) {
      this.#unclaimed.delete(key)
      this.#edited(key, file, file.edit(now, 'user'))
      return
    }
    const before = file.clone()
    // or it has, and the file was written again since
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

  /**
   * A change that was attributed to the user when the first change was reported may be that of another tool call that had
   * written by then.
   */
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

  /** A change that was seen before its tool call reported it belongs to that tool call. */
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
    // not there yet, or unknown
    if (others === now.text || (others === undefined && !claim.begun)) return false
    claim.applied = true
    if (others === undefined) return file.edit({ text: expected, attributes: now.attributes }, author)
    const unclaimed = claims.some(one => one !== claim && one.begun && !one.applied && one.change)
    // leave what another tool call is expected to have changed to that one
    if (unclaimed && others !== file.text)
      return file.edit({ text: expected, attributes: now.attributes }, author)
    file.editText(others, this.#authorOf(file, claims))
    return file.edit(now, author)
  }

  /** Attributes a change of a file that no one reported. */
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

  /** The file with its unsaved changes, and their document; `undefined` if they conflict with what is on disk. */
  #view(key: string, file: TrackedFile): { file: TrackedFile; document?: OpenDocument } | undefined {
    const document = this.#document(file.path)
    if (!document?.isDirty() || file.gone) return { file }
    if (this.#stale.has(key) || file.attributes.type !== 'text') return undefined
    const view = this.#inDocument(key, file).clone()
    view.editText(withLineEndsOf(document.text(), view.text), 'user')
    return { file: view, document }
  }

  /** The tracked text of the file's document with unsaved changes, if there is one. */
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

  /** The content is already in the store. */
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

/** Whether a text on disk contains everything that the user typed: then it was saved and is the user's. */
function editSaved(file: TrackedFile, typed: string, now: string): boolean {
  const text = withLineEndsOf(typed, file.text)
  const merged = mergeLines(splitLines(file.text), splitLines(text), splitLines(now))
  return merged?.join('') === now && file.editText(text, 'user')
}

function sameButEnds(one: string, other: string): boolean {
  return one === other || one.replaceAll('\r\n', '\n') === other.replaceAll('\r\n', '\n')
}

/** Whether the texts differ only as a formatter would change them. */
function sameButSpace(one: string, other: string): boolean {
  return one === other || one.replace(/\s/g, '') === other.replace(/\s/g, '')
}

/**
 * Tracks what agents changed on disk, for the whole window. A file that several sessions change is tracked once. Text
 * that an agent writes through the client, or reports, is the agent's. Other changes during a turn are attributed to the
 * turn and marked as uncertain. All other changes are the user's and are applied to the original text as well.
 */
import { delay, KeyedQueue } from '../common/async.ts'
import { Owner } from '../common/disposable.ts'
import { messageOf } from '../common/errors.ts'
import { Emitter } from '../common/event.ts'
import type { FileText } from '../editor/diff-texts.ts'
import type { OpenDocument } from '../editor/files/documents.ts'
import type { FilesShared } from '../editor/files/files.ts'
import { withoutMark } from '../editor/files/text-files.ts'
import { lineEdits, mergeLines, splitLines, withLineEndsOf } from '../editor/line-edits.ts'
import { lineEnd, smallestEdit, withLineEnd } from '../editor/text.ts'
import { Attribution, originalState, type ToolChange } from './attribution.ts'
import type { AgentAuthor, Author, Matches, TurnRef } from './change-versions.ts'
import {
  type CheckpointLimits,
  type CheckpointStore,
  Checkpoints,
  type DroppedHistory,
} from './checkpoints.ts'
import { CommittedChanges } from './committed-changes.ts'
import {
  ABSENT,
  type BlobStore,
  type FileState,
  FileStates,
  LeftUnchangedError,
  sameButEnds,
  sameState,
  textState,
} from './file-state.ts'
import { FileWatch } from './file-watch.ts'
import { FolderScan } from './folder-scan.ts'
import { movedBack, movedTo } from './renames.ts'
import { repositoryOf } from './repository-moves.ts'
import { type Rewound, type StoredFile, TrackedFile } from './tracked-file.ts'
import {
  type LeftFile,
  type NoteUndone,
  restored,
  UndoLog,
  type Undone,
  type UndoneFile,
  type UndoStore,
} from './undo-log.ts'
import { UnsavedEdits, type View } from './unsaved-edits.ts'

/** Persists the tracked files across reloads. */
export interface TrackerStore extends BlobStore, UndoStore, CheckpointStore {
  load(): Promise<StoredFile[]>
  /** Saves in the background. `undefined` removes the file. */
  save(path: string, file: StoredFile | undefined): void
  /** Resolves when everything is on disk. */
  flushed(): Promise<void>
}

/** Files that changed during a session's turn but aren't tracked. */
export interface Omitted {
  /** There are too many of them, or they are too large. */
  files: number
  /** Folders where changes by commands can't be detected. */
  folders: readonly string[]
}
const NOTHING: Omitted = { files: 0, folders: [] }

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

interface ClientWrite {
  content: string
  /** what the user had typed before the editor had the agent's text */
  typed?: string
  /** The editor has the agent's text, and may format it when it saves. */
  shown?: true
}

/** Maximum number of tracked files. */
const MAX_FILES = 10_000
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
  readonly #attribution = new Attribution()
  readonly #unsaved = new UnsavedEdits()
  readonly #checkpoints: Checkpoints
  readonly #undone: UndoLog
  readonly #committed: CommittedChanges
  readonly #queue = new KeyedQueue()
  readonly #files = new Map<string, TrackedFile>()
  /** by key: what the user saved, until it's attributed */
  readonly #saving = new Map<string, string>()
  /** by key: writes through the client in progress */
  readonly #writes = new Map<string, ClientWrite>()
  /** files that the user is renaming */
  readonly #renaming = new Set<string>()
  /** by the key of another path of a file (through a link): its own key */
  readonly #aliases = new Map<string, string>()
  /** by a file's own key: those other paths, under which the editor may have it open */
  readonly #spellings = new Map<string, Set<string>>()
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
  /** keys of documents with unsaved changes whose files aren't tracked */
  readonly #edits = new Set<string>()
  readonly #userEdit = this.register(new Emitter<string>())

  /** Paths of files whose changes are different now. */
  readonly onDidChange = this.#change.event
  /** Path of a file in which the user kept or undid changes. */
  readonly onDidDecide = this.#decision.event
  /** Path of a file without agents' changes that the user begins to edit; what is on disk isn't the user's edit yet. */
  readonly onDidBeginEdit = this.#userEdit.event

  constructor({ files, store, trash, checkpoints, excluded }: TrackerOptions) {
    super()
    this.shared = files
    this.#store = store
    this.#checkpoints = new Checkpoints(store, checkpoints ?? (() => undefined))
    this.#undone = new UndoLog(store)
    this.#trash = trash ?? (() => Promise.reject(new Error('There is no trash.')))
    this.#states = new FileStates(files, store)
    const stateOf = this.stateWith.bind(this)
    const maxBytes = () => this.#checkpoints.maxBytes
    this.scan = new FolderScan({ store, stateOf, maxBytes, ...(excluded && { excluded }) })
    this.#watch = this.register(
      new FileWatch(
        files.watch,
        path => this.#ownKey(path),
        keys => void this.#onDisk(keys),
      ),
    )
    this.#committed = new CommittedChanges({
      files: () => this.#files.values(),
      stateWith: stateOf,
      keep: (path, ids) => this.keep(path, () => true, ids),
    })
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
    return this.#undone.all
  }

  /** Resolves when the stored state has been read. */
  get ready(): Promise<void> {
    return this.#ready
  }

  /** The file including the user's unsaved changes. */
  view(path: string): TrackedFile | undefined {
    const key = this.#ownKey(path)
    const file = this.#files.get(key)
    if (!file || !this.#unsaved.has(key)) return file
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
      (file.hasChanges || this.#unsaved.isRewritten(key)) && !file.gone ? file : [],
    )
    return this.#viewed(files)
  }

  #viewed(files: TrackedFile[]): TrackedFile[] {
    return this.#unsaved.none ? files : files.map(file => this.view(file.path) ?? file)
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
    await this.#keepCommitted()
  }

  /** The text of a file on disk; `undefined` if it has none. Never rejects. */
  async textOf(path: string): Promise<FileText | undefined> {
    const state = await this.stateOf(path)
    const type = state?.attributes.type
    return type === 'absent' ? null : type === 'text' ? state!.text : undefined
  }

  /** A file on disk; `undefined` if it can't be read. `before`: the file as it was, if known. Never rejects. */
  async stateOf(path: string, before?: FileState): Promise<FileState | undefined> {
    return this.#read(path, before && encodingOf(before)).catch(() => undefined)
  }

  /** Whether the file is tracked: its changes are listed, or were and are kept or undone. */
  isKnown(path: string): boolean {
    return this.#files.has(this.#ownKey(path))
  }

  /** The file state for these bytes. */
  stateWith(bytes: Uint8Array, path: string, mode: number): Promise<FileState> {
    return this.#states.with(bytes, path, mode, this.#encodings(path))
  }

  // ---- the user's actions ---------------------------------------------------------------------------------------------

  /**
   * The user saved a file in the editor. `likely`: or discarded unsaved changes, which also leaves the document unmodified.
   */
  saved(path: string, text: string, { likely = false } = {}): void {
    const at = this.#ownKey(path)
    this.#saving.set(at, text)
    const attributing = this.#ofUser(path, async (key, file) => {
      if (likely && this.#unsaved.isStale(key)) {
        const now = await this.#read(file.path)
        if (now?.attributes.type !== 'text' || !sameButEnds(now.text, text)) return
      }
      const write = this.#writes.get(key)
      if (write && (write.shown || sameButEnds(write.content, text))) return
      this.#attribution.forgetUnreported(key)
      this.#attribution.endCorrections(key)
      const { known, isOther } = this.#unsaved.save(key, file)
      this.#files.set(key, known)
      if (!write) {
        const now = await this.#read(file.path)
        if (now?.attributes.type === 'text' && sameButEnds(now.text, text)) {
          this.#edited(key, known, known.edit(now, 'user') || isOther)
          return
        }
      }
      this.#edited(key, known, known.editText(withLineEndsOf(text, known.text), 'user') || isOther)
      if (!write) await this.#observe(key, known)
    })
    void attributing.then(() => {
      if (this.#saving.get(at) === text) this.#saving.delete(at)
    })
  }

  /** A document changed. Its text has unsaved changes (`dirty`) or is what's on disk. */
  typed(path: string, textOf: () => string, dirty: boolean): void {
    const at = this.#ownKey(path)
    if (!dirty) this.#edits.delete(at)
    else if (!this.#files.has(at) && !this.#edits.has(at)) {
      this.#edits.add(at)
      this.#userEdit.fire(path)
    }
    if (dirty ? this.#files.size === 0 : !this.#unsaved.has(at) && !this.#files.has(at)) return
    const write = this.#writes.get(at)
    // the text may be the agent's, typed before or after it, or what is on disk because the user has saved it meanwhile
    const text = dirty && (write || this.#attribution.isDocumentBehind(at)) ? textOf() : undefined
    if (dirty) this.#unsaved.follow(at, textOf)
    void this.#ofUser(path, async (key, known) => {
      let file = known
      if (write && text !== undefined) {
        if (sameButEnds(write.content, text)) write.shown = true
        else if (!write.shown) write.typed = text
      } else if (text !== undefined) {
        const before = this.#attribution.beforeTyped(key, file, text)
        if (before) {
          before.edit(file.state, 'user')
          file = before
          this.#files.set(key, file)
          this.#edited(key, file, true)
        }
      }
      if (!dirty) this.#attribution.documentReloaded(key)
      const was = this.#unsaved.has(key)
      if (dirty) this.#unsaved.add(key)
      else {
        const had = this.#unsaved.delete(key)
        // reloaded from disk, or closed because the user renames it
        if (!this.#writes.has(key) && !this.#renaming.has(key)) await this.#observe(key, file)
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
        const giveUnsaved = this.#unsaved.move(key)
        this.#forget(key)
        const next = this.key(path)
        const there = this.#files.get(next)
        const back = there && movedBack(file, there)
        if (there?.isKnown && !back) {
          await this.#settleRename(there)
          await this.#undone.putAside(there)
        }
        const moved = back ?? file.clone(path)
        this.#renaming.delete(next)
        this.#files.set(next, moved)
        giveUnsaved(next, path)
        this.#edited(next, moved, true)
        this.#change.fire(new Set([file.path, path]))
      })
    }
    // a file that no agent changed replaces one that an agent removed, so it's the user's
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

  /** A file that an agent renamed can't get its old name back, so under its new name it's the user's, with the agents' edits. */
  async #settleRename(deleted: TrackedFile): Promise<void> {
    const added = movedTo(deleted, [...this.#files.values()])
    if (!added) return
    const { path } = added
    const key = this.key(path)
    await this.#queue.run(key, async () => {
      if (this.#files.get(key) !== added) return
      const isText = added.attributes.type === 'text'
      const file = isText ? movedBack(added, deleted)?.clone(path) : TrackedFile.of(path, added.state)
      if (!file) return
      this.#files.set(key, file)
      this.#edited(key, file, true)
    })
  }

  // ---- agents' actions -------------------------------------------------------------------------------------------------

  /**
   * A turn starts. `isWorking`: whether changes in the roots may be its work now. `ranGit`: whether the agent itself may have
   * run Git.
   */
  beginTurn(
    session: string,
    author: AgentAuthor,
    roots: readonly string[],
    isWorking: () => boolean,
    ranGit: () => boolean,
  ): void {
    const { rules } = this.shared
    let real = roots
    const covers = (path: string) => real.some(root => rules.contains(root, path))
    const repositories = Promise.all(roots.map(root => repositoryOf(root))).then(all =>
      all.filter(one => one !== undefined),
    )
    void repositories.then(all => {
      for (const one of all) this.#committed.follow(one)
    })
    this.#attribution.beginTurn(session, { author, isWorking, covers, ranGit, repositories })
    void Promise.all(roots.map(root => this.#realPath(root))).then(paths => {
      real = paths
    })
  }

  /** The turn ends: attributes what has changed so far, after `reported` resolves, and nothing after that. */
  async endTurn(session: string, reported?: Promise<unknown>): Promise<void> {
    const turn = this.#attribution.runningTurn(session)
    if (!turn) return
    await this.#ready
    await reported
    await this.#look([...this.#files].flatMap(([key, file]) => (turn.covers(file.path) ? key : [])))
    await this.#keepCommitted()
    this.dropCheckpoints()
    for (const key of this.#attribution.endTurn(session, turn)) this.#forgetUnknown(key)
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
        known = this.#unsaved.withText(key, known, document.text())
        this.#files.set(key, known)
      }
      if (known) await this.#announce(known, write.content, author)
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
          const known = onDisk ?? file
          this.#files.set(key, known)
          this.#store.save(path, known.isKnown ? known.store() : undefined)
          return this.#observe(key, known)
        }
        this.#unsaved.overwritten(key)
        const now = await this.#read(path)
        if (!now) return
        if (write.typed !== undefined) file.editText(withLineEndsOf(write.typed, file.text), 'user')
        const end = lineEnd(now.text)
        const text = end ? withLineEnd(write.content, end) : write.content
        const isText = now.attributes.type === 'text'
        const first = isText ? file.edit({ text, attributes: now.attributes }, author) : false
        // a formatter changes only white space, but so may a user who has just started typing
        const isTyping = this.#document(path)?.isDirty() === true
        const rest = !isTyping && sameButSpace(text, now.text) ? author : 'user'
        this.#edited(key, file, file.edit(now, rest) || first)
        this.#unsaved.clearConflict(key)
      })
    }
  }

  /**
   * Stores what an agent is about to write before it's on disk, so that no crash hides whose change it is. If the file
   * isn't written after all, the difference found after the crash removes the change again.
   */
  async #announce(file: TrackedFile, content: string, author: AgentAuthor): Promise<void> {
    await this.#store.put(Buffer.from(file.text))
    const { type } = file.attributes
    if (type !== 'text' && type !== 'absent') return
    const end = lineEnd(file.text)
    const written = file.clone()
    written.edit(textState(end ? withLineEnd(content, end) : content, file.state), author)
    this.#store.save(file.path, written.store())
    await this.#store.flushed()
  }

  /** A tool call reported what it does or did to a file. */
  async tool(path: string, author: AgentAuthor, reported: readonly ToolChange[]): Promise<void> {
    const key = this.key(path)
    const [first] = reported
    if (!first) return
    await this.#run(key, async () => {
      const known = this.#files.get(key)
      // the text that the agent says was there; without a reported change, any text that isn't empty
      const was = first.change ? (first.change.oldText ?? '') : ' '
      const now = await this.#readWhole({ path, text: known?.text ?? was })
      if (!now) return
      if (!known) {
        const original = originalState(now, first)
        if (original === undefined) return
        if (!this.#begin(key, path, original)) return this.#leaveOut(key, author)
        this.#attribution.assume(key, this.#files.get(key)!, original.text, author)
      } else if (this.#attribution.correctLateReport(key, known, author, reported))
        this.#edited(key, known, true)
      const before = this.#attribution.beforeReported(key, this.#files.get(key), now, reported)
      if (before) this.#files.set(key, before)
      this.#attribution.claim(key, author, reported)
      await this.#settle(key, this.#files.get(key)!, now)
      if (first.done && !this.#attribution.release(key, first.toolCallId)) this.#forgetUnknown(key)
    })
  }

  /**
   * A file changed during turns without a report. `before`: the file before the change, or at least its text. `unsure`:
   * `before` may already contain a part of what the agent wrote.
   */
  async noticed(
    path: string,
    before: FileText | FileState,
    author: AgentAuthor,
    { mode, unsure }: { mode?: number | undefined; unsure?: true | undefined } = {},
  ): Promise<void> {
    const key = this.key(path)
    await this.#run(key, async () => {
      // the author of the text is known
      if (this.#writes.has(key)) return
      const file = this.#files.get(key)
      const text = file?.text ?? (typeof before === 'string' ? before : before?.text) ?? ''
      const known = typeof before === 'object' && before !== null ? encodingOf(before) : undefined
      const now = await this.#readWhole({ path, text }, known)
      if (!now) return
      const working = this.#attribution.workingTurns(path)
      // detecting a turn's changes may finish after the next turn has started
      const isLate = author.turns.some(({ session, turn }) => {
        const running = this.#attribution.runningTurn(session)
        return running?.author.turns.every(one => one.turn !== turn)
      })
      const isState = typeof before === 'object' && before !== null
      if (file) {
        const corrected =
          isState && !unsure && this.#attribution.correctEarlyChange(key, file, before, author)
        if (corrected) {
          this.#files.set(key, corrected)
          this.#edited(key, corrected, true)
        }
        return await this.#settle(
          key,
          corrected || file,
          now,
          isLate ? { ...author, uncertain: true } : 'user',
        )
      }
      const { type } = now.attributes
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
    this.#unsaved.keep(key, matches, ids)
    this.#edited(key, file, true)
  }

  /**
   * Undoes the matching changes and leaves everything else. Rejects with the file system's error. `note` receives what
   * was undone, so that {@link restore} can revert it.
   */
  async undo(path: string, matches: Matches, options: UndoOptions, note: NoteUndone): Promise<UndoOutcome> {
    const key = this.key(path)
    return this.#run(key, async () => {
      const known = this.#files.get(key)
      if (!known) return 'undone'
      await this.#states.checkInPlace(known.path)
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
        const withdraw = await note({ before: view.file.store(), after: target.store() })
        await this.#replace(key, file, target, view).catch(async (error: unknown) => {
          if (error instanceof LeftUnchangedError) await withdraw()
          throw error
        })
        this.#decide(key, file)
      } else if (!view.document && !rewound) {
        // a file that the agent added but that contains only the user's lines becomes the user's
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
    return this.#checkpoints.dropped(matches)
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
    for (const file of this.#checkpoints.drop(this.#files.values()))
      this.#edited(this.key(file.path), file, true)
  }

  /** Stores an undo on disk before it is done. `into`: the undo that it is part of. */
  async beginUndone(
    session: string | undefined,
    into?: Undone,
  ): Promise<{ undone: Undone; note: NoteUndone }> {
    await this.#ready
    return this.#undone.begin(session, into)
  }

  /** Reverts an undo. Returns the files that were left unchanged. */
  async restore(id: string): Promise<LeftFile[]> {
    await this.#ready
    const restore = (key: string, one: UndoneFile, session?: string) =>
      this.#run(key, () => this.#restore(key, one, session))
    return this.#undone.restore(id, path => this.key(path), restore)
  }

  async #restore(key: string, one: UndoneFile, session?: string): Promise<boolean> {
    const { path } = one.before
    await this.#states.checkInPlace(path)
    const known = this.#files.get(key)
    if (known) await this.#observe(key, known)
    const now = await this.#read(path, TrackedFile.restore(one.after)?.encoding)
    const file = this.#files.get(key) ?? (now && TrackedFile.of(path, now))
    const view = file && this.#view(key, file)
    // with unsaved changes, the authors of the restored lines can't be determined; the editor's own undo restores them, too
    if (!view || view.document) return false
    const target = restored(one, view.file, session)
    if (!target) return false
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
      await this.#undone.load()
      await this.#checkpoints.load()
      this.dropCheckpoints()
    } catch (error) {
      this.shared.log.warn(`The changes of agents couldn't be read: ${messageOf(error)}`)
    }
    if (this.#files.size === 0) return
    this.#watch.set(true)
    this.#change.fire(new Set([...this.#files.values()].map(({ path }) => path)))
    void this.#look([...this.#files.keys()])
    void this.#followRepositories()
  }

  /** Notices commits of changes from before the window opened. */
  async #followRepositories(): Promise<void> {
    const folders = new Set([...this.#files.values()].map(({ path }) => this.shared.rules.dirname(path)))
    for (const folder of folders) {
      const position = await repositoryOf(folder).catch(() => undefined)
      if (position) this.#committed.follow(position)
    }
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
      this.shared.log.debug(`A changed file couldn't be checked: ${messageOf(error)}`)
    }
  }

  async #realPath(path: string): Promise<string> {
    return this.shared.fileSystem.realpath(path).catch(() => path)
  }

  /** Files and folders with these keys changed. */
  async #onDisk(keys: ReadonlySet<string>): Promise<void> {
    await this.#look(this.#within(keys))
    if ([...keys].some(key => /[\\/]\.git[\\/]/.test(key))) await this.#keepCommitted()
  }

  async #keepCommitted(): Promise<void> {
    await this.#committed
      .check()
      .catch(error => this.shared.log.debug(`Commits couldn't be compared: ${messageOf(error)}`))
  }

  /** The keys of files that are among these files and folders, or below them. */
  #within(keys: ReadonlySet<string>): string[] {
    const { rules } = this.shared
    const isWithin = (path: string): boolean => {
      for (let at = path, below = ''; at !== below; below = at, at = rules.dirname(at))
        if (keys.has(this.key(at))) return true
      return false
    }
    return [...this.#files].flatMap(([key, { path }]) => (isWithin(path) ? key : []))
  }

  async #look(keys: readonly string[]): Promise<void> {
    const waiting = [...keys]
    const next = async (): Promise<void> => {
      for (let key = waiting.shift(); key !== undefined; key = waiting.shift()) {
        const at = key
        await this.#run(at, async () => {
          const file = this.#files.get(at)
          if (file && !this.#writes.has(at) && !this.#renaming.has(at)) await this.#observe(at, file)
        }).catch(error => this.shared.log.debug(`A changed file couldn't be checked: ${messageOf(error)}`))
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
    if (now) await this.#settle(key, file, now)
  }

  /** Programs empty a file before they write it, so read a file again that has just become empty. */
  async #readWhole(
    { path, text }: { path: string; text: string },
    known?: string,
  ): Promise<FileState | undefined> {
    let now = await this.#read(path, known)
    for (let looks = 1; looks < MAX_EMPTY_LOOKS; looks++) {
      if (text === '' || now?.attributes.type !== 'text' || now.text !== '') break
      await delay(EMPTY_LOOK_MS)
      now = await this.#read(path, known)
    }
    return now
  }

  /** `known`: the encoding of a file that isn't tracked. */
  async #read(path: string, known?: string): Promise<FileState | undefined> {
    const now = await this.#states.read(path, this.#encodings(path, known))
    const file = this.#files.get(this.#ownKey(path))
    return file && now ? this.#asSaved(file, now) : now
  }

  /**
   * The encodings that a file may have. It belongs to the tracked file: while a tab shows the file, VS Code may guess
   * another one, and once the tab is closed, nothing knows it.
   */
  #encodings(path: string, known?: string): string[] {
    const kept = this.#files.get(this.#ownKey(path))?.encoding ?? known
    if (kept === 'binary') return []
    const { encoding } = this.#document(path) ?? {}
    return [...new Set([kept, encoding])].filter(one => one !== undefined)
  }

  /** The file in another encoding if the user has saved it in that one: then fewer lines differ. */
  async #asSaved(file: TrackedFile, now: FileState): Promise<FileState> {
    const document = this.#document(file.path)
    if (!document || [document.encoding, 'binary'].includes(file.encoding ?? 'binary')) return now
    if (now.attributes.type !== 'text' || now.text === file.text) return now
    const other = await this.#states.read(file.path, [document.encoding])
    if (other?.attributes.type !== 'text' || other.attributes.encoding === now.attributes.encoding) return now
    return changedLines(file.text, other.text) < changedLines(file.text, now.text) ? other : now
  }

  /** Starts to track a file that is entirely the user's so far. Returns false if too many files are tracked. */
  #begin(key: string, path: string, state: FileState): boolean
  #begin(key: string, path: string): Promise<boolean>
  #begin(key: string, path: string, state?: FileState): boolean | Promise<boolean> {
    if (!state) return this.#read(path).then(now => now !== undefined && this.#begin(key, path, now))
    if (this.#files.size >= MAX_FILES && !this.#makeRoom()) return false
    this.#files.set(key, TrackedFile.of(path, state))
    if (this.#document(path)?.isDirty()) this.#unsaved.add(key)
    this.#watch.set(true)
    return true
  }

  /** Drops the oldest checkpoint of a file that has nothing to review. Returns false if there is none. */
  #makeRoom(): boolean {
    let oldest: [string, TrackedFile] | undefined
    for (const entry of this.#files) {
      const [key, file] = entry
      if (file.hasChanges || this.#attribution.isClaimed(key) || this.#writes.has(key)) continue
      if ((file.historyAt ?? 0) < (oldest?.[1].historyAt ?? Number.POSITIVE_INFINITY)) oldest = entry
    }
    if (!oldest) return false
    const [key, file] = oldest
    this.#checkpoints.dropOf(file, 'size')
    this.#edited(key, file, true)
    return true
  }

  /** Attributes the difference between the last known file and the file as it is now. */
  async #settle(key: string, file: TrackedFile, now: FileState, otherwise: Author = 'user'): Promise<void> {
    if (!file.gone && sameState(file.state, now)) return
    const isGits = await this.#attribution.isGits(file.path, now, (...one) => this.stateWith(...one))
    const isOtherText = file.text !== now.text
    const unsaved = this.#document(file.path)
    const typed = unsaved?.isDirty() ? unsaved.text() : this.#saving.get(key)
    // the editor has saved what the user typed; the event that reports it follows, or is queued behind this work
    if (isOtherText && typed !== undefined && sameButEnds(typed, now.text)) {
      this.#attribution.forgetUnreported(key)
      this.#edited(key, file, file.edit(now, 'user'))
      return
    }
    const before = file.clone()
    // or it has saved that, and the file was written again since
    let changed = isOtherText && typed !== undefined && editSaved(file, typed, now.text)
    changed = this.#attribution.applyClaims(key, file, now) || changed
    const rest = this.#attribution.authorOf(key, file, otherwise, isGits)
    if (isOtherText && unsaved?.isDirty()) this.#unsaved.changedOnDisk(key, before, now)
    const edited = file.editOnDisk(now, rest)
    const isBehind = unsaved !== undefined && !sameButEnds(unsaved.text(), now.text)
    if (edited && !changed && !isGits) this.#attribution.noteUnreported(key, file, before, isBehind)
    else this.#attribution.forgetUnreported(key)
    this.#edited(key, file, edited || changed)
  }

  /** No tool call names the file anymore, so it stays tracked only if agents changed it. */
  #forgetUnknown(key: string): void {
    const file = this.#files.get(key)
    if (file?.isKnown === false) this.#settled(key, file)
  }

  /** The file is as it was before agents changed it; no running turn must take that for a change. */
  #settled(key: string, file: TrackedFile): void {
    this.#forget(key)
    if (file.version > 0) this.#decide(key, file)
  }

  #edited(key: string, file: TrackedFile, changed: boolean): void {
    const isKnown = file.isKnown || this.#unsaved.isRewritten(key)
    if (!isKnown && !this.#attribution.isClaimed(key) && !this.#writes.has(key)) this.#settled(key, file)
    else if (changed && file.isKnown) this.#store.save(file.path, file.store())
    else if (changed) this.#store.save(file.path, undefined)
    if (changed) this.#change.fire(new Set([file.path]))
  }

  #forget(key: string): void {
    const file = this.#files.get(key)
    if (!file) return
    this.#files.delete(key)
    this.#unsaved.delete(key)
    this.#attribution.forget(key)
    this.#store.save(file.path, undefined)
    if (this.#files.size === 0) this.#watch.set(false)
  }

  #view(key: string, file: TrackedFile): View | undefined {
    return this.#unsaved.view(key, file, this.#document(file.path))
  }

  async #replace(
    key: string,
    file: TrackedFile,
    target: TrackedFile,
    { file: shown, document }: View,
  ): Promise<void> {
    if (document) {
      const before = document.text()
      const after = withLineEnd(target.text, document.lineEnd)
      const edit = smallestEdit(before, after)
      const withdraw = this.#unsaved.rewrite(
        key,
        { file: shown, text: before },
        { file: target, text: after },
      )
      if (edit && !(await document.replace(edit, before))) {
        withdraw()
        throw new Error('The editor rejected the change.')
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
    const expected = file.gone ? ABSENT : file.state
    await this.#states.write(file.path, expected, target.state, path => this.#discard(path))
    this.#files.set(key, target)
    this.#watch.set(true)
    this.#edited(key, target, true)
  }

  #decide(key: string, { path }: TrackedFile): void {
    this.#attribution.endCorrections(key)
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

/** Whether a text on disk contains everything that the user typed: then it was saved and is the user's. */
function editSaved(file: TrackedFile, typed: string, now: string): boolean {
  const text = withLineEndsOf(typed, file.text)
  const merged = mergeLines(splitLines(file.text), splitLines(text), splitLines(now))
  return merged?.join('') === now && file.editText(text, 'user')
}

function encodingOf({ attributes }: FileState): string | undefined {
  return attributes.type === 'text'
    ? attributes.encoding
    : attributes.type === 'binary'
      ? 'binary'
      : undefined
}

/** How many lines differ. */
function changedLines(one: string, other: string): number {
  const edits = lineEdits(splitLines(one), splitLines(other))
  return edits.reduce((sum, { start, end, lines }) => sum + Math.max(end - start, lines.length), 0)
}

/** Whether the texts differ only as a formatter would change them. */
function sameButSpace(one: string, other: string): boolean {
  return one === other || one.replace(/\s/g, '') === other.replace(/\s/g, '')
}

/**
 * The tracked files of the window. A file is found by any of its paths, one piece of work on it runs at a time, and it's stored and
 * reported when it changes.
 */
import { KeyedQueue } from '../../common/async.ts'
import { Owner } from '../../common/disposable.ts'
import { messageOf } from '../../common/errors.ts'
import { Emitter } from '../../common/event.ts'
import type { OpenDocument } from '../../editor/files/documents.ts'
import type { FilesShared } from '../../editor/files/files.ts'
import type { Matches } from '../model/change-versions.ts'
import type { Checkpoints } from '../model/checkpoints.ts'
import type { FileState } from '../model/file-state.ts'
import { type StoredFile, TrackedFile } from '../model/tracked-file.ts'
import type { UndoLog } from '../model/undo-log.ts'
import type { UnsavedEdits } from '../model/unsaved-edits.ts'
import type { Attribution } from './attribution.ts'
import { FilePaths } from './file-paths.ts'

/** Persists the tracked files across reloads. */
export interface TrackedFileStore {
  load(): Promise<StoredFile[]>
  /** Saves in the background. `undefined` removes the file. */
  save(path: string, file: StoredFile | undefined): void
}

export interface TrackedFilesOptions {
  shared: FilesShared
  store: TrackedFileStore
  /** Knows the files that agents are working on, which stay tracked. */
  attribution: Attribution
  unsaved: UnsavedEdits
  checkpoints: Checkpoints
  undoLog: UndoLog
  /** the review progress, which is loaded with the files */
  progress: { load(): Promise<void> }
}

/** Maximum number of tracked files. */
const MAX_FILES = 10_000

export class TrackedFiles extends Owner {
  readonly #options: TrackedFilesOptions
  readonly #queue = new KeyedQueue()
  readonly #files = new Map<string, TrackedFile>()
  /** by key: how often the user kept or undid changes of the file */
  readonly #decisions = new Map<string, number>()
  readonly #change = this.register(new Emitter<ReadonlySet<string>>())
  readonly #decision = this.register(new Emitter<string>())
  readonly #fill = this.register(new Emitter<boolean>())

  /** Fires with the paths of files whose changes are different now. */
  readonly onDidChange = this.#change.event
  /** Fires with the path of a file in which the user kept or undid changes. */
  readonly onDidDecide = this.#decision.event
  /** Fires with whether there are tracked files. */
  readonly onDidFill = this.#fill.event
  readonly paths: FilePaths
  /** Resolves when the stored state has been read. */
  readonly ready: Promise<void>

  constructor(options: TrackedFilesOptions) {
    super()
    this.#options = options
    this.paths = new FilePaths(options.shared.rules)
    this.ready = this.#load()
  }

  async #load(): Promise<void> {
    const { shared, store, undoLog, checkpoints, progress } = this.#options
    try {
      for (const stored of await store.load()) {
        const file = TrackedFile.restore(stored)
        if (file) this.#files.set(this.paths.key(file.path), file)
      }
      await undoLog.load()
      await checkpoints.load()
      await progress.load()
      this.dropCheckpoints()
    } catch (error) {
      shared.log.warn(`The changes of agents couldn't be read: ${messageOf(error)}`)
    }
    if (this.#files.size === 0) return
    this.#fill.fire(true)
    this.reportChange([...this.#files.values()].map(({ path }) => path))
  }

  // ---- what a path leads to -----------------------------------------------------------------------------------------

  async realPath(path: string): Promise<string> {
    return this.#options.shared.fileSystem.realpath(path).catch(() => path)
  }

  /** The open document of a file. */
  document(path: string): OpenDocument | undefined {
    return this.#options.shared.documents.find(this.paths.of(path))
  }

  /** Whether a notebook or a custom editor has unsaved changes of the file. */
  isUnsavedElsewhere(path: string): boolean {
    return this.#options.shared.documents.isUnsavedElsewhere(this.paths.of(path))
  }

  /** Adds the hashes of contents that the files refer to. Returns false while a file is being worked on. */
  addContents(used: Set<string>): boolean {
    if (this.#queue.keys.length > 0) return false
    const { attribution, unsaved } = this.#options
    const files = [...this.#files.values()].flatMap(file => file.contents)
    for (const hash of [...files, ...unsaved.contents, ...attribution.pasts.contents]) used.add(hash)
    return true
  }

  // ---- files by key ------------------------------------------------------------------------------------------------

  get size(): number {
    return this.#files.size
  }

  has(key: string): boolean {
    return this.#files.has(key)
  }

  get(key: string): TrackedFile | undefined {
    return this.#files.get(key)
  }

  keys(): string[] {
    return [...this.#files.keys()]
  }

  values(): TrackedFile[] {
    return [...this.#files.values()]
  }

  entries(): Array<[string, TrackedFile]> {
    return [...this.#files]
  }

  /** The tracked file that the path leads to. Its changes are listed, or the user has kept or undone them all. */
  at(path: string): TrackedFile | undefined {
    return this.#files.get(this.paths.ownKey(path))
  }

  /** Runs `work` after earlier work on the same file. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    await this.ready
    return this.#queue.run(key, work)
  }

  /** Like {@link run}, for callers that have waited for {@link ready}, in the order of their calls. */
  runLoaded<T>(key: string, work: () => Promise<T>): Promise<T> {
    return this.#queue.run(key, work)
  }

  /** Starts to track a file that is entirely the user's so far. Returns false if too many files are tracked. */
  track(key: string, path: string, state: FileState): boolean {
    if (this.#files.size >= MAX_FILES && !this.#makeRoom()) return false
    this.set(key, TrackedFile.of(path, state))
    if (this.document(path)?.isDirty()) this.#options.unsaved.add(key)
    return true
  }

  /** Drops the oldest checkpoint of a file without changes to review. Returns false if there is no such file. */
  #makeRoom(): boolean {
    let oldest: [string, TrackedFile] | undefined
    for (const entry of this.#files) {
      const [key, file] = entry
      if (file.hasChanges || this.#options.attribution.isAwaited(key)) continue
      if ((file.historyAt ?? 0) < (oldest?.[1].historyAt ?? Number.POSITIVE_INFINITY)) oldest = entry
    }
    if (!oldest) return false
    const [key, file] = oldest
    this.#options.checkpoints.dropOf(file, 'size')
    this.save(key, file, true)
    return true
  }

  set(key: string, file: TrackedFile): void {
    this.#files.set(key, file)
    if (this.#files.size === 1) this.#fill.fire(true)
  }

  forget(key: string): void {
    const { attribution, store, unsaved } = this.#options
    const file = this.#files.get(key)
    if (!file) return
    this.#files.delete(key)
    const loaded = unsaved.loadedText(key) ?? file.text
    unsaved.delete(key)
    if (this.document(file.path)?.isDirty()) unsaved.begin(key, async () => loaded)
    attribution.pasts.forget(key)
    store.save(file.path, undefined)
    if (this.#files.size === 0) this.#fill.fire(false)
  }

  // ---- changes -----------------------------------------------------------------------------------------------------

  /** Stores the file after an edit, which may have changed nothing, or forgets it if no agent's change is left. */
  save(key: string, file: TrackedFile, isChanged: boolean): void {
    const { attribution, store, unsaved } = this.#options
    const isKnown = file.isKnown || unsaved.isRewritten(key)
    if (!isKnown && !attribution.isAwaited(key)) this.#forgetUnchanged(key, file)
    else if (isChanged) store.save(file.path, file.isKnown ? file.store() : undefined)
    if (isChanged) this.reportChange([file.path])
  }

  /** Forgets the file unless agents changed it or a tool call may still report on it. */
  forgetUnlessChanged(key: string): void {
    const file = this.#files.get(key)
    if (file?.isKnown === false && !this.#options.attribution.isAwaited(key)) this.#forgetUnchanged(key, file)
  }

  /** Forgets a file that has its state from before agents changed it. No running turn must take the return to this state for a change. */
  #forgetUnchanged(key: string, file: TrackedFile): void {
    this.forget(key)
    if (file.version > 0) this.noteDecision(key, file)
  }

  reportChange(paths: Iterable<string>): void {
    this.#change.fire(new Set(paths))
  }

  /** Records that the user kept or undid changes of the file. */
  noteDecision(key: string, { path }: TrackedFile): void {
    this.#options.attribution.pasts.endCorrections(key)
    this.#decisions.set(key, (this.#decisions.get(key) ?? 0) + 1)
    this.#decision.fire(path)
  }

  /** Returns a function that tells whether the user has kept or undone changes of the file since this call. */
  watchDecisions(): (path: string) => boolean {
    const before = new Map(this.#decisions)
    return path => {
      const key = this.paths.ownKey(path)
      return this.#decisions.get(key) !== before.get(key)
    }
  }

  // ---- checkpoints -------------------------------------------------------------------------------------------------

  /** Drops the matching changes from checkpoints. */
  forgetCheckpoints(matches: Matches): void {
    for (const [key, file] of this.entries()) {
      if (file.historyAuthors(matches).length === 0) continue
      file.forgetHistory(matches)
      this.save(key, file, true)
    }
  }

  /** Drops checkpoints that are too old, and then the oldest checkpoints and undos until the rest fits the size limit. */
  dropCheckpoints(): void {
    const { checkpoints, undoLog } = this.#options
    for (const file of checkpoints.drop(this.values(), undoLog))
      this.save(this.paths.key(file.path), file, true)
  }
}

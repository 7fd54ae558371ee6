/**
 * The files that a session's agent changed: each with its text from before the first touch and the text that the agent
 * left, so that all of it can be looked at, kept or undone.
 */
import type { FileChange, Roots } from '../../acp/model.ts'
import { Owner } from '../../common/disposable.ts'
import { messageOf } from '../../common/errors.ts'
import { Emitter } from '../../common/event.ts'
import type { FilesShared } from '../files/files.ts'
import { TextFiles } from '../files/text-files.ts'
import { KeyedQueue } from '../keyed-queue.ts'
import { type GuardedPath, PathGuard } from '../path-guard.ts'
import { FileWatch } from './file-watch.ts'
import { countLines } from './line-counts.ts'
import { type FileText, originalText } from './original-text.ts'

/** What is remembered of a file, also through a reload. */
export interface TouchedFile {
  /** absolute, where it really is */
  path: string
  /** before the session's first touch */
  before: FileText
  /** as the agent left it last */
  left: FileText
  /** The person changed it between two touches of the agent, so that undoing would take that back, too. */
  mixed?: boolean
  /** It changed while the agent worked, not by what the agent said that it edits: by a command of its, or by others. */
  meanwhile?: boolean
}

export interface ChangedFile {
  path: string
  status: 'added' | 'modified' | 'deleted'
  /** see `TouchedFile` */
  meanwhile?: boolean
  /** lines; absent when there is too much to compare */
  added?: number
  removed?: number
}

/** Keeps what is remembered through a reload of the window. */
export interface ChangesKeep {
  read(): TouchedFile[]
  write(files: readonly TouchedFile[]): void
}

export type UndoResult = 'undone' | 'changed-since'

/** Longer texts are not remembered. Characters. */
const LONGEST = 2_000_000
const MOST_FILES = 1000

export class ChangedFiles extends Owner {
  readonly #shared: FilesShared
  readonly #keep: ChangesKeep
  readonly #files: TextFiles
  readonly #queue = new KeyedQueue()
  /** what tool calls tell is looked at in the order in which it was told */
  readonly #telling = new KeyedQueue()
  readonly #touched = new Map<string, TouchedFile>()
  readonly #versions = new Map<string, number>()
  /** by the same keys: files as they are now, where that is not what the agent left */
  readonly #now = new Map<string, FileText>()
  readonly #counts = new WeakMap<TouchedFile, { now: FileText; described: ChangedFile }>()
  readonly #watch: FileWatch
  readonly #change = this.register(new Emitter<void>())
  #guard: PathGuard

  readonly onDidChange = this.#change.event

  constructor(shared: FilesShared, roots: Roots, keep: ChangesKeep) {
    super()
    this.#shared = shared
    this.#keep = keep
    this.#files = new TextFiles(shared)
    this.#guard = this.#guardOf(roots)
    this.#watch = this.register(
      new FileWatch(
        shared.watch,
        path => this.#key(path),
        keys => this.#look(keys.filter(key => this.#touched.has(key))),
      ),
    )
    for (const file of keep.read()) this.#touched.set(this.#key(file.path), file)
    if (this.#touched.size === 0) return
    this.#watch.set(true)
    void this.refresh()
  }

  /** The session goes on with these roots. */
  setRoots(roots: Roots): void {
    this.#guard = this.#guardOf(roots)
  }

  /** What differs from before, in the order of the first touches. */
  list(): ChangedFile[] {
    return [...this.#touched].flatMap(([key, file]) => this.#describe(file, this.#shown(key, file)) ?? [])
  }

  /** Looks at all files as they are now: the person may have changed, renamed or deleted some. Never rejects. */
  refresh(): Promise<void> {
    return this.#look([...this.#touched.keys()])
  }

  /** The text from before the session's first touch. */
  before(path: string): FileText | undefined {
    return this.#touched.get(this.#key(path))?.before
  }

  /** Another number whenever the text from before may be another one: when a file was kept or undone. */
  version(path: string): number {
    return this.#versions.get(this.#key(path)) ?? 0
  }

  /** Tells of a file, from now on, whether it was kept or undone since. */
  watchForgotten(): (path: string) => boolean {
    const before = new Map(this.#versions)
    return path => this.version(path) !== (before.get(this.#key(path)) ?? 0)
  }

  /** A file is about to be written through the client: `work` does it. */
  async writing<T>(path: string, work: () => Promise<T>): Promise<T> {
    await this.#touch(path, async (known, current) => {
      if (!known) return { before: current, left: current }
      // one that is as it was before has nothing of anybody in it
      const mixed = current !== known.before
      return current === known.left ? undefined : { ...known, left: current, mixed }
    })
    try {
      return await work()
    } finally {
      await this.#settle(path)
    }
  }

  /** A tool call told of these changes. `done`: they are made; else they may be, or may not come to be. */
  told(
    changes: readonly FileChange[],
    patch: { format: string; text: string } | undefined,
    done: boolean,
  ): Promise<void> {
    return this.#telling.run('', async () => {
      for (const change of changes) {
        const moved = change.operation === 'move' ? change.oldPath : undefined
        if (moved !== undefined) await this.#told(moved, { operation: 'delete', path: moved }, patch, done)
        await this.#told(change.path, change, patch, done)
      }
    })
  }

  /** The text of a file of the roots now, as it is compared; `undefined`: it has none. Never rejects. */
  async textOf(path: string): Promise<FileText | undefined> {
    try {
      const file = await this.#guard.check(path)
      return file.inside ? await this.#read(file) : undefined
    } catch {
      return undefined
    }
  }

  /** Files changed while the agent worked; it said nothing of most of them. */
  async noticed(changes: ReadonlyArray<{ path: string; before: FileText }>): Promise<void> {
    for (const { path, before } of changes) {
      await this.#touch(path, async (known, current) => {
        if (known) return current === known.left ? undefined : { ...known, left: current }
        return current === before ? undefined : { before, left: current, meanwhile: true }
      })
    }
  }

  /** The session is new: what was kept under its id is of another one. */
  clear(): void {
    this.keep([...this.#touched.values()].map(file => file.path))
  }

  /** Takes what the agent left for good: it is no change any more. */
  keep(paths: readonly string[]): void {
    for (const path of paths) this.#forget(this.#key(path))
    this.#changed()
  }

  /**
   * Brings back the text from before. Nothing happens when the file is not what the agent left: the person changed it
   * since. `remove` takes away a file that was not there before. Rejects with a sentence.
   */
  async undo(path: string, remove: (path: string) => Promise<void>): Promise<UndoResult> {
    const key = this.#key(path)
    return this.#queue.run(key, async () => {
      const known = this.#touched.get(key)
      if (!known) return 'undone'
      const file = guarded(known.path)
      const document = this.#shared.documents.find([known.path])
      if (known.mixed || document?.isDirty() || (await this.#read(file)) !== known.left)
        return 'changed-since'
      if (known.before === null) await remove(known.path)
      else await this.#write(file, known.before)
      this.#forget(key)
      this.#changed()
      return 'undone'
    })
  }

  async #told(
    path: string,
    change: FileChange,
    patch: { format: string; text: string } | undefined,
    done: boolean,
  ): Promise<void> {
    await this.#touch(path, async (known, current) => {
      const original = originalText(change, current, patch, done)
      if (!known)
        return original === undefined ? undefined : { before: original, left: done ? current : original }
      if (done) return current === known.left ? undefined : { ...known, left: current }
      const isOfOne = [known.left, known.before].includes(current) || original === known.left
      return isOfOne ? undefined : { ...known, mixed: true }
    })
  }

  async #settle(path: string): Promise<void> {
    await this.#touch(path, async (known, current) =>
      known && known.left !== current ? { ...known, left: current } : undefined,
    )
  }

  /** Looks at a file of the roots, one after the other for each; what cannot be read as text is left alone. */
  async #touch(
    path: string,
    look: (
      known: TouchedFile | undefined,
      current: FileText,
    ) => Promise<Omit<TouchedFile, 'path'> | undefined>,
  ): Promise<void> {
    try {
      const file = await this.#guard.check(path)
      if (!file.inside) return
      const key = this.#key(file.realPath)
      await this.#queue.run(key, async () => {
        const current = await this.#read(file)
        if (current === undefined) return
        const known = this.#touched.get(key)
        const next = await look(known, current)
        if (!next || (!known && this.#touched.size >= MOST_FILES)) return
        this.#touched.set(key, { ...next, path: file.realPath })
        this.#now.delete(key)
        this.#watch.alias(path, key)
        this.#changed()
      })
    } catch (error) {
      this.#shared.log.debug(`A changed file could not be looked at: ${messageOf(error)}`)
    }
  }

  async #look(keys: readonly string[]): Promise<void> {
    const looked = keys.map(key =>
      this.#queue.run(key, async () => {
        const known = this.#touched.get(key)
        const now = known && (await this.textOf(known.path))
        // what the agent is about to change is told by what it says of it
        if (!known || now === undefined || known.left === known.before) return
        if (now === this.#shown(key, known)) return
        if (now === known.left) this.#now.delete(key)
        else this.#now.set(key, now)
        this.#change.fire()
      }),
    )
    await Promise.all(looked)
  }

  #shown(key: string, { left }: TouchedFile): FileText {
    const now = this.#now.get(key)
    return now === undefined ? left : now
  }

  /** `undefined`: it is no text, or too long. */
  async #read(file: GuardedPath): Promise<FileText | undefined> {
    const info = await this.#files.stat(file, 'read')
    if (!info) return null
    if (info.size > LONGEST) return undefined
    return (await this.#files.current(file, info))?.text
  }

  async #write(file: GuardedPath, text: string): Promise<void> {
    const info = await this.#files.stat(file, 'write')
    await this.#files.replace(file, info, text, await this.#files.current(file, info))
  }

  #forget(key: string): void {
    this.#touched.delete(key)
    this.#now.delete(key)
    this.#versions.set(key, (this.#versions.get(key) ?? 0) + 1)
  }

  /** `undefined`: it is as it was before. */
  #describe(file: TouchedFile, now: FileText): ChangedFile | undefined {
    const { path, before, left, meanwhile } = file
    if (before === left || before === now) return undefined
    const known = this.#counts.get(file)
    if (known?.now === now) return known.described
    const status = before === null ? 'added' : now === null ? 'deleted' : 'modified'
    const counts = countLines(before ?? '', now ?? '')
    const described: ChangedFile = { path, status, ...(meanwhile && { meanwhile }), ...counts }
    this.#counts.set(file, { now, described })
    return described
  }

  #guardOf(roots: Roots): PathGuard {
    return new PathGuard(roots, { rules: this.#shared.rules, links: this.#shared.fileSystem })
  }

  #key(path: string): string {
    return this.#shared.rules.key(path)
  }

  #changed(): void {
    this.#watch.set(this.#touched.size > 0)
    this.#keep.write([...this.#touched.values()])
    this.#change.fire()
  }
}

function guarded(path: string): GuardedPath {
  return { path, realPath: path, inside: true, aliases: [] }
}

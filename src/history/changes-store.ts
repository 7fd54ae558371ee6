import path from 'node:path'
import { setImmediate, setTimeout as wait } from 'node:timers/promises'
import { Owner, toDisposable } from '../common/disposable.ts'
import { messageOf } from '../common/errors.ts'
import { onDisk } from '../common/file-names.ts'
import { RETRY_STORE_MS } from '../common/limits.ts'
import type { Logger } from '../common/logger.ts'
import {
  AT_ONCE,
  type ChangedFile,
  type DecidedFile,
  type DroppedHistories,
  readChangedFile,
  readDecided,
  readDropped,
  type UndoneFile,
  type UndoneHead,
} from './changes-schema.ts'
import { MissingSqliteError, NewerDatabaseError } from './database.ts'
import type { StoredClock } from './stored-clock.ts'
import { type ContentUse, hashOf, StoredContents } from './stored-contents.ts'
import { StoredUndos, type Undone } from './stored-undos.ts'
import type { TranscriptDatabase } from './transcript-database.ts'
import { SET_DROPPED, WorkspaceRows } from './workspace-rows.ts'

/**
 * The changes of a file are deleted if they weren't stored again for this long, and all data of a workspace if no file of it was.
 * Milliseconds.
 */
const MAX_AGE_MS = 90 * 24 * 3_600_000
/** How often records that can't be read are read again at most, and the delay between the attempts in milliseconds. */
const LOAD_TRIES = 15
const LOAD_RETRY_MS = 1000
/** Minimum time between writes, so that many changes of a file are written at once. Milliseconds. */
const WRITE_AFTER_MS = 100

export interface ChangesStoreOptions {
  database: TranscriptDatabase
  clock: StoredClock
  /** the id of the workspace in the database */
  workspace: string
  /** the folder of the workspace's contents */
  folder: string
  log: Logger
  /** shorter times for tests: see {@link StoredContents} */
  times?: { collectAfter: number }
}

type Waiting = Map<string, { changed: ChangedFile | undefined }>

/**
 * Stores agents' changes in a workspace: records in the database, and contents as files. Only new data is written, in the background; data
 * that can't be written stays in memory until later.
 */
export class ChangesStore extends Owner {
  readonly #options: ChangesStoreOptions
  readonly #rows: WorkspaceRows
  readonly #contents: StoredContents
  readonly #undos: StoredUndos
  /** the files to write, by path */
  readonly #waiting: Waiting = new Map()
  /** undos to remove */
  readonly #forgotten = new Set<string>()
  /** the decisions to write, by id; `undefined`: to remove */
  readonly #decided = new Map<string, DecidedFile | undefined>()
  #dropped: Readonly<DroppedHistories> | undefined
  #timer: NodeJS.Timeout | undefined
  #isFailing = false
  #wroteAt = Number.NEGATIVE_INFINITY
  #writing: Promise<unknown> = Promise.resolve()

  constructor(options: ChangesStoreOptions) {
    super()
    const { database, workspace, folder, log, times } = options
    this.#options = options
    this.#rows = new WorkspaceRows(database, workspace)
    this.#contents = this.register(
      new StoredContents({
        ...{ rows: this.#rows, folder: path.join(folder, 'contents'), log, ...times },
        flushed: () => this.flushed(),
        inOrder: access => this.#inOrder(access),
      }),
    )
    this.#undos = new StoredUndos(this.#rows, this.#contents, time => this.ageOf(time))
    this.register(toDisposable(() => this.#flushNow()))
  }

  async load(): Promise<ChangedFile[]> {
    // let other work run first: the window doesn't wait for the database
    await setImmediate()
    const isCounted = await this.#begin().then(
      () => true,
      (error: unknown) => {
        this.#options.log.warn(`The stored changes of agents couldn't be prepared: ${messageOf(error)}`)
        return false
      },
    )
    const files: ChangedFile[] = []
    const lost: string[] = []
    for (let last = ''; ; ) {
      const rows = await this.#patiently(() =>
        this.#rows.read(
          'SELECT file, record FROM changed_files WHERE workspace = ? AND file > ? ORDER BY file LIMIT ?',
          ...[last, AT_ONCE],
        ),
      )
      if (rows.length === 0) break
      for (const { file, record } of rows) {
        last = String(file)
        const known = readChangedFile(String(record))
        const text = known && (await this.get(known.text))
        if (text) files.push({ ...known, text: text.toString() })
        // otherwise, the record or the text can't be read now, but may be readable later
        else if (known && (await this.#contents.isMissing(known.text))) lost.push(last)
        else this.#options.log.warn("The changes of agents in a file couldn't be read.")
      }
      this.#contents.holdLoaded(rows)
      await setImmediate()
    }
    if (isCounted && lost.length > 0) this.#rows.transact(() => this.#remove(lost))
    return files
  }

  /**
   * Retries a failed read, for example of a file that another process uses: the agent's next change would overwrite data that wasn't read.
   */
  async #patiently<T>(read: () => T): Promise<T> {
    for (let tries = LOAD_TRIES; ; tries--)
      try {
        return read()
      } catch (error) {
        const isForGood = error instanceof MissingSqliteError || error instanceof NewerDatabaseError
        if (isForGood || tries <= 1 || this.owned.isDisposed) throw error
        await wait(LOAD_RETRY_MS)
      }
  }

  /** Counts the contents, and removes expired data. */
  async #begin(): Promise<void> {
    const { clock } = this.#options
    const rows = this.#rows
    clock.look()
    await this.#contents.count()
    const isOld = (at: unknown) => this.ageOf(Number(at)) > MAX_AGE_MS
    const files = rows.read('SELECT file, written_at FROM changed_files WHERE workspace = ?')
    const others = rows.read('SELECT workspace AS id, used_at FROM workspaces WHERE workspace <> ?')
    rows.transact(() => {
      this.#remove(files.flatMap(({ file, written_at: at }) => (isOld(at) ? String(file) : [])))
      for (const { id, used_at: at } of others)
        if (isOld(at)) rows.run('DELETE FROM workspaces WHERE workspace <> ? AND workspace = ?', String(id))
    })
    await this.#contents.releaseGone()
    await this.#contents.removeUncounted()
  }

  /** The age in milliseconds of something from this time. */
  ageOf(time: number): number {
    return this.#options.clock.ageOf(time)
  }

  /** Stores bytes. Resolves to their hash when they're on disk. */
  put(bytes: Uint8Array): Promise<string> {
    return this.#contents.put(bytes)
  }

  get(hash: string): Promise<Buffer | undefined> {
    return this.#contents.get(hash)
  }

  removeUnused(use: ContentUse): void {
    this.#contents.removeUnused(use)
  }

  save(file: string, changed: ChangedFile | undefined): void {
    // if an earlier state of the file is being written, this state is written afterward
    this.#waiting.delete(file)
    this.#waiting.set(file, { changed })
    this.#flushSoon()
  }

  saveDecided(id: string, decided: DecidedFile | undefined): void {
    this.#decided.set(id, decided)
    this.#flushSoon()
  }

  /** The stored decisions, oldest first. */
  async loadDecided(): Promise<Array<[id: string, decided: DecidedFile]>> {
    const all: Array<[string, DecidedFile]> = []
    for (let last = ''; ; ) {
      const rows = this.#rows.read(
        'SELECT id, record FROM decided_files WHERE workspace = ? AND id > ? ORDER BY id LIMIT ?',
        ...[last, AT_ONCE],
      )
      if (rows.length === 0) return all
      for (const { id, record } of rows) {
        last = String(id)
        const decided = readDecided(String(record))
        if (decided) all.push([last, decided])
      }
      await setImmediate()
    }
  }

  /** Saves the files whose checkpoints were dropped. */
  saveDropped(dropped: Readonly<DroppedHistories>): void {
    this.#dropped = dropped
    this.#flushSoon()
  }

  async loadDropped(): Promise<DroppedHistories> {
    const [row] = this.#rows.read('SELECT dropped FROM workspaces WHERE workspace = ?')
    return (row && readDropped(String(row.dropped))) ?? []
  }

  /** Replaces the files of an undo. Resolves when they're on disk. */
  saveUndone(undone: Undone): Promise<void> {
    return this.#inOrder(async () => {
      await this.#forget(undone.id)
      await this.#undos.save(undone)
    })
  }

  /** Adds files to an undo. Resolves when they're on disk. */
  addUndone(head: UndoneHead, files: readonly UndoneFile[]): Promise<void> {
    return this.#inOrder(async () => {
      await this.#forget(head.id)
      await this.#undos.add(head, files)
    })
  }

  /** The stored undos, newest first. */
  loadUndone(): Promise<Undone[]> {
    this.#options.clock.look()
    return this.#inOrder(() => this.#undos.load())
  }

  forgetUndone(id: string): void {
    const forgetting = this.#inOrder(async () => {
      this.#forgotten.add(id)
      await this.#forget(id)
      await this.#contents.removeUncounted()
    })
    forgetting.catch(error => {
      this.#failed(error)
      this.#flushSoon()
    })
    this.#contents.collectSoon()
  }

  async #forget(id: string): Promise<void> {
    if (!this.#forgotten.has(id)) return
    await this.#undos.forget(id)
    this.#forgotten.delete(id)
  }

  /** Resolves when everything is on disk, or when the disk can't be written. */
  async flushed(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    await this.#inOrder(() => this.#flush())
  }

  #inOrder<T>(access: () => Promise<T>): Promise<T> {
    const result = this.#writing.then(access)
    this.#writing = result.catch(() => {})
    return result
  }

  #flushSoon(): void {
    this.#contents.collectSoon()
    if (this.owned.isDisposed) return
    // a first change isn't delayed further, since a crash may follow
    const delay = this.#isFailing ? RETRY_STORE_MS : WRITE_AFTER_MS
    this.#timer ??= setTimeout(
      () => {
        this.#wroteAt = performance.now()
        void this.flushed()
      },
      Math.max(0, this.#wroteAt + delay - performance.now()),
    )
  }

  async #flush(): Promise<void> {
    if (this.owned.isDisposed) return
    this.#isFailing = false
    try {
      for (const id of this.#forgotten) await this.#forget(id)
      const waiting = this.#waiting.entries()
      for (let some = next(waiting); some.size > 0; some = next(waiting)) {
        await this.#store(some)
        await setImmediate()
      }
      for (; this.#decided.size > 0; await setImmediate()) this.#storeDecided()
      this.#storeDropped()
      await this.#contents.removeUncounted()
    } catch (error) {
      this.#failed(error)
    }
    if (this.#isFailing) this.#flushSoon()
  }

  #failed(error: unknown): void {
    this.#options.log.warn(`The changes of agents couldn't be stored: ${messageOf(error)}`)
    this.#isFailing = true
    this.#wroteAt = performance.now()
  }

  async #store(some: Waiting): Promise<void> {
    const contents = contentsOf(some)
    const failed = await this.#contents.write(contents)
    // The window has closed meanwhile, and has stored the latest changes while closing.
    if (this.owned.isDisposed) return
    for (const error of failed.values()) this.#failed(error)
    this.#storeRecords(some, contents, failed)
  }

  /** Stores the records of files. `failed`: contents that weren't written, so that files with them aren't stored. */
  #storeRecords(
    some: Waiting,
    contents: ReadonlyMap<string, unknown>,
    failed: ReadonlyMap<string, unknown>,
  ): void {
    const stored: Waiting = new Map()
    this.#rows.transact(() => {
      for (const [path, one] of some) {
        const text = one.changed && hashOf(one.changed.text)
        if (text !== undefined && failed.has(text)) continue
        const file = keyOf(path)
        this.#remove([file])
        if (one.changed) {
          const record = JSON.stringify({ ...one.changed, text })
          this.#rows.run('INSERT INTO changed_files VALUES (?, ?, ?, ?)', file, Date.now(), record)
          this.#contents.refer(`file ${file}`, record)
        }
        stored.set(path, one)
      }
      this.#contents.release(contents.keys())
    })
    for (const [path, one] of stored) if (this.#waiting.get(path) === one) this.#waiting.delete(path)
  }

  /** Stores some of the decisions. */
  #storeDecided(): void {
    const some = [...this.#decided].slice(0, AT_ONCE)
    this.#rows.transact(() => {
      for (const [id, decided] of some)
        if (decided)
          this.#rows.run('INSERT OR REPLACE INTO decided_files VALUES (?, ?, ?)', id, JSON.stringify(decided))
        else this.#rows.run('DELETE FROM decided_files WHERE workspace = ? AND id = ?', id)
    })
    for (const [id] of some) this.#decided.delete(id)
  }

  #storeDropped(): void {
    const dropped = this.#dropped
    if (!dropped) return
    const json = JSON.stringify(dropped)
    this.#rows.transact(() => this.#rows.run(SET_DROPPED, json))
    this.#dropped = undefined
  }

  /** Removes the records of files. Called in a transaction. */
  #remove(files: readonly string[]): void {
    for (const file of files)
      this.#rows.run('DELETE FROM changed_files WHERE workspace = ? AND file = ?', file)
  }

  /** Writes pending changes immediately, since the window closes. */
  #flushNow(): void {
    clearTimeout(this.#timer)
    try {
      if (this.#waiting.size > 0) {
        const contents = contentsOf(this.#waiting)
        const failed = this.#contents.writeNow(contents)
        for (const error of failed.values()) this.#failed(error)
        this.#storeRecords(new Map(this.#waiting), contents, failed)
      }
      while (this.#decided.size > 0) this.#storeDecided()
      this.#storeDropped()
      for (const id of this.#forgotten) while (this.#undos.forgetSome(id) > 0);
    } catch (error) {
      this.#failed(error)
    }
  }
}

/** Takes the next waiting files, including files that were added meanwhile. */
function next(entries: Iterator<[string, { changed: ChangedFile | undefined }]>): Waiting {
  const some: Waiting = new Map()
  while (some.size < AT_ONCE) {
    const { done, value } = entries.next()
    if (done) break
    some.set(...(value as [string, { changed: ChangedFile | undefined }]))
  }
  return some
}

function contentsOf(files: Waiting): Map<string, Buffer> {
  const texts = [...files.values()].flatMap(({ changed }) => (changed ? Buffer.from(changed.text) : []))
  return new Map(texts.map(bytes => [hashOf(bytes), bytes]))
}

/** The key of a file: a hash of the path's bytes on disk, since not every name is valid text. */
function keyOf(file: string): string {
  return hashOf(onDisk(file)).slice(0, 40)
}

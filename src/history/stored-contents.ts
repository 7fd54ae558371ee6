import { createHash, randomUUID } from 'node:crypto'
import { existsSync, rmSync } from 'node:fs'
import { readdir, readFile, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { Owner, toDisposable } from '../common/disposable.ts'
import { messageOf } from '../common/errors.ts'
import type { Logger } from '../common/logger.ts'
import { operatingSystem } from '../common/processes/process-system.ts'
import { writeWhole, writeWholeSync } from '../common/whole-files.ts'
import { ADD_USE, AT_ONCE, hashesIn } from './changes-schema.ts'
import type { WorkspaceRows } from './workspace-rows.ts'

/** Time between two removals of unused contents. Milliseconds. */
const COLLECT_AFTER_MS = 10_000

/** Tells which contents a window uses before unused ones are removed. */
export interface ContentUse {
  /** The hashes of contents in use; `undefined` while they can't be determined. */
  inUse(): ReadonlySet<string> | undefined
  /** Called after unused contents were removed. */
  collected(): void
}

export interface StoredContentsOptions {
  rows: WorkspaceRows
  /** the folder of the files, which are in subfolders named by the first two characters of their hashes */
  folder: string
  log: Logger
  /** Completes pending writes of records, since these may use contents. */
  flushed: () => Promise<void>
  /** Runs `access` while no record, which may refer to contents, is being stored. */
  inOrder: <T>(access: () => Promise<T>) => Promise<T>
  collectAfter?: number
}

/**
 * Contents as files named by their hash, each stored once. A content is counted before its file is written, and until its file is removed,
 * so that no file stays unnoticed if the window is killed. A content stays while a record or a window uses it.
 */
export class StoredContents extends Owner {
  readonly #options: StoredContentsOptions
  /** the id under which this window uses contents, with its process id */
  readonly #window = `window ${process.pid} ${randomUUID()}`
  /** by hash: the writes of files with contents that this window uses, finished or not */
  readonly #written = new Map<string, Promise<void>>()
  /** the hashes of contents that are being written */
  readonly #writing = new Set<string>()
  /**
   * by hash: contents that this window may be about to use, because it stored them or loaded a record that contains them. Each time a
   * content is stored, its value is `undefined` until the file is written, and then a new symbol.
   */
  readonly #held = new Map<string, symbol | undefined>()
  /**
   * The contents that the last collection found unused. The next collection releases those that are still unused. The time between
   * storing and using a content can't be limited: the machine may be suspended in between.
   */
  #unused: ReadonlyMap<string, symbol> = new Map()
  #use: ContentUse | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(options: StoredContentsOptions) {
    super()
    this.#options = options
    this.register(
      toDisposable(() => {
        clearTimeout(this.#timer)
        const { rows } = options
        try {
          // a file that is being written is removed by the next window, once this process can't write anymore
          const writing = JSON.stringify([...this.#writing])
          const others = `${DELETE_USES} AND user = ? AND hash NOT IN (SELECT value FROM json_each(?))`
          rows.transact(() => rows.run(others, this.#window, writing))
        } catch {
          // the next window removes these uses
        }
      }),
    )
  }

  /** Stores bytes. Resolves to their hash when they're on disk. */
  async put(bytes: Uint8Array): Promise<string> {
    const hash = hashOf(bytes)
    this.#held.set(hash, undefined)
    try {
      const failed = await this.write(new Map([[hash, bytes]]))
      if (failed.size > 0) throw failed.get(hash)
    } finally {
      this.#held.set(hash, Symbol())
      this.collectSoon()
    }
    return hash
  }

  async get(hash: string): Promise<Buffer | undefined> {
    if (!/^[0-9a-f]{64}$/.test(hash)) return undefined
    return readFile(this.#file(hash)).catch(() => undefined)
  }

  /** Whether the content is missing. False for an unreadable content, which may be readable later. */
  async isMissing(hash: string): Promise<boolean> {
    return stat(this.#file(hash)).then(
      () => false,
      error => isNotFound(error),
    )
  }

  removeUnused(use: ContentUse): void {
    this.#use = use
  }

  /** Writes missing contents, which stay until `release`. Resolves to the errors of contents that couldn't be written, by hash. */
  async write(contents: ReadonlyMap<string, Uint8Array>): Promise<Map<string, unknown>> {
    const fresh = this.#hold(contents)
    for (const [hash, bytes] of fresh) this.#written.set(hash, this.#writeFile(hash, bytes))
    const failed = new Map<string, unknown>()
    const wait = async (hash: string) => {
      const writing = this.#written.get(hash)
      await writing?.catch(error => {
        failed.set(hash, error)
        if (this.#written.get(hash) === writing) this.#written.delete(hash)
      })
    }
    // Waits for all writes concurrently: if another caller's write of one of these contents fails, that write is forgotten.
    await Promise.all([...contents.keys()].map(wait))
    return failed
  }

  /** Writes contents synchronously before the window closes, including contents whose asynchronous writes haven't ended. */
  writeNow(contents: ReadonlyMap<string, Uint8Array>): Map<string, unknown> {
    const failed = new Map<string, unknown>()
    this.#hold(contents)
    for (const [hash, bytes] of contents) {
      const file = this.#file(hash)
      try {
        if (!existsSync(file)) writeWholeSync(file, bytes, { temporary: closing(file, this.#window) })
      } catch (error) {
        failed.set(hash, error)
      }
      try {
        // remove the file of the asynchronous write, which may never end
        rmSync(unfinished(file, this.#window), { force: true })
      } catch {
        // not all systems can remove an open file
      }
    }
    return failed
  }

  /** Releases contents in a transaction, after this window has stored the records that use them. */
  release(hashes: Iterable<string>): void {
    for (const hash of hashes) {
      if (this.#held.has(hash)) continue
      this.#written.delete(hash)
      this.#options.rows.run(`${DELETE_USES} AND user = ? AND hash = ?`, this.#window, hash)
    }
  }

  /** Holds the contents of loaded records, which this window may use longer. */
  holdLoaded(rows: ReadonlyArray<{ record?: unknown }>): void {
    // only contents of binary files: texts are in memory
    const hashes = rows.flatMap(({ record }) =>
      Array.from(String(record).matchAll(/"hash":"([0-9a-f]{64})"/g), ([, hash]) => hash!),
    )
    if (hashes.length === 0) return
    for (const hash of hashes) if (!this.#held.has(hash)) this.#held.set(hash, Symbol())
    try {
      this.#options.rows.transact(() => {
        for (const hash of hashes) this.#options.rows.run(ADD_USE, this.#window, hash)
      })
    } catch (error) {
      this.#options.log.debug(`Contents couldn't be marked as used: ${messageOf(error)}`)
    }
  }

  /** Records that a stored record uses contents. `user`: identifies the record. Called in a transaction. */
  refer(user: string, record: string): void {
    for (const hash of hashesIn(record)) this.#options.rows.run(ADD_USE, user, hash)
  }

  collectSoon(): void {
    if (!this.#use || this.owned.isDisposed) return
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      void this.#collect().catch(error =>
        this.#options.log.debug(`Unused contents couldn't be removed: ${messageOf(error)}`),
      )
    }, this.#options.collectAfter ?? COLLECT_AFTER_MS)
    this.#timer.unref()
  }

  /** Releases the contents that this window doesn't use anymore, and removes those that nothing uses. */
  async #collect(): Promise<void> {
    await this.#options.flushed()
    await this.#options.inOrder(async () => {
      const used = this.#use?.inUse()
      const unused = new Map<string, symbol>()
      for (const [hash, stored] of this.#held)
        if (stored && used?.has(hash) === false) unused.set(hash, stored)
      const old = [...unused].filter(([hash, stored]) => this.#unused.get(hash) === stored)
      this.#unused = unused
      for (let i = 0; i < old.length; i += AT_ONCE) {
        this.#options.rows.transact(() => this.#releaseSome(old.slice(i, i + AT_ONCE)))
        await setImmediate()
      }
      await this.removeUncounted()
      if (used) this.#use?.collected()
      if (!used || old.length < unused.size) this.collectSoon()
    })
  }

  #releaseSome(held: ReadonlyArray<[string, symbol]>): void {
    for (const [hash, stored] of held) {
      const [row] = this.#options.rows.all('SELECT uses FROM contents WHERE workspace = ? AND hash = ?', hash)
      // A restored record may be the only one that uses the content, and the content may have been stored again meanwhile.
      if (Number(row?.uses) > 1 || this.#held.get(hash) !== stored) continue
      this.#held.delete(hash)
      this.release([hash])
    }
  }

  /** Removes unused contents, unless records of an earlier version may use them. */
  async removeUncounted(): Promise<void> {
    const { rows } = this.#options
    const unused = `SELECT hash FROM workspaces JOIN contents USING (workspace)
      WHERE workspace = ? AND uses = 0 AND counted LIMIT ?`
    const some = () => {
      const found = rows.all(unused, AT_ONCE)
      // no window can begin to use the content meanwhile, since a use is written to the database first
      for (const { hash } of found) {
        rmSync(this.#file(String(hash)), { force: true })
        rows.run('DELETE FROM contents WHERE workspace = ? AND hash = ?', String(hash))
      }
    }
    while (!this.owned.isDisposed && rows.read(unused, 1).length > 0) {
      rows.transact(some)
      await setImmediate()
    }
  }

  /** Removes the uses and the unfinished files of windows that were killed. */
  async releaseGone(): Promise<void> {
    const { rows } = this.#options
    const ofWindows = `FROM content_uses WHERE workspace = ? AND user BETWEEN 'window' AND 'window!'`
    for (const { user } of rows.read(`SELECT DISTINCT user ${ofWindows}`)) {
      const window = String(user)
      if (operatingSystem.exists(Number(window.split(' ')[1]))) continue
      for (const { hash } of rows.read(`SELECT hash ${ofWindows} AND user = ?`, window))
        for (const name of [unfinished, closing])
          await rm(name(this.#file(String(hash)), window), { force: true })
      rows.transact(() => rows.run(`${DELETE_USES} AND user = ?`, window))
    }
  }

  /** Counts the contents whose files aren't counted yet, from an earlier version or because the database was damaged. */
  async count(): Promise<void> {
    const { rows, folder } = this.#options
    const [known] = rows.read('SELECT counted FROM workspaces WHERE workspace = ?')
    if (known?.counted === 1) return
    for (const part of await namesIn(folder)) {
      const names = await namesIn(path.join(folder, part))
      const isContent = (name: string) => /^[0-9a-f]{64}$/.test(name)
      for (const name of names.filter(one => one.endsWith('.new') && !one.includes('window')))
        await rm(path.join(folder, part, name), { force: true })
      rows.transact(() => {
        for (const hash of names.filter(isContent)) rows.run(ADD_CONTENT, hash, 0)
      })
    }
    rows.transact(() => rows.run('UPDATE workspaces SET counted = 1 WHERE workspace = ?'))
  }

  /** Records that this window uses the contents. Returns those that it wasn't using yet. */
  #hold(contents: ReadonlyMap<string, Uint8Array>): Array<[string, Uint8Array]> {
    const { rows } = this.#options
    const fresh = [...contents].filter(([hash]) => !this.#written.has(hash))
    if (fresh.length > 0)
      rows.transact(() => {
        for (const [hash, { length }] of fresh) {
          rows.run(ADD_CONTENT, hash, length)
          rows.run(ADD_USE, this.#window, hash)
        }
      })
    return fresh
  }

  async #writeFile(hash: string, bytes: Uint8Array): Promise<void> {
    const file = this.#file(hash)
    // synchronous, since looking for a name hardly waits for the disk
    if (existsSync(file)) return
    this.#writing.add(hash)
    try {
      await writeWhole(file, bytes, { temporary: unfinished(file, this.#window) })
    } finally {
      this.#writing.delete(hash)
    }
  }

  #file(hash: string): string {
    return path.join(this.#options.folder, hash.slice(0, 2), hash)
  }
}

/** Adds a content and counts the records that already use it, such as those saved from a damaged database. */
const ADD_CONTENT = `WITH given (workspace, hash, bytes) AS (VALUES (?, ?, ?))
  INSERT OR IGNORE INTO contents SELECT *, (SELECT count(*) FROM content_uses
    WHERE workspace = given.workspace AND hash = given.hash) FROM given`
const DELETE_USES = 'DELETE FROM content_uses WHERE workspace = ?'

/** The temporary file that the window is writing. */
function unfinished(file: string, window: string): string {
  return `${file}.${window.replaceAll(' ', '-')}.new`
}

/** The temporary file that the window writes while closing, beside the file of an asynchronous write. */
function closing(file: string, window: string): string {
  return unfinished(file, `${window} closing`)
}

export function hashOf(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex')
}

function isNotFound(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}

/** The names in a folder; empty if there is no folder. Rejects if the names can't be read. */
async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: unknown) => {
    if (isNotFound(error)) return []
    throw error
  })
}

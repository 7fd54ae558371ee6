import { existsSync } from 'node:fs'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import * as l10n from '@vscode/l10n'
import type { Disposable } from '../common/disposable.ts'
import { messageOf } from '../common/errors.ts'
import { LOG_IN_USE_MS } from '../common/limits.ts'
import { type Logger, silentLogger } from '../common/logger.ts'
import {
  compact,
  emptyLog,
  isDamage,
  MissingSqliteError,
  mayOpenLater,
  type OpenedDatabase,
  openOrRead,
  REOPEN_AFTER_MS,
  rollback,
  type Saved,
  StorageTrouble,
  usedBytes,
} from './database.ts'
import { TRANSCRIPT_MIGRATIONS, TRANSCRIPT_SALVAGE } from './transcript-schema.ts'

/** Number of pages that are returned to the file system at once; more would block the window. */
const COMPACT_PAGES = 500

export interface TranscriptDatabaseOptions {
  /** the database's file; its directory is created */
  file: string
  /** Reports that conversations can't be saved to disk. */
  trouble?: StorageTrouble
  log?: Logger
  /** `node:sqlite`; `undefined` if this Node doesn't have it */
  sqlite?: typeof import('node:sqlite') | undefined
  now?: () => number
}

/**
 * The open file with the saved conversations and the leases of their sessions. The file is opened on first use, and again after it was
 * damaged, or couldn't be opened or written. `run` and `all` may throw SQLite's errors; `attempt` and `transaction` report them instead.
 */
export class TranscriptDatabase implements Disposable {
  readonly #options: TranscriptDatabaseOptions
  readonly #log: Logger
  readonly #trouble: StorageTrouble
  readonly #now: () => number
  readonly #statements = new Map<string, StatementSync>()
  /** null: not opened yet; undefined: not available */
  #opened: OpenedDatabase | undefined | null = null
  /** when the file couldn't be opened or written although a later attempt may succeed, in milliseconds since the epoch */
  #failedAt: number | undefined
  /** whether work is running that needs the file to stay open */
  #isInUse = false
  /** why the last work failed */
  #failure: unknown
  /** whether damage was found in the file since it was first opened */
  #suspect = false
  /** how often the file was opened */
  #openings = 0
  #compactTimer: NodeJS.Timeout | undefined

  constructor(options: TranscriptDatabaseOptions) {
    this.#options = options
    this.#log = options.log ?? silentLogger
    this.#trouble = options.trouble ?? new StorageTrouble(() => {})
    this.#now = options.now ?? Date.now
  }

  get isOpen(): boolean {
    return Boolean(this.#opened)
  }

  /** Whether the file can be written, as far as is known. */
  get isWritable(): boolean {
    return this.#opened?.unwritable === undefined
  }

  /** Whether there is a file, even if it can't be opened. */
  get hasFile(): boolean {
    return existsSync(this.#options.file)
  }

  run(sql: string, ...values: Array<string | number | null>): void {
    this.#assertWritable()
    this.#prepare(sql)?.run(...values)
  }

  all(sql: string, ...values: Array<string | number | null>): Array<Record<string, unknown>> {
    return this.#prepare(sql)?.all(...values) ?? []
  }

  /** Changes when another connection has written, and when the file is opened again; doesn't change with this connection's writes. */
  get foreignVersion(): string {
    return `${this.#openings} ${this.all('PRAGMA data_version')[0]?.data_version}`
  }

  /** Runs the work in a transaction, while no other window writes; `DEFERRED`: only reads a consistent state. */
  transaction<T>(work: () => T, otherwise: T, kind: 'IMMEDIATE' | 'DEFERRED' = 'IMMEDIATE'): T {
    const transact = () => {
      if (kind === 'IMMEDIATE') this.#assertWritable()
      this.#db?.exec(`BEGIN ${kind}`)
      try {
        const result = work()
        this.#db?.exec('COMMIT')
        return result
      } catch (error) {
        if (this.#opened) rollback(this.#opened.db)
        throw error
      }
    }
    const result = this.attempt(transact, otherwise)
    // if the database was damaged, read its replacement, which has all rows that could be saved
    return kind === 'DEFERRED' && this.#opened === null ? this.attempt(transact, otherwise) : result
  }

  /**
   * Returns the result of the work, or `otherwise` if there is no database or the work throws, which is reported. In nested work, errors
   * are thrown to the outer work.
   */
  attempt<T>(work: () => T, otherwise: T): T {
    if (this.#isInUse) return work()
    this.#openForWriting()
    if (!this.#db) return otherwise
    this.#isInUse = true
    try {
      return work()
    } catch (error) {
      if (isDamage(error)) this.#closeDamaged(error)
      else this.#failed(error)
      return otherwise
    } finally {
      this.#isInUse = false
    }
  }

  /** Like `transaction`, but also throws the error. */
  perform<T>(work: () => T, kind?: 'IMMEDIATE' | 'DEFERRED'): T {
    const failed = Symbol('failed')
    const result = this.transaction<T | typeof failed>(work, failed, kind)
    if (result === failed) throw this.#failure ?? new Error('The database is closed.')
    return result
  }

  /** Reports a successful write. */
  worked(): void {
    this.#trouble.worked(this.#options.file)
  }

  /** The size of the stored data in bytes. */
  get usedBytes(): number {
    return this.attempt(() => (this.#db ? usedBytes(this.#db) : 0), 0)
  }

  /** Returns the space of deleted data to the file system later, and then removes the data from the log. */
  compactLater(ms = 50): void {
    if (this.#compactTimer || !this.#opened) return
    this.#compactTimer = setTimeout(() => {
      this.#compactTimer = undefined
      const more = this.attempt(() => (this.#db ? compact(this.#db, COMPACT_PAGES) : false), false)
      if (more) this.compactLater()
      else if (!this.attempt(() => !this.#db || emptyLog(this.#db), true)) this.compactLater(LOG_IN_USE_MS)
    }, ms)
    this.#compactTimer.unref()
  }

  dispose(): void {
    clearTimeout(this.#compactTimer)
    this.#statements.clear()
    const opened = this.#opened
    this.#opened = undefined
    this.#failedAt = undefined
    try {
      opened?.close()
    } catch (error) {
      this.#log.warn(`The database of conversations couldn't be closed: ${messageOf(error)}`)
    }
  }

  /** The database, opened on first use, so that a window without a conversation doesn't wait for the disk. */
  get #db(): DatabaseSync | undefined {
    if (this.#opened === undefined && this.#mayTryAgain) this.#opened = null
    if (this.#opened === null) this.#opened = this.#open()
    return this.#opened?.db
  }

  get #mayTryAgain(): boolean {
    // the difference may be negative, since the clock may have been set back
    return this.#failedAt !== undefined && Math.abs(this.#now() - this.#failedAt) >= REOPEN_AFTER_MS
  }

  #open(): OpenedDatabase | undefined {
    this.#failedAt = undefined
    try {
      const opened = this.#openFile()
      if (opened.unwritable !== undefined) this.#failedAt = this.#now()
      return opened
    } catch (error) {
      if (mayOpenLater(error)) this.#failedAt = this.#now()
      this.#failed(error)
      return undefined
    }
  }

  #openFile(): OpenedDatabase {
    const { file } = this.#options
    this.#openings += 1
    const sqlite = 'sqlite' in this.#options ? this.#options.sqlite : process.getBuiltinModule('node:sqlite')
    if (!sqlite) throw new MissingSqliteError()
    return openOrRead({
      ...{
        sqlite,
        file,
        migrations: TRANSCRIPT_MIGRATIONS,
        salvage: TRANSCRIPT_SALVAGE,
        check: this.#suspect,
      },
      onDamage: (error, aside, saved) => this.#wasDamaged(error, aside, saved),
    })
  }

  /** Opens the file again if it couldn't be written so far. */
  #openForWriting(): void {
    const reader = this.#opened
    if (reader?.unwritable === undefined || !this.#mayTryAgain) return
    this.#statements.clear()
    // SQLite doesn't write a file whose log this process has open only for reading
    reader.close()
    this.#opened = this.#open()
  }

  /** Throws why nothing can be written. */
  #assertWritable(): void {
    if (this.#opened?.unwritable !== undefined) throw this.#opened.unwritable
  }

  /** Closes the file, in which damage was found. The whole file is checked when it's opened again. */
  #closeDamaged(error: unknown): void {
    this.#failure = error
    const opened = this.#opened
    this.#statements.clear()
    if (opened?.unwritable !== undefined) {
      // another window has repaired the database meanwhile, and can write it
      this.#opened = undefined
      opened.close()
      return
    }
    this.#log.warn(`The database of conversations ${this.#options.file} is damaged: ${messageOf(error)}`)
    // reopen it only once, since a disk that corrupts data would cause an endless loop
    this.#opened = this.#suspect ? undefined : null
    if (this.#suspect) this.#failed(error)
    this.#suspect = true
    try {
      opened?.close()
    } catch {
      // nothing more can be read from the database
    }
  }

  #wasDamaged(error: unknown, aside: string, { count, of }: Saved): void {
    this.#log.warn(
      `The database of conversations was damaged (${messageOf(error)}): ${count} of ${of} conversations were saved. It was moved to ${aside}.`,
    )
    const message =
      count === 0
        ? l10n.t(
            'The file in which Parley stores conversations was damaged, so Parley created a new one. Agents still have their own copies: load sessions from History. The damaged file is {0}. It still contains conversations, also those that you delete from now on.',
            aside,
          )
        : l10n.t(
            'The file in which Parley stores conversations was damaged. Parley could read {0} of {1} conversations and saved them to a new file; parts of them may be missing. Agents still have their own copies: load sessions from History. The damaged file is {2}. It still contains conversations, also those that you delete from now on.',
            count,
            of,
            aside,
          )
    this.#trouble.wasDamaged(aside, message)
  }

  #prepare(sql: string): StatementSync | undefined {
    let statement = this.#statements.get(sql)
    if (!statement && this.#db) {
      statement = this.#db.prepare(sql)
      this.#statements.set(sql, statement)
    }
    return statement
  }

  #failed(error: unknown): void {
    this.#failure = error
    this.#log.warn(`The database of conversations ${this.#options.file}: ${messageOf(error)}`)
    this.#trouble.failed(this.#options.file, error, reason =>
      l10n.t("Parley can't save conversations to disk. Agents still keep their own sessions. {0}", reason),
    )
  }
}

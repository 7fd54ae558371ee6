import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import * as l10n from '@vscode/l10n'
import { messageOf } from '../common/errors.ts'
import { DATABASE_BUSY_MS } from '../common/limits.ts'
import { makePrivateFolder, PRIVATE_FILE, protect } from '../common/private-files.ts'
import { type SalvagedTables, salvageRows } from './salvage.ts'

/** Maximum size of a file that is copied or rewritten as a whole: a larger one would block the window for too long. */
const MAX_REWRITE_BYTES = 128 << 20

/** The error for a file that isn't a database, or parts of which are lost. */
class DamagedDatabaseError extends Error {
  override readonly name = 'DamagedDatabaseError'
}

/** The error for a database that a newer version of Parley wrote, which is neither read nor written. */
export class NewerDatabaseError extends Error {
  override readonly name = 'NewerDatabaseError'
}

/** The error for a Node without `node:sqlite`. */
export class MissingSqliteError extends Error {
  override readonly name = 'MissingSqliteError'

  constructor() {
    super('This Node has no SQLite.')
  }
}

/** How long to wait before another attempt to open a file that couldn't be opened, in milliseconds. */
export const REOPEN_AFTER_MS = 5000

export interface DatabaseOptions {
  sqlite: typeof import('node:sqlite')
  /** the path of the file, whose directory is created if necessary */
  file: string
  /** SQL: the migration at index `n` leads from version `n` of the database to version `n + 1`. Released migrations never change. */
  migrations: readonly string[]
  /** Checks the whole file for damage, which takes as long as reading it. */
  check?: boolean
  /** The data to save from a damaged file. */
  salvage?: Salvage
  /**
   * Called when a damaged file was moved to `aside` and replaced with a new one. `saved`: how much of the damaged file the new one
   * contains.
   */
  onDamage: (error: unknown, aside: string, saved: Saved) => void
}

export interface Salvage {
  tables: SalvagedTables
  /** Makes the saved rows consistent. Called in a transaction. */
  complete(db: DatabaseSync): Saved
}

/** How many items could be read from a damaged file (`count`), of how many that the file has traces of (`of`). */
export interface Saved {
  count: number
  of: number
}

const NOTHING: Saved = { count: 0, of: 0 }

/** An open database, which may not be writable for now. */
export interface OpenedDatabase {
  db: DatabaseSync
  /** why nothing can be written: the disk is full, or the file or its folder is read-only */
  unwritable?: unknown
  close(): void
}

/**
 * Like {@link openDatabase}, but opens a file that can't be written for reading. Such a database isn't migrated and doesn't show later
 * writes of other windows, so try again later. Also throws if there is nothing to read yet.
 */
export function openOrRead(options: DatabaseOptions): OpenedDatabase {
  try {
    const db = openDatabase(options)
    return { db, close: () => db.close() }
  } catch (error) {
    const opened = isUnwritable(error) && openForReading(options)
    if (!opened) throw error
    return { ...opened, unwritable: error }
  }
}

/**
 * Whether the file can't be written: SQLITE_PERM, SQLITE_READONLY, SQLITE_IOERR, SQLITE_FULL or SQLITE_CANTOPEN, or the system's errors.
 */
function isUnwritable(error: unknown): boolean {
  const { errcode, code } = error as { errcode?: number; code?: string }
  if (errcode !== undefined) return [3, 8, 10, 13, 14].includes(errcode & 0xff)
  return ['ENOSPC', 'EDQUOT', 'EROFS', 'EACCES', 'EPERM'].includes(code ?? '')
}

/** Opens the file only for reading; `undefined` if it can't be read, either. */
function openForReading(options: DatabaseOptions): OpenedDatabase | undefined {
  const { file } = options
  if (fileSize(file) === 0) return undefined
  const ways = [
    // For a file without a log, which can't be created: everything is in the file, and nobody writes it.
    () =>
      fileSize(`${file}-wal`) === 0 ? openReader(options, `${pathToFileURL(file)}?immutable=1`) : undefined,
    // For a file with a log, which SQLite can read only with another file next to it, or for a file of an earlier version.
    () => openCopy(options),
    // For a file that is too large to copy: it can be read if other windows have its log open, or a crash left the log complete.
    () => openReader(options, file),
  ]
  for (const way of ways) {
    try {
      const opened = way()
      if (opened) return opened
    } catch {
      // the caller throws the error of opening the file for writing
    }
  }
  return undefined
}

function openReader({ sqlite, migrations }: DatabaseOptions, location: string): OpenedDatabase | undefined {
  const db = new sqlite.DatabaseSync(location, { readOnly: true })
  try {
    if (schemaVersion(db) === migrations.length) return { db, close: () => db.close() }
  } catch {}
  db.close()
  return undefined
}

/** Opens a copy of the file in the folder for temporary files, which may be on another disk. */
function openCopy(options: DatabaseOptions): OpenedDatabase | undefined {
  const { file } = options
  if (fileSize(file) + fileSize(`${file}-wal`) > MAX_REWRITE_BYTES) return undefined
  const folder = mkdtempSync(path.join(tmpdir(), 'parley-read-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  try {
    const copy = path.join(folder, path.basename(file))
    for (const part of ['', '-wal']) if (existsSync(file + part)) copyFileSync(file + part, copy + part)
    const db = open({ ...options, file: copy })
    const close = () => {
      db.close()
      remove()
    }
    return { db, close }
  } catch (error) {
    remove()
    throw error
  }
}

function fileSize(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}

/**
 * Opens a database that all windows share and migrates it to the current version (`user_version`). A damaged file is moved aside, so that
 * nothing in it is lost, and replaced by a new one with all data that can be read from it. Throws {@link NewerDatabaseError}, and SQLite's
 * errors (`errcode`), for example if the disk is full or the file is locked.
 */
export function openDatabase(options: DatabaseOptions): DatabaseSync {
  const { file, onDamage } = options
  makePrivateFolder(path.dirname(file))
  // This time becomes part of a damaged file's name. If the clock was set back, the last write is later than now: use that time, so that
  // the file doesn't look old.
  const written = Math.max(Date.now(), Math.ceil(lastWrite(file)))
  try {
    return open(options)
  } catch (error) {
    if (!isDamage(error)) throw error
    const saved = replaceDamaged(options, written)
    if (saved) onDamage(error, saved.aside, saved)
    return open(options)
  }
}

/**
 * Moves a damaged file aside and replaces it; `undefined` if another window has replaced it meanwhile. Throws if a new file can't be
 * written; then nothing is changed.
 */
function replaceDamaged(options: DatabaseOptions, written: number): (Saved & { aside: string }) | undefined {
  const { file, salvage } = options
  const aside = `${file}.damaged-${written}`
  const fresh = `${aside}-new`
  const { ino } = statSync(file)
  let saved = NOTHING
  try {
    if (salvage) saved = saveReadable({ ...options, file: fresh, salvage }, file)
  } catch (error) {
    removeParts(fresh)
    if (isUnwritable(error)) throw error
    // the rows can't be saved, but the data stays in the damaged file
  }
  if (statSync(file, { throwIfNoEntry: false })?.ino !== ino) {
    removeParts(fresh)
    return undefined
  }
  for (const part of PARTS) moveIfThere(file + part, aside + part)
  moveIfThere(fresh, file)
  return { ...saved, aside }
}

function saveReadable(options: DatabaseOptions & { salvage: Salvage }, damaged: string): Saved {
  const { file, salvage } = options
  removeParts(file)
  const db = open({ ...options, check: false })
  let saved: Saved
  try {
    db.exec('BEGIN IMMEDIATE')
    salvageRows(damaged, db, salvage.tables)
    saved = salvage.complete(db)
    db.exec('COMMIT')
    emptyLog(db)
  } finally {
    db.close()
  }
  return saved
}

/** The file of a database, and the files that SQLite creates next to it. */
const PARTS = ['', '-wal', '-shm']

function removeParts(file: string): void {
  for (const part of PARTS) rmSync(file + part, { force: true })
}

function open({ sqlite, file, migrations, check }: DatabaseOptions): DatabaseSync {
  // SQLite gives the write-ahead log the mode of the database, so a file that can't be written must be detected here: SQLite would open it
  // and fail later.
  closeSync(openSync(file, 'a', PRIVATE_FILE))
  for (const part of PARTS) protect(file + part, PRIVATE_FILE)
  const db = new sqlite.DatabaseSync(file)
  try {
    db.exec(`PRAGMA busy_timeout = ${DATABASE_BUSY_MS}`)
    const version = schemaVersion(db)
    // checked before anything in the file is changed, including its header
    if (version > migrations.length) throw new NewerDatabaseError(`The database has version ${version}.`)
    if (check) {
      const found = db.prepare('PRAGMA quick_check(1)').get()?.quick_check
      if (found !== 'ok') throw new DamagedDatabaseError(String(found))
    }
    // Deleted data must not stay in the file's unused parts.
    db.exec('PRAGMA secure_delete = ON; PRAGMA synchronous = NORMAL;')
    // only in a new file: this pragma always writes, which fails on a full disk
    if (pragma(db, 'page_count') === 0) db.exec('PRAGMA auto_vacuum = INCREMENTAL')
    db.exec('PRAGMA journal_mode = WAL')
    if (version < migrations.length) migrate(db, migrations)
    letShrink(db)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/** Runs the migrations in one transaction, so that two windows that start at the same time don't migrate twice. */
function migrate(db: DatabaseSync, migrations: readonly string[]): void {
  db.exec('BEGIN IMMEDIATE')
  try {
    const version = schemaVersion(db)
    if (version > migrations.length) throw new NewerDatabaseError(`The database has version ${version}.`)
    for (const migration of migrations.slice(version)) db.exec(migration)
    db.exec(`PRAGMA user_version = ${migrations.length}; COMMIT;`)
  } catch (error) {
    rollback(db)
    throw error
  }
}

/** Rewrites a file that an earlier version created in a form that can't shrink. */
function letShrink(db: DatabaseSync): void {
  if (pragma(db, 'auto_vacuum') !== 0) return
  if (pragma(db, 'page_count') * pragma(db, 'page_size') > MAX_REWRITE_BYTES) return
  try {
    db.exec('PRAGMA auto_vacuum = INCREMENTAL; VACUUM;')
  } catch {
    // another window uses the file: try again at a later start
  }
}

/** Rolls back a transaction, unless the failure has already ended it. */
export function rollback(db: DatabaseSync): void {
  try {
    db.exec('ROLLBACK')
  } catch {}
}

/** Number of bytes in use, without deleted data. */
export function usedBytes(db: DatabaseSync): number {
  return (pragma(db, 'page_count') - pragma(db, 'freelist_count')) * pragma(db, 'page_size')
}

/** Returns the space of deleted data to the file system, at most `pages`. Returns whether there is more. */
export function compact(db: DatabaseSync, pages: number): boolean {
  const before = pragma(db, 'freelist_count')
  if (before === 0 || pragma(db, 'auto_vacuum') === 0) return false
  db.exec(`PRAGMA incremental_vacuum(${pages})`)
  const free = pragma(db, 'freelist_count')
  return free > 0 && free < before
}

/**
 * Removes deleted data from the write-ahead log, which still contains old pages. Returns false if another window is reading the database,
 * so that the caller must try again.
 */
export function emptyLog(db: DatabaseSync): boolean {
  // don't wait for another window
  db.exec('PRAGMA busy_timeout = 0')
  try {
    return Number(db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()?.busy) === 0
  } finally {
    db.exec(`PRAGMA busy_timeout = ${DATABASE_BUSY_MS}`)
  }
}

function schemaVersion(db: DatabaseSync): number {
  return pragma(db, 'user_version')
}

function pragma(db: DatabaseSync, name: string): number {
  return Number(db.prepare(`PRAGMA ${name}`).get()?.[name] ?? 0)
}

/**
 * Whether the error means that the file is damaged, as SQLITE_CORRUPT and SQLITE_NOTADB do. The low byte of an extended code is the basic
 * code.
 */
export function isDamage(error: unknown): boolean {
  if (error instanceof DamagedDatabaseError) return true
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return false
  const code = error.errcode & 0xff
  return code === 11 || code === 26
}

/** Whether a later attempt to open the file may succeed: the disk was full or not writable, or another window had it locked. */
export function mayOpenLater(error: unknown): boolean {
  return !(error instanceof NewerDatabaseError || error instanceof MissingSqliteError || isDamage(error))
}

/**
 * Matches the names of damaged files, which contain the time when they were moved aside, in milliseconds since the epoch. `new`: a copy
 * that was never completed.
 */
const SET_ASIDE = /\.db\.damaged-(\d+)(?:-new)?(?:-wal|-shm)?$/

/** The paths of damaged files in a folder, with their logs, that were moved aside long enough ago. They may contain deleted text. */
export function damagedFiles(folder: string, isOld: (time: number) => boolean = () => true): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder).flatMap(name => {
    const time = SET_ASIDE.exec(name)?.[1]
    return time !== undefined && isOld(Number(time)) ? [path.join(folder, name)] : []
  })
}

/** Deletes the damaged files. Throws if some couldn't be deleted. */
export function removeDamagedFiles(folder: string, isOld?: (time: number) => boolean): void {
  const failures: unknown[] = []
  for (const file of damagedFiles(folder, isOld)) {
    try {
      rmSync(file, { force: true })
    } catch (error) {
      failures.push(error)
    }
  }
  if (failures.length > 0) throw failures[0]
}

function lastWrite(file: string): number {
  const times = PARTS.map(part => statSync(file + part, { throwIfNoEntry: false })?.mtimeMs ?? 0)
  return Math.max(...times)
}

function moveIfThere(from: string, to: string): void {
  try {
    renameSync(from, to)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}

/**
 * Time without a failure after which all files count as writable again, since an almost full disk still accepts some writes. Milliseconds.
 */
const WELL_FOR_MS = 60_000

/** An action for the user to solve a problem. */
export interface TroubleAction {
  title: string
  run(): void
}

/** Shows a message about a problem, with a button for the action. */
export type TellTrouble = (message: string, action?: TroubleAction) => void

/**
 * Tells the user what can't be saved. A disk that can't be written is reported once for all files, and again only after everything has
 * worked in between. A problem of a single file is reported once.
 */
export class StorageTrouble {
  readonly #tell: TellTrouble
  readonly #now: () => number
  /** files whose last write failed */
  readonly #failing = new Set<string>()
  readonly #alone = new Set<string>()
  #isReported = false
  #failedAt = 0

  constructor(tell: TellTrouble, now: () => number = Date.now) {
    this.#tell = tell
    this.#now = now
  }

  /** Reports a failed write. `words`: makes the message if only this file is affected. */
  failed(file: string, error: unknown, words: (reason: string) => string): void {
    if (isOfFile(error)) {
      if (this.#alone.has(file)) return
      this.#alone.add(file)
      this.#tell(words(reasonOf(error)))
      return
    }
    this.#failing.add(file)
    this.#failedAt = this.#now()
    if (this.#isReported) return
    this.#isReported = true
    this.#tell(
      l10n.t(
        "Parley can't save conversations and its session list to disk: {0}. They're kept until you close this window, and are saved if the disk becomes writable again. Agents still keep their own sessions.",
        isFull(error) ? l10n.t('the disk is full') : messageOf(error),
      ),
    )
  }

  /** Records a successful write to the file. */
  worked(file: string): void {
    this.#failing.delete(file)
    if (this.#failing.size === 0 && this.#now() - this.#failedAt >= WELL_FOR_MS) this.#isReported = false
  }

  /** Shows a message about a damaged file that was moved to `aside`, with a button that deletes it. */
  wasDamaged(aside: string, message: string): void {
    this.#tell(message, {
      title: l10n.t('Delete Damaged File'),
      run: () => {
        try {
          removeParts(aside)
        } catch (error) {
          const again = l10n.t("The damaged file {0} couldn't be deleted: {1}", aside, messageOf(error))
          this.wasDamaged(aside, again)
        }
      },
    })
  }
}

/** Whether the disk or a quota is used up: SQLITE_FULL, or the system's errors. */
function isFull(error: unknown): boolean {
  const { errcode, code } = error as { errcode?: number; code?: string }
  return errcode === 13 || code === 'ENOSPC' || code === 'EDQUOT'
}

/** Whether the problem is only that of one file: another window has locked it (SQLITE_BUSY, SQLITE_LOCKED), or a newer version wrote it. */
function isOfFile(error: unknown): boolean {
  if (error instanceof NewerDatabaseError) return true
  const code = error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : 0
  return code === 5 || code === 6
}

function reasonOf(error: unknown): string {
  return error instanceof NewerDatabaseError
    ? l10n.t('Created by a newer version of Parley.')
    : messageOf(error)
}

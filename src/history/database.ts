import { mkdirSync, renameSync } from 'node:fs'
import path from 'node:path'
import type { DatabaseSync } from 'node:sqlite'

/** How long a write waits for another window's, in milliseconds. Short: the extension host stands still meanwhile. */
const BUSY_TIMEOUT_MS = 250
/** Files up to this size are rewritten once so that they can shrink later. Larger ones would stop the window too long. */
const MAX_REWRITE_BYTES = 128 << 20

/** The file is no database, or parts of it are lost. */
class DamagedDatabaseError extends Error {
  override readonly name = 'DamagedDatabaseError'
}

/** A newer version of Parley wrote the database. It is left as it is: nothing is read or written. */
export class NewerDatabaseError extends Error {
  override readonly name = 'NewerDatabaseError'
}

export interface DatabaseOptions {
  sqlite: typeof import('node:sqlite')
  /** its directory is made */
  file: string
  /** Each brings the database from the version that is its index to the next. A released one never changes. */
  migrations: readonly string[]
  /** Looks through the whole file for damage, which takes as long as reading it. */
  check?: boolean
  /** Told when a damaged file was moved to `aside` and a new one was begun. */
  onDamage: (error: unknown, aside: string) => void
}

/**
 * Opens a database, which all windows share, in the current version (`user_version`). A damaged file is moved away, so
 * that nothing in it is lost, and a new one is begun. Throws {@link NewerDatabaseError}, and SQLite's errors
 * (`errcode`): the disk is full, the file is locked.
 */
export function openDatabase(options: DatabaseOptions): DatabaseSync {
  const { file, onDamage } = options
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
  try {
    return open(options)
  } catch (error) {
    if (!isDamage(error)) throw error
    onDamage(error, setAside(file))
    return open(options)
  }
}

function open({ sqlite, file, migrations, check }: DatabaseOptions): DatabaseSync {
  const db = new sqlite.DatabaseSync(file)
  try {
    db.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
    const version = versionOf(db)
    // before anything is changed, the header included
    if (version > migrations.length) throw new NewerDatabaseError(`The database has version ${version}.`)
    if (check) {
      const found = db.prepare('PRAGMA quick_check(1)').get()?.quick_check
      if (found !== 'ok') throw new DamagedDatabaseError(String(found))
    }
    db.exec('PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;')
    if (version < migrations.length) migrate(db, migrations)
    letShrink(db)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/** In one transaction, so that two windows that start at once do not both do it. */
function migrate(db: DatabaseSync, migrations: readonly string[]): void {
  db.exec('BEGIN IMMEDIATE')
  try {
    const version = versionOf(db)
    if (version > migrations.length) throw new NewerDatabaseError(`The database has version ${version}.`)
    for (const migration of migrations.slice(version)) db.exec(migration)
    db.exec(`PRAGMA user_version = ${migrations.length}; COMMIT;`)
  } catch (error) {
    rollback(db)
    throw error
  }
}

/** A file that was begun before it could shrink is rewritten once. */
function letShrink(db: DatabaseSync): void {
  if (pragma(db, 'auto_vacuum') !== 0) return
  if (pragma(db, 'page_count') * pragma(db, 'page_size') > MAX_REWRITE_BYTES) return
  try {
    db.exec('PRAGMA auto_vacuum = INCREMENTAL; VACUUM;')
  } catch {
    // another window uses it: at a later start
  }
}

/** Gives up a transaction; some failures have ended it already. */
export function rollback(db: DatabaseSync): void {
  try {
    db.exec('ROLLBACK')
  } catch {}
}

/** Bytes that hold something; what was deleted is not counted. */
export function usedBytes(db: DatabaseSync): number {
  return (pragma(db, 'page_count') - pragma(db, 'freelist_count')) * pragma(db, 'page_size')
}

/** Gives the file system back what was deleted, `pages` at most. Answers whether there is more. */
export function compact(db: DatabaseSync, pages: number): boolean {
  const before = pragma(db, 'freelist_count')
  if (before === 0 || pragma(db, 'auto_vacuum') === 0) return false
  db.exec(`PRAGMA incremental_vacuum(${pages})`)
  const left = pragma(db, 'freelist_count')
  return left > 0 && left < before
}

function versionOf(db: DatabaseSync): number {
  return pragma(db, 'user_version')
}

function pragma(db: DatabaseSync, name: string): number {
  return Number(db.prepare(`PRAGMA ${name}`).get()?.[name] ?? 0)
}

/** Also by what SQLite says: SQLITE_CORRUPT, SQLITE_NOTADB. The low byte of an extended code is the code. */
export function isDamage(error: unknown): boolean {
  if (error instanceof DamagedDatabaseError) return true
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return false
  const code = error.errcode & 0xff
  return code === 11 || code === 26
}

function setAside(file: string): string {
  const aside = `${file}.damaged-${Date.now()}`
  for (const part of ['', '-wal', '-shm']) moveIfThere(file + part, aside + part)
  return aside
}

function moveIfThere(from: string, to: string): void {
  try {
    renameSync(from, to)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}

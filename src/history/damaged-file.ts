import { renameSync } from 'node:fs'

/** The file is no database, or parts of it are lost. */
export class DamagedDatabaseError extends Error {
  override readonly name = 'DamagedDatabaseError'
}

/** Also what SQLite says of it: SQLITE_CORRUPT, SQLITE_NOTADB; the low byte of an extended code is the code. */
export function isDamage(error: unknown): boolean {
  if (error instanceof DamagedDatabaseError) return true
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return false
  const code = error.errcode & 0xff
  return code === 11 || code === 26
}

/**
 * Moves a damaged database out of the way, so that a new one can be begun and nothing in the old one is lost; answers
 * where it is now. Throws what the file system says.
 */
export function setAside(file: string): string {
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

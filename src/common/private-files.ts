import { chmodSync, mkdirSync } from 'node:fs'
import { chmod, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf } from './errors.ts'
import type { Logger } from './logger.ts'
import { hasFileModes } from './platform.ts'

/**
 * The modes of Parley's folders and files: stored data may be private, and on a shared machine, other users can often read unprotected
 * files.
 */
export const PRIVATE_FOLDER = 0o700
export const PRIVATE_FILE = 0o600

/** Creates a folder with its parents. Only the user can read the folder's contents, even if the folder existed before. */
export function makePrivateFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: PRIVATE_FOLDER })
  protect(folder, PRIVATE_FOLDER)
}

/** Sets the mode of a file or folder. Does nothing on file systems without modes. */
export function protect(file: string, mode: number): void {
  try {
    chmodSync(file, mode)
  } catch {}
}

/**
 * Protects folders and the files directly in them that an earlier version or another program created. Folders that don't
 * exist are skipped. Never rejects.
 */
export async function protectFolders(folders: readonly string[], log: Logger): Promise<void> {
  if (!hasFileModes()) return
  for (const folder of folders) {
    try {
      const entries = await readdir(folder, { withFileTypes: true })
      await chmod(folder, PRIVATE_FOLDER)
      for (const entry of entries) if (entry.isFile()) await protectFile(join(folder, entry.name))
    } catch (error) {
      const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
      if (!isMissing) log.debug(`${folder} wasn't protected: ${messageOf(error)}`)
    }
  }
}

async function protectFile(file: string): Promise<void> {
  try {
    if (((await stat(file)).mode & 0o077) !== 0) await chmod(file, PRIVATE_FILE)
  } catch {
    // the file was removed meanwhile
  }
}

/** The disk as `SessionFiles` uses it: an interface, so that tests can simulate a full disk or a locked file. */

import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import * as fs from 'node:fs/promises'
import path from 'node:path'
import { messageOf } from '../../common/errors.ts'
import { diskLinks, type Links } from '../path-guard.ts'

export interface FileInfo {
  type: 'file' | 'folder' | 'other'
  /** bytes */
  size: number
  mode: number
  /** It has another hard link or another owner, which replacing it with a rename would lose. */
  shared: boolean
}

/** Paths are absolute; errors are those of `node:fs`, with a `code`. */
export interface FileSystem extends Links {
  /** Follows links. */
  stat(path: string): Promise<FileInfo>
  readFile(path: string): Promise<Uint8Array>
  /** The file's bytes in chunks, in order, until the consumer stops. A chunk's memory isn't reused. */
  readPieces(path: string): AsyncIterable<Uint8Array>
  /** Fails if the file isn't writable. */
  checkWritable(path: string): Promise<void>
  makeFolders(path: string): Promise<void>
  /** Creates the file, which must not exist, and waits until it's on disk. */
  createFile(path: string, bytes: Uint8Array, mode: number | undefined): Promise<void>
  /** Replaces the content of an existing file in place. */
  overwriteFile(path: string, bytes: Uint8Array): Promise<void>
  rename(from: string, to: string): Promise<void>
  remove(path: string): Promise<void>
}

export const disk: FileSystem = {
  ...diskLinks,
  async stat(path) {
    const info = await fs.stat(path)
    const type = info.isFile() ? 'file' : info.isDirectory() ? 'folder' : 'other'
    const shared = info.nlink > 1 || (process.getuid !== undefined && info.uid !== process.getuid())
    return { type, size: info.size, mode: info.mode & 0o7777, shared }
  },
  readFile: path => fs.readFile(path),
  async *readPieces(path) {
    const handle = await fs.open(path, 'r')
    try {
      for await (const piece of handle.createReadStream({ highWaterMark: 256 * 1024, autoClose: false })) {
        yield piece as Uint8Array
      }
    } finally {
      await handle.close()
    }
  },
  checkWritable: path => fs.access(path, constants.W_OK),
  async makeFolders(path) {
    await fs.mkdir(path, { recursive: true })
  },
  async createFile(path, bytes, mode) {
    const handle = await fs.open(path, 'wx', mode ?? 0o666)
    try {
      await handle.writeFile(bytes)
      // The process's umask has restricted the mode of the new file.
      if (mode !== undefined && process.platform !== 'win32') await handle.chmod(mode)
      await handle.sync()
    } finally {
      await handle.close()
    }
  },
  async overwriteFile(path, bytes) {
    const handle = await fs.open(path, 'r+')
    try {
      await handle.writeFile(bytes)
      await handle.truncate(bytes.byteLength)
      await handle.sync()
    } finally {
      await handle.close()
    }
  },
  rename: (from, to) => fs.rename(from, to),
  remove: path => fs.rm(path, { force: true }),
}

/** Why a file couldn't be read or written, in a sentence for the agent and the user. */
export class FileError extends Error {
  override readonly name = 'FileError'
  readonly reason: FileErrorReason

  constructor(reason: FileErrorReason, message: string, options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }
}
export type FileErrorReason =
  | 'refused'
  | 'binary'
  | 'encoding'
  | 'too-large'
  | 'folder'
  | 'no-right'
  | 'no-space'
  | 'not-saved'
  | 'ended'
  | 'other'

/** The file system's error in words. `doing` is the verb: "read", "write". */
export function fileErrorOf(error: unknown, doing: string, path: string): Error {
  if (error instanceof FileError) return error
  const code = (error as NodeJS.ErrnoException | undefined)?.code
  const cause = { cause: error }
  switch (code) {
    case 'EACCES':
    case 'EPERM':
      return new FileError('no-right', `Cannot ${doing} ${path}: permission denied.`, cause)
    case 'EROFS':
      return new FileError('no-right', `Cannot ${doing} ${path}: the file system is read-only.`, cause)
    case 'ENOSPC':
    case 'EDQUOT':
      return new FileError('no-space', `Cannot ${doing} ${path}: no space is left on the disk.`, cause)
    case 'EISDIR':
      return new FileError('folder', `Cannot ${doing} ${path}: it is a folder, not a file.`, cause)
    case 'ENOTDIR':
    case 'EEXIST':
      return new FileError('other', `Cannot ${doing} ${path}: a folder in its path is a file.`, cause)
    case 'ELOOP':
      return new FileError('other', `Cannot ${doing} ${path}: its links lead in a circle.`, cause)
    case 'ENAMETOOLONG':
      return new FileError('other', `Cannot ${doing} ${path}: the name is too long.`, cause)
    case 'EMFILE':
    case 'ENFILE':
      return new FileError('other', `Cannot ${doing} ${path}: too many files are open.`, cause)
    case 'EBUSY':
    case 'ETXTBSY':
      return new FileError('other', `Cannot ${doing} ${path}: another program is using it.`, cause)
    default:
      return new FileError('other', `Cannot ${doing} ${path}: ${messageOf(error)}`, cause)
  }
}

/**
 * Writes the bytes to `target`, which isn't a link (see `PathGuard`): first to a temporary file next to it, which is then
 * renamed, so that no reader sees half a file and a full disk doesn't damage the old one. Keeps the mode. Overwrites the
 * file in place if a rename or a new file isn't possible (a locked file on Windows, a bind-mounted file, a read-only
 * folder), or if it would break a hard link or change the owner.
 */
export async function writeAtomically(
  fileSystem: FileSystem,
  target: string,
  bytes: Uint8Array,
  existing: Pick<FileInfo, 'mode' | 'shared'> | undefined,
): Promise<void> {
  if (existing?.shared) return writeInPlace(fileSystem, target, bytes)
  const temporary = path.join(path.dirname(target), `.parley-${randomBytes(6).toString('hex')}.tmp`)
  try {
    await fileSystem.createFile(temporary, bytes, existing?.mode)
    await fileSystem.rename(temporary, target)
    return
  } catch (error) {
    await fileSystem.remove(temporary).catch(() => {})
    if (!existing || !OF_THE_FOLDER.has((error as NodeJS.ErrnoException).code ?? '')) throw error
  }
  await writeInPlace(fileSystem, target, bytes)
}

/** Errors of a rename, or of a new file in the folder, that may not affect the file itself. */
const OF_THE_FOLDER = new Set([
  'EXDEV',
  'EBUSY',
  'EPERM',
  'EACCES',
  'ETXTBSY',
  'ENOTSUP',
  'EROFS',
  'ENAMETOOLONG',
])

async function writeInPlace(fileSystem: FileSystem, target: string, bytes: Uint8Array): Promise<void> {
  const before = await fileSystem.readFile(target)
  try {
    await fileSystem.overwriteFile(target, bytes)
  } catch (error) {
    // A full disk may have left half of it: restore the old content, which fits.
    await fileSystem.overwriteFile(target, before).catch(() => {})
    throw error
  }
}

/** The resolution of file times on any file system. Milliseconds. */
export const FRESH_MS = 20

/** Whether a file was written after this time; both in milliseconds since the epoch. */
export function isWrittenSince(changed: number, time: number): boolean {
  return changed > time - FRESH_MS
}

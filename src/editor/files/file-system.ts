/** The operations on the disk that `SessionFiles` uses: an interface, so that tests can simulate a full disk or a locked file. */

import { randomBytes } from 'node:crypto'
import { constants, type Stats } from 'node:fs'
import * as fs from 'node:fs/promises'
import path from 'node:path'
import { messageOf } from '../../common/errors.ts'
import { onDisk } from '../../common/file-names.ts'
import { hasFileModes } from '../../common/platform.ts'
import { readHandle } from '../../common/read-bounded.ts'
import { diskLinks, type Links } from '../path-guard.ts'
import { makeFolders, openFile, RedirectedError, withEntry, withFile, withNewFile } from './no-follow.ts'

export interface FileInfo {
  type: 'file' | 'folder' | 'other'
  /** size in bytes */
  size: number
  mode: number
  /** whether the file has another hard link or another owner, which a replacement by renaming would lose */
  shared: boolean
}

/**
 * Operations on real paths, as `PathGuard` returns them. A link in any part of a path, which may be new, isn't followed: the operation
 * rejects with `RedirectedError`. Other errors are those of `node:fs`, with a `code`.
 */
export interface FileSystem extends Links {
  stat(path: string): Promise<FileInfo>
  /** Rejects with a `TooLargeError` if the file has more than `maxBytes` bytes. */
  readFile(path: string, maxBytes?: number): Promise<Uint8Array>
  /** Yields the file's bytes in chunks, in order, until the consumer stops. A chunk's memory isn't reused. */
  readPieces(path: string): AsyncIterable<Uint8Array>
  /** Rejects if the file isn't writable. */
  checkWritable(path: string): Promise<void>
  makeFolders(path: string): Promise<void>
  /** Creates the file, which must not exist, and waits until it's on disk. */
  createFile(path: string, bytes: Uint8Array, mode: number | undefined): Promise<void>
  /** Replaces the content of an existing file in place. */
  overwriteFile(path: string, bytes: Uint8Array): Promise<void>
  /** Renames an entry of a folder; both paths are in that folder. */
  rename(from: string, to: string): Promise<void>
  /** Creates a hard link in the same folder; `to` must not exist. */
  link(path: string, to: string): Promise<void>
  remove(path: string): Promise<void>
}

export const disk: FileSystem = {
  ...diskLinks,
  stat: path =>
    withEntry(path, async entry => {
      const info = await fs.lstat(onDisk(entry))
      if (info.isSymbolicLink()) throw new RedirectedError(path)
      return fileInfoOf(info)
    }),
  readFile: (path, maxBytes) =>
    withFile(path, constants.O_RDONLY, handle =>
      maxBytes === undefined ? handle.readFile() : readHandle(handle, path, maxBytes),
    ),
  async *readPieces(path) {
    const handle = await openFile(path, constants.O_RDONLY)
    try {
      for await (const piece of handle.createReadStream({ highWaterMark: 256 * 1024, autoClose: false })) {
        yield piece as Uint8Array
      }
    } finally {
      await handle.close()
    }
  },
  checkWritable: path => withEntry(path, entry => fs.access(onDisk(entry), constants.W_OK)),
  makeFolders,
  createFile: (path, bytes, mode) =>
    withNewFile(path, mode ?? 0o666, async handle => {
      await handle.writeFile(bytes)
      // The process's umask has restricted the mode of the new file, so set it again.
      if (mode !== undefined && hasFileModes()) await handle.chmod(mode)
      await handle.sync()
    }),
  overwriteFile: (path, bytes) =>
    withFile(path, constants.O_RDWR, async handle => {
      await handle.writeFile(bytes)
      await handle.truncate(bytes.byteLength)
      await handle.sync()
    }),
  rename: (from, to) => withEntry(from, entry => fs.rename(onDisk(entry), onDisk(besides(entry, to)))),
  link: (from, to) => withEntry(from, entry => fs.link(onDisk(entry), onDisk(besides(entry, to)))),
  remove: path =>
    withEntry(path, entry =>
      fs.unlink(onDisk(entry)).catch((error: unknown) => {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      }),
    ),
}

/** Returns properties of a file that isn't a link. */
export function fileInfoOf(stats: Stats): FileInfo {
  const type = stats.isFile() ? 'file' : stats.isDirectory() ? 'folder' : 'other'
  const shared = stats.nlink > 1 || (process.getuid !== undefined && stats.uid !== process.getuid())
  return { type, size: stats.size, mode: stats.mode & 0o7777, shared }
}

function besides(entry: string, to: string): string {
  return path.join(path.dirname(entry), path.basename(to))
}

/** Thrown if another program or the editor has written the file meanwhile. */
export class WrittenMeanwhileError extends Error {
  override readonly name = 'WrittenMeanwhileError'

  constructor(realPath: string) {
    super(`${realPath} was written meanwhile.`)
  }
}

/** The reason why a file couldn't be read or written; the message is a sentence for the agent and the user. */
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
  | 'moved'
  | 'binary'
  | 'encoding'
  | 'too-large'
  | 'folder'
  | 'no-right'
  | 'no-space'
  | 'not-saved'
  /** a notebook or custom editor has unsaved changes of the file */
  | 'unsaved'
  | 'ended'
  | 'other'

/** Converts an error of the file system to an error with a readable message. `doing` is the verb: "read", "write". */
export function fileErrorOf(error: unknown, doing: string, path: string): Error {
  if (error instanceof FileError) return error
  if (error instanceof RedirectedError) return movedError(doing, path, error)
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

/** Returns the error for a path that no longer leads where it led when access to it was checked. */
export function movedError(doing: string, path: string, cause?: unknown): FileError {
  const message = `Cannot ${doing} ${path}: a folder or link in its path was replaced meanwhile, so it leads elsewhere.`
  return new FileError('moved', message, { cause })
}

/**
 * Writes the bytes to `target`, which isn't a link (see `PathGuard`): first to a temporary file next to it, which is then renamed, so that
 * no reader sees an incomplete file and a full disk doesn't damage the old file. Keeps the mode. Overwrites the file in place if a rename
 * or a new file isn't possible (a locked file on Windows, a bind-mounted file, a read-only folder), or if renaming would break a hard link
 * or change the owner.
 *
 * With `isExpected`, rejects with {@link WrittenMeanwhileError} if the file doesn't have the expected content (if `existing` is absent: if
 * the file exists). The content is checked right before the file is replaced, and the replaced file is checked once more afterward; the
 * replaced file is restored if it was written in between.
 *
 * Resolves to false if the file was overwritten in place, so it has its old mode.
 */
export async function writeAtomically(
  fileSystem: FileSystem,
  target: string,
  bytes: Uint8Array,
  existing: Pick<FileInfo, 'mode' | 'shared'> | undefined,
  isExpected?: IsExpected,
): Promise<boolean> {
  if (existing?.shared) return writeInPlace(fileSystem, target, bytes, isExpected)
  const temporary = temporaryName(target)
  try {
    await fileSystem.createFile(temporary, bytes, existing?.mode)
    if (isExpected) await putInPlace(fileSystem, temporary, target, existing !== undefined, isExpected)
    else await fileSystem.rename(temporary, target)
    return true
  } catch (error) {
    await fileSystem.remove(temporary).catch(() => {})
    if (!existing || !OF_THE_FOLDER.has((error as NodeJS.ErrnoException).code ?? '')) throw error
  }
  return writeInPlace(fileSystem, target, bytes, isExpected)
}

type IsExpected = (there: Uint8Array) => boolean

function temporaryName(target: string, extension = 'tmp'): string {
  return path.join(path.dirname(target), `.parley-${randomBytes(6).toString('hex')}.${extension}`)
}

/** Whether the file has the name of a temporary file of a write. */
export function isTemporary(file: string): boolean {
  return /^\.parley-[0-9a-f]{12}\.tmp$/.test(path.basename(file))
}

/** Removes a temporary file that a killed process left: the file is older than any write takes. Never rejects. */
export async function removeTemporary(file: string): Promise<void> {
  const info = await fs.lstat(file).catch(() => undefined)
  if (info?.isFile() && Date.now() - info.ctimeMs > MAX_WRITE_MS) await disk.remove(file).catch(() => {})
}

/** Maximum duration of a write, in milliseconds. */
const MAX_WRITE_MS = 60_000

async function putInPlace(
  fileSystem: FileSystem,
  temporary: string,
  target: string,
  exists: boolean,
  isExpected: IsExpected,
): Promise<void> {
  if (!exists) {
    const isLinked = await fileSystem.link(temporary, target).then(
      () => true,
      (error: unknown) => {
        if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw new WrittenMeanwhileError(target)
        // the file system has no hard links
        return false
      },
    )
    return isLinked ? fileSystem.remove(temporary) : fileSystem.rename(temporary, target)
  }
  const there = await fileSystem.readFile(target).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  })
  if (!there || !isExpected(there)) throw new WrittenMeanwhileError(target)
  // This name isn't one that is cleaned up after a crash, since this file may be the only copy of the other program's write.
  const replaced = temporaryName(target, 'replaced')
  const hasCopy = await fileSystem.link(target, replaced).then(
    () => true,
    () => false,
  )
  const forget = async () => {
    if (hasCopy) await fileSystem.remove(replaced).catch(() => {})
  }
  try {
    await fileSystem.rename(temporary, target)
  } catch (error) {
    await forget()
    throw error
  }
  // a link that replaced the file can't be read, so it isn't the expected file
  const isSame = !hasCopy || (await fileSystem.readFile(replaced).then(isExpected, () => false))
  if (isSame) return forget()
  // if the rename fails, the replaced file stays under its temporary name
  await fileSystem.rename(replaced, target)
  throw new WrittenMeanwhileError(target)
}

/** Codes of errors of a rename, or of a new file in the folder, that may not affect overwriting the file itself. */
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

async function writeInPlace(
  fileSystem: FileSystem,
  target: string,
  bytes: Uint8Array,
  isExpected?: IsExpected,
): Promise<false> {
  const before = await fileSystem.readFile(target)
  if (isExpected?.(before) === false) throw new WrittenMeanwhileError(target)
  try {
    await fileSystem.overwriteFile(target, bytes)
    return false
  } catch (error) {
    // A full disk may have left an incomplete content: restore the old content, which fits.
    await fileSystem.overwriteFile(target, before).catch(() => {})
    throw error
  }
}

/** The coarsest resolution of file times that is expected of a file system. Milliseconds. */
export const FRESH_MS = 20

/** Whether a file may have been written after `time`; both times are in milliseconds since the epoch. */
export function isWrittenSince(changed: number, time: number): boolean {
  return changed > time - FRESH_MS
}

/** Whether a file was certainly changed after a time: file times may be up to a millisecond ahead of the clock. */
export function isWrittenAfter(changed: number, time: number): boolean {
  return changed >= time + 1
}

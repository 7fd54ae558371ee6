/**
 * Opens files and folders by their real path without following a link in any part of the path. A path that was checked can lead elsewhere
 * when it's used, because an agent can replace a folder by a link in between.
 *
 * Node has no `openat`. On Linux, `/proc/self/fd/<n>` tells the path of an open file or folder, and leads to the entries of an open folder
 * even if its path changes. On other systems, the open file or folder is compared with the one at the path.
 */
import { close, constants, existsSync, fstatSync, open, read, readlinkSync, type Stats } from 'node:fs'
import * as fs from 'node:fs/promises'
import path from 'node:path'
import { errorCode } from '../../common/errors.ts'
import { decodeFileName, onDisk } from '../../common/file-names.ts'
import { hasFileModes, hasProc, opensFolders } from '../../common/platform.ts'
import { readHandle } from '../../common/read-bounded.ts'

/** Thrown if a real path leads through a link now. */
export class RedirectedError extends Error {
  override readonly name = 'RedirectedError'

  constructor(realPath: string) {
    super(`${realPath} leads through a link that wasn't there when its location was checked.`)
  }
}

/** Maximum number of tries to open a file that is replaced or renamed at the same moment. */
const MAX_TRIES = 5
/** `O_NONBLOCK`: opening a pipe doesn't wait. Windows doesn't have these flags. */
const { O_NOFOLLOW = 0, O_NONBLOCK = 0, O_DIRECTORY = 0, O_CREAT } = constants
const tellsPaths = hasProc() && existsSync('/proc/self/fd')
/** Opens a folder that can't be listed, or a file that can't be read, only as a location. A flag of Linux that Node doesn't export. */
const O_PATH = 0o10000000

/**
 * Opens a file; the caller closes it. Rejects with {@link RedirectedError} if a link is in the path, otherwise with the errors of `open` in
 * `node:fs`. `flags` are numeric.
 */
export async function openFile(realPath: string, flags: number): Promise<fs.FileHandle> {
  return openReal(realPath, realPath, flags)
}

/** Opens a file like {@link openFile}, runs `work`, and closes the file. */
export async function withFile<T>(
  realPath: string,
  flags: number,
  work: (handle: fs.FileHandle) => Promise<T>,
): Promise<T> {
  return closing(await openFile(realPath, flags), work)
}

/** A file's properties and content. */
export interface SmallFile {
  info: Stats
  bytes: Uint8Array
}

/**
 * Reads a file with few system calls, since a command may change a thousand files. Resolves to `undefined` if the path isn't a file's, the
 * file is larger than `maxBytes`, has a link in its path, or was written meanwhile; {@link withFile} reports the reason. Never rejects.
 */
export async function readSmallFile(realPath: string, maxBytes: number): Promise<SmallFile | undefined> {
  if (tellsPaths) return new Promise(resolve => readByNumber(realPath, maxBytes, resolve))
  const reading = withFile(realPath, constants.O_RDONLY, async handle => {
    const info = fstatSync(handle.fd)
    const isSmall = info.isFile() && info.size <= maxBytes
    return isSmall ? { info, bytes: await readHandle(handle, realPath, maxBytes) } : undefined
  })
  return reading.catch(() => undefined)
}

/** Reads a small file without promises and a `FileHandle`, which would take longer than the reading. */
function readByNumber(realPath: string, maxBytes: number, done: (file?: SmallFile) => void): void {
  open(onDisk(realPath), constants.O_RDONLY | O_NOFOLLOW | O_NONBLOCK, (error, fd) => {
    if (error) return done()
    const finish = (file?: SmallFile) => {
      close(fd, () => {})
      done(file)
    }
    try {
      const info = fstatSync(fd)
      const { size } = info
      if (
        !info.isFile() ||
        size > maxBytes ||
        decodeFileName(readlinkSync(openPath(fd), 'buffer')) !== realPath
      )
        return finish()
      // one additional byte shows whether the file has grown
      const bytes = Buffer.allocUnsafe(size + 1)
      read(fd, bytes, 0, size + 1, 0, (failed, count) =>
        finish(failed || count !== size ? undefined : { info, bytes: bytes.subarray(0, size) }),
      )
    } catch {
      finish()
    }
  })
}

/** Creates a file, which must not exist, runs `work`, and closes the file. Rejects like {@link withFile}. */
export async function withNewFile<T>(
  realPath: string,
  mode: number,
  work: (handle: fs.FileHandle) => Promise<T>,
): Promise<T> {
  const flags = O_CREAT | constants.O_EXCL | constants.O_WRONLY
  return withEntry(realPath, async entry => closing(await openReal(entry, realPath, flags, mode), work))
}

/**
 * Runs `work` with a path of the entry `realPath` for which links in the folder's path aren't followed. The entry itself may be a link or
 * missing. Rejects with {@link RedirectedError} if a link is in the folder's path.
 */
export async function withEntry<T>(realPath: string, work: (entry: string) => Promise<T>): Promise<T> {
  return withFolder(path.dirname(realPath), folder => work(path.join(folder, path.basename(realPath))))
}

async function withFolder<T>(realPath: string, work: (folder: string) => Promise<T>): Promise<T> {
  if (!opensFolders()) {
    if (!isSameSpelled(await fs.realpath(realPath), realPath)) throw new RedirectedError(realPath)
    return work(realPath)
  }
  const handle = await openReal(realPath, realPath, (tellsPaths ? O_PATH : constants.O_RDONLY) | O_DIRECTORY)
  return closing(handle, () => work(tellsPaths ? openedPath(handle) : realPath))
}

/** Sets the permission bits of a file. */
export async function setMode(realPath: string, mode: number): Promise<void> {
  if (!hasFileModes()) return
  await withFile(realPath, tellsPaths ? O_PATH : constants.O_RDONLY, handle =>
    tellsPaths ? fs.chmod(openedPath(handle), mode) : handle.chmod(mode),
  )
}

/** Creates a folder and its parents, unless they exist already. */
export async function makeFolders(realPath: string): Promise<void> {
  const missing: string[] = []
  for (let folder = realPath; !(await isFolder(folder)); folder = path.dirname(folder))
    missing.unshift(folder)
  for (const folder of missing) {
    await withEntry(folder, entry => fs.mkdir(onDisk(entry))).catch((error: unknown) => {
      // another program has created the folder meanwhile
      if (errorCode(error) !== 'EEXIST') throw error
    })
  }
}

async function isFolder(realPath: string): Promise<boolean> {
  try {
    return await withFolder(realPath, async () => true)
  } catch (error) {
    if (errorCode(error) === 'ENOENT' && path.dirname(realPath) !== realPath) return false
    throw error
  }
}

/** Opens `realPath` at `location`, another path of the same entry. */
async function openReal(
  location: string,
  realPath: string,
  flags: number,
  mode?: number,
): Promise<fs.FileHandle> {
  for (let tries = 1; ; tries++) {
    const handle = await fs
      .open(onDisk(location), flags | O_NOFOLLOW | O_NONBLOCK, mode)
      .catch(async (error: unknown): Promise<never> => {
        throw (await isLink(location, error)) ? new RedirectedError(realPath) : error
      })
    if (await isAt(handle, realPath).catch(() => false)) return handle
    const created = flags & O_CREAT ? await handle.stat({ bigint: true }).catch(() => undefined) : undefined
    await handle.close()
    if (created && (await isSame(created, location))) await fs.unlink(onDisk(location)).catch(() => {})
    if (created || tries === MAX_TRIES) throw new RedirectedError(realPath)
  }
}

async function isLink(location: string, error: unknown): Promise<boolean> {
  const code = errorCode(error)
  // `ENOTDIR` for a folder
  if (code !== 'ELOOP' && code !== 'EMLINK' && code !== 'ENOTDIR') return false
  return fs.lstat(onDisk(location)).then(
    info => info.isSymbolicLink(),
    () => false,
  )
}

/** Whether the open file or folder has this real path. */
async function isAt(handle: fs.FileHandle, realPath: string): Promise<boolean> {
  // reading `/proc` doesn't access a disk
  const known = tellsPaths
    ? decodeFileName(readlinkSync(openedPath(handle), 'buffer'))
    : await fs.realpath(realPath)
  if (tellsPaths && known === realPath) return true
  // file systems that ignore case also exist on Linux
  return isSameSpelled(known, realPath) && (await isSame(await handle.stat({ bigint: true }), realPath))
}

async function isSame(opened: { ino: bigint; dev: bigint }, location: string): Promise<boolean> {
  const there = await fs.lstat(onDisk(location), { bigint: true }).catch(() => undefined)
  return there !== undefined && there.ino === opened.ino && there.dev === opened.dev
}

function isSameSpelled(one: string, other: string): boolean {
  return one.normalize('NFC').toLowerCase() === other.normalize('NFC').toLowerCase()
}

function openedPath(handle: fs.FileHandle): string {
  return openPath(handle.fd)
}

function openPath(fd: number): string {
  return `/proc/self/fd/${fd}`
}

async function closing<T>(handle: fs.FileHandle, work: (handle: fs.FileHandle) => Promise<T>): Promise<T> {
  try {
    return await work(handle)
  } finally {
    await handle.close()
  }
}

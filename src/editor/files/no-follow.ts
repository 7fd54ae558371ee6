/**
 * Opens files and folders by their real path without following a link in any part of it. A path that was checked can lead
 * elsewhere when it's used, because an agent can replace a folder by a link in between.
 *
 * Node has no `openat`. On Linux, `/proc/self/fd/<n>` tells the path of what was opened, and leads to the entries of an
 * open folder whatever is done to its path. On other systems, what was opened is compared with what is at the path.
 */
import { close, constants, existsSync, fstatSync, open, read, readlinkSync, type Stats } from 'node:fs'
import * as fs from 'node:fs/promises'
import path from 'node:path'
import { errorCode } from '../../common/errors.ts'
import { decodeFileName, onDisk } from '../../common/file-names.ts'
import { hasFileModes, hasProc, opensFolders } from '../../common/platform.ts'
import { readHandle } from '../../common/read-bounded.ts'

/** A real path that leads through a link now. */
export class RedirectedError extends Error {
  override readonly name = 'RedirectedError'

  constructor(realPath: string) {
    super(`${realPath} leads through a link that wasn't there when its location was checked.`)
  }
}

/** How often a file is opened again if it's replaced or renamed at that moment. */
const MAX_TRIES = 5
/** Opening a pipe doesn't wait with `O_NONBLOCK`. Windows doesn't have these flags. */
const { O_NOFOLLOW = 0, O_NONBLOCK = 0, O_DIRECTORY = 0, O_CREAT } = constants
const tellsPaths = hasProc() && existsSync('/proc/self/fd')
/** Opens a folder that can't be listed, or a file that can't be read, only as a location. Node doesn't name this flag of Linux. */
const O_PATH = 0o10000000

/**
 * Opens a file; the caller closes it. Rejects with {@link RedirectedError} if a link is in its path, otherwise as `open` of
 * `node:fs`. `flags` are numeric.
 */
export async function openFile(realPath: string, flags: number): Promise<fs.FileHandle> {
  return openReal(realPath, realPath, flags)
}

/** {@link openFile} for `work`; closes the file. */
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
 * Reads a file with few requests and little work: a command may change a thousand. `undefined` if it's not a file, is
 * larger than `maxBytes`, has a link in its path, or was written meanwhile; {@link withFile} tells more. Never rejects.
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

/** Without promises and a `FileHandle`, which take longer than reading a small file. */
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

/** Creates a file, which must not exist, for `work`. Rejects as {@link withFile}. */
export async function withNewFile<T>(
  realPath: string,
  mode: number,
  work: (handle: fs.FileHandle) => Promise<T>,
): Promise<T> {
  const flags = O_CREAT | constants.O_EXCL | constants.O_WRONLY
  return withEntry(realPath, async entry => closing(await openReal(entry, realPath, flags, mode), work))
}

/**
 * Runs `work` with a path of the entry `realPath` at which links in its folder's path aren't followed. The entry itself
 * may be a link or missing. Rejects with {@link RedirectedError} if a link is in the folder's path.
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

/** Creates a folder and its parents, unless they exist. */
export async function makeFolders(realPath: string): Promise<void> {
  const missing: string[] = []
  for (let folder = realPath; !(await isFolder(folder)); folder = path.dirname(folder))
    missing.unshift(folder)
  for (const folder of missing) {
    await withEntry(folder, entry => fs.mkdir(onDisk(entry))).catch((error: unknown) => {
      // another program has created the folder
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

/** `location`: a path of `realPath` to open it at. */
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
  // the latter for a folder
  if (code !== 'ELOOP' && code !== 'EMLINK' && code !== 'ENOTDIR') return false
  return fs.lstat(onDisk(location)).then(
    info => info.isSymbolicLink(),
    () => false,
  )
}

/** Whether the open file or folder has this real path. */
async function isAt(handle: fs.FileHandle, realPath: string): Promise<boolean> {
  // reading `/proc` doesn't wait for a disk
  const known = tellsPaths
    ? decodeFileName(readlinkSync(openedPath(handle), 'buffer'))
    : await fs.realpath(realPath)
  if (tellsPaths && known === realPath) return true
  // file systems that ignore case exist on Linux, too
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

/** The disk as `SessionFiles` sees it: a port, so that a full disk or a locked file can be had in a test. */
import { constants } from 'node:fs'
import * as fs from 'node:fs/promises'
import { diskLinks, type Links } from '../path-guard.ts'

export interface FileInfo {
  type: 'file' | 'folder' | 'other'
  /** bytes */
  size: number
  mode: number
  /** It has another name elsewhere, or another owner: replaced by a rename it would lose that. */
  shared: boolean
}

/** Paths are absolute; errors are those of `node:fs`, with a `code`. */
export interface FileSystem extends Links {
  /** Follows links. */
  stat(path: string): Promise<FileInfo>
  readFile(path: string): Promise<Uint8Array>
  /** The file's bytes in pieces, in order, until the consumer has enough. A piece's memory is not used again. */
  readPieces(path: string): AsyncIterable<Uint8Array>
  /** Fails when the file may not be written. */
  checkWritable(path: string): Promise<void>
  makeFolders(path: string): Promise<void>
  /** Creates the file, which must not exist, and waits until it is on the disk. */
  createFile(path: string, bytes: Uint8Array, mode: number | undefined): Promise<void>
  /** Replaces the content of a file that is there, in place. */
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
      // What open made was narrowed by the process's umask.
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

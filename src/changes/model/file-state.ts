/** The state of a file on disk, with everything that is needed to restore the file byte for byte. */
import { constants, type Stats } from 'node:fs'
import { lstat, readdir, readlink, rmdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import * as l10n from '@vscode/l10n'
import { Budget } from '../../common/async.ts'
import { decodeFileName, onDisk } from '../../common/file-names.ts'
import { hasFileModes } from '../../common/platform.ts'
import { readHandle, TooLargeError } from '../../common/read-bounded.ts'
import { fileInfoOf, WrittenMeanwhileError, writeAtomically } from '../../editor/files/file-system.ts'
import type { FilesShared } from '../../editor/files/files.ts'
import { RedirectedError, readSmallFile, setMode, withEntry, withFile } from '../../editor/files/no-follow.ts'
import { decodeFile, encodeFile } from '../../editor/files/text-files.ts'

/** Everything about a file except its text. Modes are the permission bits. */
export type FileAttributes =
  | { type: 'absent' }
  /** `encoding`: VS Code's name of the encoding. */
  | { type: 'text'; encoding: string; bom: boolean; mode: number }
  /** The bytes of the file are in the store under this hash. */
  | { type: 'binary'; hash: string; size: number; mode: number }
  | { type: 'link'; target: string }
  /** A file that is too large to store: `size` in bytes, `modified` in milliseconds since the epoch. */
  | { type: 'large'; size: number; modified: number; mode: number }

export interface FileState {
  attributes: FileAttributes
  /** without the byte order mark; empty for binary files */
  text: string
}

/** Stores each content once, by its hash. */
export interface BlobStore {
  /** Stores bytes. Resolves to their hash when they're on disk. */
  put(bytes: Uint8Array): Promise<string>
  get(hash: string): Promise<Uint8Array | undefined>
}

/** Maximum size of a text that is compared line by line. Bytes. */
const MAX_TEXT_BYTES = 4_000_000
/** Maximum size of a stored file. Bytes. */
const MAX_FILE_BYTES = 50_000_000

/** Larger files wait for each other before they're read, within `MAX_READING_BYTES`. Bytes. */
const MAX_QUICK_BYTES = 100_000

/** Maximum size of the files that are read at the same time, since an agent may name hundreds of large files. Bytes. */
const MAX_READING_BYTES = 2 * MAX_FILE_BYTES

/** The default for a text file about which nothing else is known. */
export const NEW_TEXT = { type: 'text', encoding: 'utf8', bom: false, mode: 0o644 } as const
export const ABSENT: FileState = { attributes: { type: 'absent' }, text: '' }

export function sameAttributes(one: FileAttributes, other: FileAttributes): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

export function sameState(one: FileState, other: FileState): boolean {
  return one.text === other.text && sameAttributes(one.attributes, other.attributes)
}

/** A file with this text (`null`: an absent file) and the other attributes of the current one. */
export function textState(text: string | null, { attributes }: FileState, mode?: number): FileState {
  if (text === null) return ABSENT
  const stored = attributes.type === 'text' ? attributes : NEW_TEXT
  return { text, attributes: { ...stored, mode: mode ?? stored.mode } }
}

/**
 * Reads and writes files without changing their bytes. Paths are real paths: if an agent replaces a folder with a link, the folder's files
 * count as missing, and nothing is written through the link.
 */
export class FileStates {
  readonly #shared: FilesShared
  readonly #blobs: BlobStore
  readonly #reading = new Budget(MAX_READING_BYTES)

  constructor(shared: FilesShared, blobs: BlobStore) {
    this.#shared = shared
    this.#blobs = blobs
  }

  /**
   * Reads a file or link; `undefined` if there is something else than a file, a link or a folder, which counts as a missing file.
   * `encodings`: those that the file may have, the likeliest first. `isFile`: the path most likely leads to a file, so it's opened without
   * a look at its type.
   */
  async read(
    path: string,
    encodings: readonly string[] = [],
    isFile = false,
  ): Promise<FileState | undefined> {
    const small = isFile ? await readSmallFile(path, MAX_QUICK_BYTES) : undefined
    return small ? this.with(small.bytes, path, modeOf(small.info), encodings) : this.#read(path, encodings)
  }

  async #read(path: string, encodings: readonly string[]): Promise<FileState | undefined> {
    try {
      const info = await lstat(onDisk(path))
      if (info.isSymbolicLink())
        return {
          attributes: {
            type: 'link',
            target: decodeFileName(await withEntry(path, entry => readlink(onDisk(entry), 'buffer'))),
          },
          text: '',
        }
      if (info.isDirectory()) return ABSENT
      if (!info.isFile()) return undefined
      const mode = modeOf(info)
      const large = ({ size, mtimeMs }: Stats): FileState => ({
        attributes: { type: 'large', size, modified: mtimeMs, mode },
        text: '',
      })
      if (info.size > MAX_FILE_BYTES) return large(info)
      return await this.#reading.run(info.size, async () => {
        const reading = withFile(path, constants.O_RDONLY, handle => readHandle(handle, path, MAX_FILE_BYTES))
        const bytes = await reading.catch((error: unknown) => {
          // the file has grown since its size was read
          if (!(error instanceof TooLargeError)) throw error
        })
        return bytes ? this.with(bytes, path, mode, encodings) : large(await lstat(onDisk(path)))
      })
    } catch (error) {
      if (error instanceof RedirectedError || isMissing(error)) return ABSENT
      throw error
    }
  }

  /** Returns the state of a file that contains these bytes. */
  async with(
    bytes: Uint8Array,
    path: string,
    mode: number,
    encodings: readonly string[] = [],
  ): Promise<FileState> {
    const text = bytes.byteLength <= MAX_TEXT_BYTES && (await this.#text(bytes, path, mode, encodings))
    if (text) return text
    const hash = await this.#blobs.put(bytes)
    return { attributes: { type: 'binary', hash, size: bytes.byteLength, mode }, text: '' }
  }

  /**
   * Writes the state to the file, or removes it with `discard`, if the file still is as expected. Rejects if the write fails, with {@link
   * FileChangedError} if the file isn't as expected.
   */
  async write(
    path: string,
    expected: FileState,
    state: FileState,
    discard: (path: string) => Promise<void>,
  ): Promise<void> {
    await inPlace(this.#write(path, expected, state, discard))
  }

  /** Rejects if the path now leads through a link. */
  async checkInPlace(path: string): Promise<void> {
    const checking = withEntry(path, async () => {})
    await inPlace(checking).catch((error: unknown) => {
      if (!isMissing(error)) throw error
    })
  }

  async #write(
    path: string,
    expected: FileState,
    state: FileState,
    discard: (path: string) => Promise<void>,
  ): Promise<void> {
    const { attributes } = state
    const { fileSystem, rules } = this.#shared
    if (attributes.type === 'large') throw new Error("The content of a file this large isn't stored.")
    const there = await withEntry(path, entry => lstat(onDisk(entry))).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      throw error
    })
    const bytes = attributes.type === 'absent' ? undefined : await this.#bytes(path, state)
    const expectedBytes = await this.#expectedBytes(path, expected)
    const isReplaced = bytes !== undefined && attributes.type !== 'link' && there?.isFile() === true
    const isWritable = there !== undefined && (there.mode & 0o200) !== 0
    // a file that is replaced is compared byte by byte during the replacement, and a read-only one before it's made writable
    const isLater = isReplaced && isWritable && expectedBytes !== undefined
    const isExpected = isLater ? isLike(there, expected) : await this.#is(path, expected)
    if (!isExpected) throw new WrittenMeanwhileError(path)
    if (attributes.type === 'absent' || !bytes) {
      if (there && !there.isDirectory()) await discard(path)
      return
    }
    if (there?.isDirectory()) await removeEmptyFolder(path)
    if (!there) await fileSystem.makeFolders(rules.dirname(path))
    if (there && (there.isSymbolicLink() || attributes.type === 'link')) await fileSystem.remove(path)
    if (attributes.type === 'link') {
      await withEntry(path, entry => symlink(onDisk(attributes.target), onDisk(entry)))
      return
    }
    const info = there?.isFile() ? fileInfoOf(there) : undefined
    if (info && !isWritable) await setMode(path, info.mode | 0o200)
    const existing = info && { ...info, mode: attributes.mode }
    const isSame = expectedBytes && ((found: Uint8Array) => Buffer.compare(expectedBytes, found) === 0)
    const isNew = await writeAtomically(fileSystem, path, bytes, existing, isSame ?? (() => true))
    if (!existing || !isNew) await setMode(path, attributes.mode)
  }

  /** Whether the file is in this state now. */
  async #is(path: string, expected: FileState): Promise<boolean> {
    const now = await this.read(
      path,
      expected.attributes.type === 'text' ? [expected.attributes.encoding] : [],
    )
    return now !== undefined && sameState(now, expected)
  }

  /** The bytes of a file in this state; `undefined` for a state of which only the attributes are compared. */
  async #expectedBytes(path: string, expected: FileState): Promise<Uint8Array | undefined> {
    const { type } = expected.attributes
    return type === 'text' || type === 'binary' ? this.#bytes(path, expected) : undefined
  }

  /** Sets only the mode of a file. */
  async setMode(path: string, mode: number): Promise<void> {
    await setMode(path, mode)
  }

  async #bytes(path: string, { attributes, text }: FileState): Promise<Uint8Array> {
    if (attributes.type === 'text') return encodeFile(text, path, this.#shared.encodings, attributes)
    if (attributes.type !== 'binary') return new Uint8Array()
    const bytes = await this.#blobs.get(attributes.hash)
    if (!bytes) throw new Error('The content of the file is no longer in the store.')
    return bytes
  }

  /** Decodes the bytes as text; `undefined` if writing that text wouldn't produce the same bytes. */
  async #text(
    bytes: Uint8Array,
    path: string,
    mode: number,
    known: readonly string[],
  ): Promise<FileState | undefined> {
    const { encodings } = this.#shared
    for (const one of [...known, undefined]) {
      const decoded = await decodeFile(bytes, path, encodings, one)
      if (typeof decoded === 'string') continue
      const { text, encoding, bom } = decoded
      const again = await encodeFile(text, path, encodings, { encoding, bom }).catch(() => undefined)
      if (again && Buffer.compare(again, bytes) === 0)
        return { attributes: { type: 'text', encoding, bom, mode }, text }
    }
    return undefined
  }
}

/** Removes a folder that contains only empty folders. Rejects with {@link FileChangedError} if the folder contains anything else. */
async function removeEmptyFolder(path: string): Promise<void> {
  const entries = await withEntry(path, entry => readdir(onDisk(entry), { withFileTypes: true }))
  if (!entries.every(entry => entry.isDirectory()))
    throw new FileChangedError(l10n.t('A folder that contains other files is in its place.'))
  for (const { name } of entries) await removeEmptyFolder(join(path, name))
  await withEntry(path, entry => rmdir(onDisk(entry)))
}

/** Whether a file on disk has the type and the mode of this state. */
function isLike(there: Stats, { attributes }: FileState): boolean {
  return (attributes.type === 'text' || attributes.type === 'binary') && attributes.mode === modeOf(there)
}

/** The permission bits of a file; a constant on Windows, which has only the read-only attribute. */
export function modeOf({ mode }: Pick<Stats, 'mode'>, platform?: NodeJS.Platform): number {
  return hasFileModes(platform) ? mode & 0o7777 : 0o666
}

function isMissing(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code === 'ENOENT' || code === 'ENOTDIR'
}

/** The error for a file that has moved or changed, so that nothing was written. The message is for the user. */
export class FileChangedError extends Error {
  override readonly name = 'FileChangedError'
}

/** Turns errors of `work` into messages for the user: that a path leads through a link, or that the file was written meanwhile. */
async function inPlace(work: Promise<void>): Promise<void> {
  try {
    await work
  } catch (error) {
    const cause = { cause: error }
    if (error instanceof RedirectedError) {
      const text = l10n.t('A link in its path leads elsewhere now. The file was left unchanged.')
      throw new FileChangedError(text, cause)
    }
    if (error instanceof WrittenMeanwhileError) {
      const text = l10n.t('The file was written at the same moment and was left unchanged. Try again.')
      throw new FileChangedError(text, cause)
    }
    throw error
  }
}

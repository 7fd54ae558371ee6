/** Converts a file's bytes to text and back, including the legacy encodings that the editor supports. */

import { Budget } from '../../common/async.ts'
import { TooLargeError } from '../../common/read-bounded.ts'
import type { GuardedPath } from '../path-guard.ts'
import type { PathRules } from '../path-rules.ts'
import { byteOrderMark, type DecodedText, decodeText, encodeText, type NoText, sliceLines } from '../text.ts'
import type { AgentWrite } from './agent-write.ts'
import {
  FileError,
  type FileInfo,
  type FileSystem,
  WrittenMeanwhileError,
  writeAtomically,
} from './file-system.ts'

/** The editor's encodings, by VS Code's names (`windows1252`, `shiftjis`, …). */
export interface Encodings {
  /** Resolves to the encoding configured for the file, if it isn't UTF-8. */
  configured(path: string): Promise<string | undefined>
  decode(bytes: Uint8Array, encoding: string): Promise<string>
  encode(text: string, encoding: string): Promise<Uint8Array>
}

/** The encodings without an editor: UTF-8, and UTF-16 with a byte order mark. */
export const unicodeOnly: Encodings = {
  configured: async () => undefined,
  decode: async (_bytes, encoding) => Promise.reject(new Error(`The encoding ${encoding} isn't supported.`)),
  encode: async (_text, encoding) => Promise.reject(new Error(`The encoding ${encoding} isn't supported.`)),
}

/** Decodes a file's bytes. `known`: the encoding of the file, such as the encoding of its document. */
export async function decodeFile(
  bytes: Uint8Array,
  path: string,
  encodings: Encodings,
  known?: string,
): Promise<DecodedText<string> | NoText> {
  const encoding = known ?? (await encodings.configured(path))
  if (encoding !== undefined && !isUtf8Name(encoding) && !byteOrderMark(bytes)) {
    const text = await encodings.decode(bytes, encoding).catch(() => undefined)
    // Use the encoding only if decoding is lossless: otherwise the setting is wrong for this file, and writing would damage it.
    if (text !== undefined && Buffer.compare(await encodings.encode(text, encoding), bytes) === 0) {
      return { text, encoding, bom: false }
    }
  }
  return decodeText(bytes)
}

/** Encodes a text in the encoding of the existing file (`there`), or for a new file, in the configured encoding. */
export async function encodeFile(
  text: string,
  path: string,
  encodings: Encodings,
  there: Pick<DecodedText<string>, 'encoding' | 'bom'> | undefined,
): Promise<Uint8Array> {
  const encoding = there?.encoding ?? (await encodings.configured(path)) ?? 'utf8'
  if (encoding === 'utf8bom') return encodeText(text, 'utf8', true)
  if (encoding === 'utf8') return encodeText(text, 'utf8', there?.bom ?? false)
  if ((encoding === 'utf16le' || encoding === 'utf16be') && (there?.bom ?? true)) {
    return encodeText(text, encoding, true)
  }
  const bytes = await encodings.encode(text, encoding)
  if ((await encodings.decode(bytes, encoding)) === text) return bytes
  if (!there) return encodeText(text, 'utf8', false)
  throw new FileError(
    'encoding',
    `Cannot write ${path}: the file is encoded as ${encoding}, which doesn't have all characters of the new text.`,
  )
}

function isUtf8Name(encoding: string): boolean {
  return encoding === 'utf8' || encoding === 'utf8bom'
}

/** Maximum size of text that is read at once, in bytes. */
export const MAX_READ_BYTES = 16 * 1024 * 1024

export interface RequestedLines {
  /** 1-based; a number below 1 counts as 1 */
  line?: number
  limit?: number
}
type Place = Pick<GuardedPath, 'path' | 'realPath'>

/**
 * Resolves to the text of a file, or of some of its lines. Never holds more than {@link MAX_READ_BYTES} in memory, so that parts of huge
 * logs can be read. Rejects with {@link FileError} if the file isn't text or the result is too large.
 */
export async function readLines(
  fileSystem: FileSystem,
  encodings: Encodings,
  file: Place,
  info: FileInfo,
  range: RequestedLines,
): Promise<string> {
  const isSmall = info.size <= MAX_READ_BYTES
  const bytes = await gather(fileSystem, file, info, isSmall ? {} : range)
  const decoded = await decodeFile(bytes, file.path, encodings)
  if (decoded === 'binary') throw binary(file.path)
  if (decoded === 'unknown-encoding') {
    throw new FileError(
      'encoding',
      `Cannot read ${file.path}: it isn't UTF-8 text. If it has another encoding, set it with "files.encoding".`,
    )
  }
  return isSmall ? sliceLines(decoded.text, range.line, range.limit) : decoded.text
}

/** Resolves to the bytes of the lines, separated by line feeds. */
async function gather(
  fileSystem: FileSystem,
  file: Place,
  info: FileInfo,
  range: RequestedLines,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  let line = 1
  let isFirst = true
  const first = Math.max(1, Math.trunc(range.line ?? 1))
  const last = range.limit === undefined ? Number.POSITIVE_INFINITY : first + Math.trunc(range.limit) - 1
  if (last < first) return new Uint8Array()
  const counts = first > 1 || last < Number.POSITIVE_INFINITY
  for await (const piece of fileSystem.readPieces(file.realPath)) {
    if (isFirst && counts) {
      const mark = byteOrderMark(piece)
      // In UTF-16, a line feed has two bytes, and a byte with the same value may be half of another character.
      if (mark && mark.encoding !== 'utf8') throw tooLarge(file.path, info.size)
      if (piece.subarray(0, 8000).includes(0)) throw binary(file.path)
    }
    isFirst = false
    let start = line >= first ? 0 : -1
    let at = 0
    while (counts && line <= last) {
      const feed = piece.indexOf(10, at)
      if (feed < 0) break
      at = feed + 1
      line += 1
      if (line === first) start = at
    }
    if (start >= 0) {
      const part = piece.subarray(start, line > last ? at : piece.length)
      bytes += part.length
      if (bytes > MAX_READ_BYTES) throw tooLarge(file.path, Math.max(info.size, bytes))
      chunks.push(part)
    }
    if (line > last) break
  }
  return Buffer.concat(chunks)
}

function binary(path: string): FileError {
  return new FileError('binary', `Cannot read ${path}: it is a binary file, not text.`)
}

export function tooLarge(path: string, bytes: number): FileError {
  const megabytes = (count: number) => Math.max(1, Math.round(count / 1024 / 1024))
  return new FileError(
    'too-large',
    `Cannot read that much of ${path} at once: it has ${megabytes(bytes)} MB and the maximum is ${megabytes(MAX_READ_BYTES)} MB. Read it in parts, with line and limit.`,
  )
}

/** Maximum total size of the texts that are merged at the same time, since an agent may write many large files at the same time. Bytes. */
const MAX_MERGING_BYTES = 2 * MAX_READ_BYTES
const LARGE_BYTES = 1024 * 1024

/** How a text is stored in a file. */
export type Storage = Pick<DecodedText<string>, 'encoding' | 'bom'>

/** A text and the bytes on disk that were decoded to it. */
export interface StoredText extends DecodedText<string> {
  bytes: Uint8Array
}

/** Maximum number of tries of a write while another program, or the user, writes the file. */
const WRITE_TRIES = 5

/** Text files on disk. Writing preserves their encoding, byte order mark and line ends. */
export class TextFiles {
  readonly #fileSystem: FileSystem
  readonly #encodings: Encodings
  readonly #rules: PathRules
  readonly #merging = new Budget(MAX_MERGING_BYTES)

  constructor(parts: { fileSystem: FileSystem; encodings: Encodings; rules: PathRules }) {
    this.#fileSystem = parts.fileSystem
    this.#encodings = parts.encodings
    this.#rules = parts.rules
  }

  /** Resolves to information about a file; `undefined` if it doesn't exist. Rejects if it isn't a regular file. */
  async stat(file: GuardedPath, doing: 'read' | 'write'): Promise<FileInfo | undefined> {
    let info: FileInfo
    try {
      info = await this.#fileSystem.stat(file.realPath)
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code
      if (code === 'ENOENT' || (code === 'ENOTDIR' && doing === 'read')) return undefined
      throw error
    }
    if (info.type === 'folder') {
      throw new FileError('folder', `Cannot ${doing} ${file.path}: it is a folder, not a file.`)
    }
    // Reading or writing a pipe or a device may never end.
    if (info.type === 'other') {
      throw new FileError('other', `Cannot ${doing} ${file.path}: it isn't a regular file.`)
    }
    return info
  }

  /** Resolves to the text on disk; `undefined` if the file is missing or too large. `encoding`: the encoding of the file's document. */
  async current(
    file: GuardedPath,
    info: FileInfo | undefined,
    encoding?: string,
  ): Promise<StoredText | undefined> {
    if (!info || info.size > MAX_READ_BYTES) return undefined
    const reading = this.#fileSystem.readFile(file.realPath, MAX_READ_BYTES)
    const bytes = await reading.catch((error: unknown) => {
      // the file has grown since its size was read
      if (!(error instanceof TooLargeError)) throw error
    })
    if (!bytes) return undefined
    const decoded = await decodeFile(bytes, file.path, this.#encodings, encoding)
    return typeof decoded === 'string' ? undefined : { ...decoded, bytes }
  }

  /** Rejects if the file exists but isn't writable. */
  async checkWritable(file: GuardedPath, info: FileInfo | undefined): Promise<void> {
    if (info) await this.#fileSystem.checkWritable(file.realPath)
  }

  /**
   * Writes an agent's text. If all line ends of the file are of one kind, the written text gets the same kind, since models always write `
   * `.
   */
  async write(file: GuardedPath, write: AgentWrite): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      const info = await this.stat(file, 'write')
      const size = info?.size ?? 0
      const work = () => this.#write(file, info, write)
      try {
        return await (size < LARGE_BYTES ? work() : this.#merging.run(size, work))
      } catch (error) {
        if (!(error instanceof WrittenMeanwhileError) || tries === WRITE_TRIES) throw error
      }
    }
  }

  async #write(file: GuardedPath, info: FileInfo | undefined, write: AgentWrite): Promise<void> {
    const before = await this.current(file, info)
    const text = before ? await write.merged(before.text, before.text) : write.content
    if (text === undefined || before?.text === text) return
    write.begin(text)
    await this.replace(file, info, text, before)
  }

  /**
   * Writes a text unchanged, in the encoding of the replaced file or in the given encoding. Rejects with {@link WrittenMeanwhileError} if
   * the file has changed.
   */
  async replace(
    file: GuardedPath,
    info: FileInfo | undefined,
    text: string,
    before: StoredText | (Storage & { bytes?: undefined }) | undefined,
  ): Promise<void> {
    const bytes = await encodeFile(text, file.path, this.#encodings, before)
    await this.checkWritable(file, info)
    if (!info) await this.#fileSystem.makeFolders(this.#rules.dirname(file.realPath))
    const expected = before?.bytes
    const isExpected = expected && ((there: Uint8Array) => Buffer.compare(expected, there) === 0)
    await writeAtomically(this.#fileSystem, file.realPath, bytes, info, isExpected)
  }
}

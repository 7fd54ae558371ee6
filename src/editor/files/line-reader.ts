import type { GuardedPath } from '../path-guard.ts'
import { byteOrderMark, sliceLines } from '../text.ts'
import { FileError } from './file-error.ts'
import type { FileInfo, FileSystem } from './file-system.ts'
import { decodeFile, type Encodings } from './text-file.ts'

/** The most text, in bytes, that is read at once. */
export const MAX_READ_BYTES = 16 * 1024 * 1024

export interface LineRange {
  /** 1-based; below 1 counts as 1 */
  line?: number
  limit?: number
}
type Place = Pick<GuardedPath, 'path' | 'realPath'>

/**
 * The text of a file, or of some of its lines, while never more than {@link MAX_READ_BYTES} of it are held: a log of
 * gigabytes can be read in parts. Rejects with {@link FileError} when it is not text or too much.
 */
export async function readLines(
  fileSystem: FileSystem,
  encodings: Encodings,
  file: Place,
  info: FileInfo,
  range: LineRange,
): Promise<string> {
  const isSmall = info.size <= MAX_READ_BYTES
  const bytes = await gather(fileSystem, file, info, isSmall ? {} : range)
  const decoded = await decodeFile(bytes, file.path, encodings)
  if (decoded === 'binary') throw binary(file.path)
  if (decoded === 'unknown-encoding') {
    throw new FileError(
      'encoding',
      `Cannot read ${file.path}: it is not UTF-8 text. If it has another encoding, set it with "files.encoding".`,
    )
  }
  return isSmall ? sliceLines(decoded.text, range.line, range.limit) : decoded.text
}

/** The bytes of the lines, parted by line feeds. */
async function gather(
  fileSystem: FileSystem,
  file: Place,
  info: FileInfo,
  range: LineRange,
): Promise<Uint8Array> {
  const kept: Uint8Array[] = []
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
      // A line feed has two bytes there, and one of them may be half of another character.
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
      kept.push(part)
    }
    if (line > last) break
  }
  return Buffer.concat(kept)
}

function binary(path: string): FileError {
  return new FileError('binary', `Cannot read ${path}: it is a binary file, not text.`)
}

export function tooLarge(path: string, bytes: number): FileError {
  const megabytes = (count: number) => Math.max(1, Math.round(count / 1024 / 1024))
  return new FileError(
    'too-large',
    `Cannot read that much of ${path} at once: it has ${megabytes(bytes)} MB and the most is ${megabytes(MAX_READ_BYTES)} MB. Read it in parts, with line and limit.`,
  )
}

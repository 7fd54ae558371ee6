import { FileError } from './file-error.ts'
import type { FileInfo, FileSystem } from './file-system.ts'
import type { GuardedPath } from './path-guard.ts'
import { byteOrderMark, decodeText, sliceLines } from './text.ts'

export interface LineRange {
  /** 1-based; below 1 counts as 1 */
  line?: number
  limit?: number
  /** the most bytes to hold */
  maxBytes: number
}

/**
 * The text of a file, or of some of its lines, without ever holding more than `maxBytes` of it: a log of gigabytes
 * can be read in parts. Rejects with {@link FileError} when it is not text or too much.
 */
export async function readLines(
  fileSystem: FileSystem,
  file: Pick<GuardedPath, 'path' | 'realPath'>,
  info: FileInfo,
  range: LineRange,
): Promise<string> {
  if (info.size <= range.maxBytes) {
    return sliceLines(textOf(await fileSystem.readFile(file.realPath), file.path), range.line, range.limit)
  }
  return textOf(await gather(fileSystem, file, info, range), file.path)
}

/** The bytes of the lines, found by their line feeds, with the file's byte order mark before them. */
async function gather(
  fileSystem: FileSystem,
  file: Pick<GuardedPath, 'path' | 'realPath'>,
  info: FileInfo,
  range: LineRange,
): Promise<Uint8Array> {
  const kept: Uint8Array[] = []
  let bytes = 0
  let line = 1
  let begun = false
  const first = Math.max(1, Math.trunc(range.line ?? 1))
  const last = range.limit === undefined ? Number.POSITIVE_INFINITY : first + Math.trunc(range.limit) - 1
  if (last < first) return new Uint8Array()
  for await (const piece of fileSystem.readPieces(file.realPath)) {
    if (!begun) {
      begun = true
      const mark = byteOrderMark(piece)
      if (mark && mark.encoding !== 'utf8') throw tooLarge(file.path, info.size, range.maxBytes)
      if (!mark && piece.subarray(0, 8000).includes(0)) throw binary(file.path)
    }
    let start = line < first ? -1 : 0
    let at = 0
    while (at < piece.length && line <= last) {
      const feed = piece.indexOf(10, at)
      if (feed < 0) break
      at = feed + 1
      line += 1
      if (line === first) start = at
    }
    if (start >= 0) {
      const part = piece.subarray(start, line > last ? at : piece.length)
      bytes += part.length
      if (bytes > range.maxBytes) throw tooLarge(file.path, info.size, range.maxBytes)
      // A copy: the piece's memory may be used again.
      kept.push(part.slice())
    }
    if (line > last) break
  }
  return Buffer.concat(kept)
}

function textOf(bytes: Uint8Array, path: string): string {
  const decoded = decodeText(bytes)
  if (decoded === 'binary') throw binary(path)
  if (decoded === 'unknown-encoding') {
    throw new FileError('encoding', `Cannot read ${path}: it is neither UTF-8 nor UTF-16 text.`)
  }
  return decoded.text
}

function binary(path: string): FileError {
  return new FileError('binary', `Cannot read ${path}: it is a binary file, not text.`)
}

export function tooLarge(path: string, size: number, most: number): FileError {
  const megabytes = (bytes: number) => Math.max(1, Math.round(bytes / 1024 / 1024))
  return new FileError(
    'too-large',
    `Cannot read that much of ${path} at once: it has ${megabytes(size)} MB and the most is ${megabytes(most)} MB. Read it in parts, with line and limit.`,
  )
}

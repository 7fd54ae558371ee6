/** Converts bytes to text and back without loss, preserving the encoding, byte order mark and line ends of a file. */
import { isUtf8 } from 'node:buffer'

export type Encoding = 'utf8' | 'utf16le' | 'utf16be'
export interface DecodedText<E extends string = Encoding> {
  /** without the byte order mark, with unchanged line ends */
  text: string
  encoding: E
  bom: boolean
}
/** Why bytes can't be read as text: they are binary, or in an unknown encoding. */
export type NoText = 'binary' | 'unknown-encoding'

/** Decodes the text of a file, with the encoding detected from its bytes alone. */
export function decodeText(bytes: Uint8Array): DecodedText | NoText {
  const mark = byteOrderMark(bytes)
  if (mark) {
    const body = bytes.subarray(mark.length)
    if (mark.encoding === 'utf8' && !isUtf8(body)) return 'unknown-encoding'
    return { text: decodeAs(body, mark.encoding), encoding: mark.encoding, bom: true }
  }
  // This is Git's criterion, and almost VS Code's.
  if (bytes.subarray(0, 8000).includes(0)) return 'binary'
  if (!isUtf8(bytes)) return 'unknown-encoding'
  return { text: decodeAs(bytes, 'utf8'), encoding: 'utf8', bom: false }
}

export function encodeText(text: string, encoding: Encoding, bom: boolean): Uint8Array {
  const whole = bom && !text.startsWith('\ufeff') ? `\ufeff${text}` : text
  if (encoding === 'utf8') return Buffer.from(whole, 'utf8')
  const bytes = Buffer.from(whole, 'utf16le')
  return encoding === 'utf16be' ? bytes.swap16() : bytes
}

export function byteOrderMark(bytes: Uint8Array): { encoding: Encoding; length: number } | undefined {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return { encoding: 'utf8', length: 3 }
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return { encoding: 'utf16le', length: 2 }
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return { encoding: 'utf16be', length: 2 }
  return undefined
}

function decodeAs(bytes: Uint8Array, encoding: Encoding): string {
  if (encoding === 'utf8')
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
  const label = encoding === 'utf16le' ? 'utf-16le' : 'utf-16be'
  return new TextDecoder(label, { ignoreBOM: true }).decode(bytes)
}

/** Returns the text without a byte order mark, which is part of the storage of a text, not of the text. */
export function withoutMark(text: string): string {
  return text.startsWith('\ufeff') ? text.slice(1) : text
}

/** Returns the line end of a text; `undefined` if the text has no line ends or several kinds. */
export function lineEnd(text: string): '\n' | '\r\n' | undefined {
  let crlf = 0
  let lf = 0
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) {
    if (text.charCodeAt(at - 1) === 13) crlf += 1
    else lf += 1
    if (crlf > 0 && lf > 0) return undefined
  }
  return crlf > 0 ? '\r\n' : lf > 0 ? '\n' : undefined
}

export function sameButEnds(one: string, other: string): boolean {
  return one === other || one.replaceAll('\r\n', '\n') === other.replaceAll('\r\n', '\n')
}

export function withLineEnd(text: string, end: '\n' | '\r\n'): string {
  // true for most texts; replacing a million line ends by equal line ends would take a second
  if (end === '\n' && !text.includes('\r\n')) return text
  return text.replace(/\r?\n/g, end)
}

/**
 * Returns lines `line` (1-based) to `line + limit - 1`, each with its line end; lines are separated by `
 * `. Empty beyond the end. A line number below 1 counts as 1, since agents send 0.
 */
export function sliceLines(text: string, line?: number, limit?: number): string {
  const first = Math.max(1, Math.trunc(line ?? 1))
  let start = 0
  for (let n = 1; n < first; n += 1) {
    const end = text.indexOf('\n', start)
    if (end < 0) return ''
    start = end + 1
  }
  if (limit === undefined) return text.slice(start)
  let stop = start
  for (let n = 0; n < Math.trunc(limit); n += 1) {
    const end = text.indexOf('\n', stop)
    if (end < 0) return text.slice(start)
    stop = end + 1
  }
  return text.slice(start, stop)
}

/** Returns the smallest single replacement that turns `before` into `after`: offsets in UTF-16 units, without splitting characters. */
export function smallestEdit(
  before: string,
  after: string,
): { start: number; end: number; text: string } | undefined {
  if (before === after) return undefined
  const most = Math.min(before.length, after.length)
  let start = 0
  while (start < most && before.charCodeAt(start) === after.charCodeAt(start)) start += 1
  if (cuts(before, start) || cuts(after, start)) start -= 1
  let tail = 0
  while (
    tail < most - start &&
    before.charCodeAt(before.length - 1 - tail) === after.charCodeAt(after.length - 1 - tail)
  ) {
    tail += 1
  }
  if (cuts(before, before.length - tail) || cuts(after, after.length - tail)) tail -= 1
  return { start, end: before.length - tail, text: after.slice(start, after.length - tail) }
}

/** Whether the offset splits a surrogate pair or a CRLF. */
function cuts(text: string, at: number): boolean {
  if (at <= 0 || at >= text.length) return false
  const left = text.charCodeAt(at - 1)
  const right = text.charCodeAt(at)
  return (
    (left === 13 && right === 10) || (left >= 0xd800 && left < 0xdc00 && right >= 0xdc00 && right < 0xe000)
  )
}

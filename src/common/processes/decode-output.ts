/** Decodes the output of programs, which is mostly UTF-8, but not on all systems and not from all programs. */
import { isUtf8 } from 'node:buffer'
import { withTimeout } from '../async.ts'
import { hostPlatform } from '../platform.ts'
import { type RunTool, runTool, systemProgram } from './process-system.ts'

/** The placeholder for output that isn't text. In English, because the agent reads it. */
export const BINARY_OUTPUT = '[binary output]\n'

/** Length at which a line is decoded although its end hasn't arrived. Bytes. */
const MAX_LINE_BYTES = 16 * 1024
/** How far from its end such a line is searched for a space. Bytes. */
const MAX_SEARCHED_BYTES = 1024

/** How long Windows may take to print its code page. Milliseconds. */
const CODE_PAGE_MS = 5000

/**
 * Number of bytes that are also checked for control characters, since binary data may begin with a line of text: the name of the format.
 */
const LOOK_AHEAD_BYTES = 32

/**
 * Decodes bytes as they arrive, in whole characters. A line that isn't UTF-8 is decoded as a whole with the first encoding that fits: the
 * configured encoding, the system's, or a guess.
 */
export class OutputDecoder {
  readonly #configured: string | undefined
  #rest: Uint8Array = NO_BYTES
  #isBinary = false
  #utf16: TextDecoder | undefined
  #isBegun = false
  /** Whether the output has contained characters that are only possible in UTF-8. */
  #isUtf8 = false
  /** Signs in all lines so far of Chinese (`pairs`), and of a language with one byte per character (`singles`). */
  readonly #signs = { pairs: 0, singles: 0 }

  /** `configured`: VS Code's name of the encoding in `files.encoding`. */
  constructor(configured?: string) {
    this.#configured = configured
    void systemEncoding()
  }

  write(piece: Uint8Array): string {
    if (piece.length === 0) return ''
    if (!this.#isBegun) {
      this.#isBegun = true
      if (isUtf16(piece)) this.#utf16 = new TextDecoder('utf-16le')
    }
    if (this.#utf16) return this.#utf16.decode(piece, { stream: true })
    const bytes = this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece])
    this.#rest = NO_BYTES
    const whole = wholeCharacters(bytes)
    if (!this.#isBinary && isUtf8(bytes.subarray(0, whole))) {
      this.#rest = Uint8Array.from(bytes.subarray(whole))
      const read = text(bytes, 0, whole)
      if (read.length < whole) this.#isUtf8 = true
      return read
    }
    let out = ''
    let at = 0
    for (let end = lineEnd(bytes, at); end > 0; end = lineEnd(bytes, at)) {
      out += this.#line(bytes, at, end)
      at = end
    }
    if (bytes.length - at > MAX_LINE_BYTES) {
      const end = betweenCharacters(bytes, at)
      out += this.#line(bytes, at, end)
      at = end
    }
    this.#rest = Uint8Array.from(bytes.subarray(at))
    return out
  }

  /** Decodes the remaining bytes, even if they end within a character. */
  end(): string {
    if (this.#utf16) return this.#utf16.decode()
    const bytes = this.#rest
    this.#rest = NO_BYTES
    if (bytes.length === 0) return ''
    const isCut = this.#isUtf8 && wholeCharacters(bytes) === 0
    return isCut ? text(bytes, 0, bytes.length) : this.#line(bytes, 0, bytes.length)
  }

  #line(bytes: Uint8Array, start: number, end: number): string {
    const line = bytes.subarray(start, end)
    if (isUtf8(line)) {
      // after binary data, a few bytes that look like text may be binary, too
      if (this.#isBinary && (line.length < 4 || hasControls(line))) return ''
      this.#isBinary = false
      return text(line, 0, line.length)
    }
    if (hasControls(bytes.subarray(start, end + LOOK_AHEAD_BYTES))) {
      const wasBinary = this.#isBinary
      this.#isBinary = true
      return wasBinary ? '' : BINARY_OUTPUT
    }
    this.#isBinary = false
    return this.#legacy(line)
  }

  #legacy(line: Uint8Array): string {
    const utf8 = text(line, 0, line.length)
    // the line is UTF-8 with one wrong byte, as in output that was cut
    if (isMostlyRight(utf8)) return utf8
    for (const name of [this.#configured, knownSystemEncoding]) {
      const decoded = name === undefined ? undefined : decodeAs(line, name)
      if (decoded !== undefined) return decoded
    }
    countSigns(line, this.#signs)
    const isChinese = this.#signs.pairs > this.#signs.singles
    return (isChinese && decodeAs(line, 'gb18030')) || (decodeAs(line, 'windows-1252') ?? utf8)
  }
}

const NO_BYTES = new Uint8Array()

function text(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8')
}

/** The offset after the next line end, including the carriage return of a progress bar; 0 if there is none. */
function lineEnd(bytes: Uint8Array, from: number): number {
  for (let at = from; at < bytes.length; at += 1) if (bytes[at] === 10 || bytes[at] === 13) return at + 1
  return 0
}

/** The length of the bytes without an incomplete character at the end. */
function wholeCharacters(bytes: Uint8Array): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back += 1) {
    const byte = bytes[bytes.length - back] ?? 0
    if (byte >= 0x80 && byte < 0xc0) continue
    const size = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
    return size > back ? bytes.length - back : bytes.length
  }
  return bytes.length
}

/**
 * A position near the end of the bytes, after `start`, that is between two characters in any encoding: after a space or a punctuation mark.
 * The end of the bytes if there is none.
 */
function betweenCharacters(bytes: Uint8Array, start: number): number {
  const first = Math.max(start, bytes.length - MAX_SEARCHED_BYTES)
  const found = bytes.subarray(first).findLastIndex(byte => byte < 0x30)
  return found < 0 ? bytes.length : first + found + 1
}

/** Whether the output is UTF-16, which some programs of Windows, such as `wsl`, write, often without a byte order mark. */
function isUtf16(bytes: Uint8Array): boolean {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return true
  return Buffer.from(bytes.subarray(0, 1024)).includes('\r\0\n\0', 'latin1')
}

/** Whether the bytes contain control characters that no text has, except for UTF-8, where NUL may separate file names. */
function hasControls(bytes: Uint8Array): boolean {
  return bytes.some(byte => byte < 7 || (byte > 15 && byte < 32 && byte !== 27))
}

function isMostlyRight(decoded: string): boolean {
  let wrong = 0
  let right = 0
  for (const character of decoded) {
    if (character === '\ufffd') wrong += 1
    else if (character > '\x7f') right += Buffer.byteLength(character)
  }
  return right >= 6 * wrong
}

/**
 * Counts the signs in a line. In GB 2312, frequent characters have two bytes in certain ranges, of which no language with one byte per
 * character has many.
 */
function countSigns(line: Uint8Array, signs: { pairs: number; singles: number }): void {
  for (let at = 0; at < line.length; at += 1) {
    const [first = 0, second = 0] = [line[at], line[at + 1]]
    if (first < 0x80) continue
    const isPair = second >= 0xa1
    if (isPair && ((first >= 0xa1 && first <= 0xa3) || (first >= 0xb0 && first <= 0xd7))) signs.pairs += 1
    else signs.singles += 1
    if (isPair) at += 1
  }
}

/** Decodes the bytes; `undefined` if they aren't in this encoding. */
function decodeAs(bytes: Uint8Array, name: string): string | undefined {
  const table = OEM_CODE_PAGES[name]
  if (table) return oem(bytes, table)
  if (LATIN1.test(name)) {
    const latin1 = Buffer.from(bytes).toString('latin1')
    return latin1.replace(/[\x80-\x9f]/g, sign => WINDOWS_SIGNS[sign.charCodeAt(0) - 0x80] ?? sign)
  }
  try {
    return new TextDecoder(name, { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/**
 * Decodes the bytes with the code page of the console; `undefined` if they rather are in the code page of Windows, which programs with
 * windows use and which has letters elsewhere.
 */
function oem(bytes: Uint8Array, table: string): string | undefined {
  if (bytes.some(byte => byte >= 0xc0) && !bytes.some(byte => byte >= 0x80 && byte <= 0xa5)) return undefined
  return Array.from(bytes, byte => (byte < 0x80 ? String.fromCharCode(byte) : table[byte - 0x80])).join('')
}

/** Encodings that Node 20 to 23 decode wrongly: they return control characters for the characters that Windows has in their place. */
const LATIN1 = /^(windows-?1252|iso-?8859-?1)$/
const WINDOWS_SIGNS = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ'

/** The upper halves of the consoles' code pages that `TextDecoder` doesn't have. */
const OEM_CODE_PAGES: Record<string, string> = {
  cp437:
    'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0',
  cp850:
    'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u00ad±‗¾¶§÷¸°¨·¹³²■\u00a0',
}

/** `TextDecoder`'s name of an encoding that VS Code's settings name; `undefined` for Unicode, which the bytes reveal. */
export function outputEncoding(setting: string | undefined): string | undefined {
  if (setting === undefined || setting.startsWith('utf')) return undefined
  if (setting === 'macroman') return 'macintosh'
  if (setting === 'cp950') return 'big5'
  return setting.replace(/^(windows|euc|koi8|shift|big5)(?=[a-z\d])/, '$1-')
}

/** The encoding of a code page of Windows, as `chcp` prints it in the language of the system. */
export function codePageEncoding(printed: string): string | undefined {
  const page = /\d+/.exec(printed)?.[0] ?? ''
  const names: Record<string, string> = {
    932: 'shift-jis',
    936: 'gbk',
    949: 'euc-kr',
    950: 'big5',
    866: 'cp866',
  }
  if (names[page]) return names[page]
  if (`cp${page}` in OEM_CODE_PAGES) return `cp${page}`
  return /^125\d$|^874$/.test(page) ? `windows-${page}` : undefined
}

/** The encoding of a Unix locale, such as `zh_CN.GBK`, or its language's usual encoding besides UTF-8. */
export function localeEncoding(locale: string): string | undefined {
  const [, language, country, charset] = /^([a-z]+)(?:_([A-Z]+))?(?:\.([\w-]+))?/.exec(locale) ?? []
  if (charset && !/^utf-?8$/i.test(charset)) return outputEncoding(charset.toLowerCase())
  const names: Record<string, string> = {
    ja: 'shift-jis',
    ko: 'euc-kr',
    ru: 'windows-1251',
    uk: 'windows-1251',
  }
  if (language === 'zh') return country === 'TW' || country === 'HK' ? 'big5' : 'gb18030'
  return names[language ?? '']
}

let knownSystemEncoding: string | undefined
let lookUp: Promise<void> | undefined

/** Determines once which encoding the system's programs use. */
export function systemEncoding(): Promise<void> {
  lookUp ??= askSystemEncoding().then(encoding => {
    knownSystemEncoding = encoding
  })
  return lookUp
}

/** Asks the system for the encoding of programs: on Windows, the code page of the console; on other systems, the locale. */
export async function askSystemEncoding(
  platform: NodeJS.Platform = hostPlatform,
  { LC_ALL, LC_CTYPE, LANG }: NodeJS.ProcessEnv = process.env,
  tool: RunTool = runTool,
): Promise<string | undefined> {
  if (platform !== 'win32') return localeEncoding(LC_ALL || LC_CTYPE || LANG || '')
  const asking = tool(systemProgram('chcp.com'), []).catch(() => '')
  return codePageEncoding((await withTimeout(asking, CODE_PAGE_MS)) ?? '')
}

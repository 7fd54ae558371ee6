import type { Encodings } from '../../src/editor/files/text-files.ts'

/** VS Code's names of the encodings that Node.js can decode, too, by the names of the Encoding Standard. */
const NAMES: Record<string, string> = {
  iso88592: 'iso-8859-2',
  iso88593: 'iso-8859-3',
  iso88594: 'iso-8859-4',
  iso88595: 'iso-8859-5',
  iso88596: 'iso-8859-6',
  iso88597: 'iso-8859-7',
  iso88598: 'iso-8859-8',
  iso885910: 'iso-8859-10',
  iso885913: 'iso-8859-13',
  iso885914: 'iso-8859-14',
  iso885915: 'iso-8859-15',
  cp866: 'ibm866',
  koi8r: 'koi8-r',
  koi8u: 'koi8-u',
  macroman: 'macintosh',
  windows874: 'windows-874',
  windows1250: 'windows-1250',
  windows1251: 'windows-1251',
  windows1252: 'windows-1252',
  windows1253: 'windows-1253',
  windows1254: 'windows-1254',
  windows1255: 'windows-1255',
  windows1256: 'windows-1256',
  windows1257: 'windows-1257',
  windows1258: 'windows-1258',
  gbk: 'gbk',
  gb18030: 'gb18030',
  cp950: 'big5',
  big5hkscs: 'big5',
  shiftjis: 'shift_jis',
  eucjp: 'euc-jp',
  euckr: 'euc-kr',
}

export const LEGACY_ENCODINGS = Object.keys(NAMES)

/** Characters of an encoding that aren't ASCII, as many as fit on a line. */
export function charactersOf(encoding: string): string {
  return [...tableOf(encoding).keys()].slice(0, 12).join('')
}

/** The editor's encodings in plain Node: those with one byte or two bytes for each character. */
export const legacyEncodings: Encodings = {
  configured: () => undefined,
  async decode(bytes, encoding) {
    return new TextDecoder(labelOf(encoding), { ignoreBOM: true }).decode(bytes)
  },
  async encode(text, encoding) {
    if (/^utf/.test(encoding)) throw new Error(`The test doesn't encode ${encoding}.`)
    const table = tableOf(encoding)
    return Buffer.concat(
      [...text].map(one => (one <= '\x7f' ? Buffer.from(one) : (table.get(one) ?? Buffer.from('?')))),
    )
  },
}

function labelOf(encoding: string): string {
  return NAMES[encoding] ?? 'utf-8'
}

const tables = new Map<string, Map<string, Buffer>>()

/** The bytes of each character that isn't ASCII. */
function tableOf(encoding: string): Map<string, Buffer> {
  let table = tables.get(encoding)
  if (table) return table
  table = new Map()
  const decoder = new TextDecoder(labelOf(encoding), { fatal: true })
  const add = (...bytes: number[]) => {
    try {
      const text = decoder.decode(Buffer.from(bytes))
      const isOne = [...text].length === 1 && text > '\x9f' && !/[\p{Cc}\p{Co}\p{Z}]/u.test(text)
      if (isOne && !table!.has(text)) table!.set(text, Buffer.from(bytes))
    } catch {
      // no character has these bytes
    }
  }
  for (let byte = 0x80; byte <= 0xff; byte++) add(byte)
  if (/^(gb|cp950|big5|shiftjis|euc)/.test(encoding))
    for (let lead = 0xb0; lead <= 0xc8; lead++) for (let next = 0xa1; next <= 0xfe; next++) add(lead, next)
  tables.set(encoding, table)
  return table
}

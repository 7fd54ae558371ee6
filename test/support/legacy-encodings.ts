import type { Encodings } from '../../src/editor/files/text-files.ts'

/** VS Code's names of the encodings that Node.js can decode, too, with the names of the Encoding Standard. */
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
  gb2312: 'gbk',
  gbk: 'gbk',
  gb18030: 'gb18030',
  cp950: 'big5',
  big5hkscs: 'big5',
  shiftjis: 'shift_jis',
  eucjp: 'euc-jp',
  euckr: 'euc-kr',
}

const ISO_8859_16 =
  '\u00a0ĄąŁ€„Š§š©Ș«Ź\u00adźŻ°±ČłŽ”¶·žčș»ŒœŸżÀÁÂĂÄĆÆÇÈÉÊËÌÍÎÏĐŃÒÓÔŐÖŚŰÙÚÛÜĘȚßàáâăäćæçèéêëìíîïđńòóôőöśűùúûüęțÿ'
/** The characters of the others from byte 0x80 on. Node.js reads the ISO encodings as those of Windows. */
const TABLES: Record<string, string> = {
  cp1125:
    'АБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯабвгдежзийклмноп░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀рстуфхцчшщъыьэюяЁёҐґЄєІіЇї·√№¤■\u00a0',
  cp437:
    'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0',
  cp850:
    'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u00ad±‗¾¶§÷¸°¨·¹³²■\u00a0',
  cp852:
    'ÇüéâäůćçłëŐőîŹÄĆÉĹĺôöĽľŚśÖÜŤťŁ×čáíóúĄąŽžĘę¬źČş«»░▒▓│┤ÁÂĚŞ╣║╗╝Żż┐└┴┬├─┼Ăă╚╔╩╦╠═╬¤đĐĎËďŇÍÎě┘┌█▄ŢŮ▀ÓßÔŃńňŠšŔÚŕŰýÝţ´\u00ad˝˛ˇ˘§÷¸°¨˙űŘř■\u00a0',
  cp857:
    'ÇüéâäàåçêëèïîıÄÅÉæÆôöòûùİÖÜø£ØŞşáíóúñÑĞğ¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ºªÊËÈ\ufffdÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµ\ufffd×ÚÛÙìÿ¯´\u00ad±\ufffd¾¶§÷¸°¨·¹³²■\u00a0',
  cp865:
    'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø₧ƒáíóúñÑªº¿⌐¬½¼¡«¤░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0',
  koi8ru:
    '─│┌┐└┘├┤┬┴┼▀▄█▌▐░▒▓“■∙”—№™\u00a0»®«·¤═║╒ёє╔ії╗╘╙╚╛ґў╞╟╠╡ЁЄ╣ІЇ╦╧╨╩╪ҐЎ©юабцдефгхийклмнопярстужвьызшэщчъЮАБЦДЕФГХИЙКЛМНОПЯРСТУЖВЬЫЗШЭЩЧЪ',
  koi8t:
    'қғ‚Ғ„…†‡\ufffd‰ҳ‹ҲҷҶ\ufffdҚ‘’“”•–—\ufffd™\ufffd›\ufffd\ufffd\ufffd\ufffd\ufffdӯӮё¤ӣ¦§\ufffd\ufffd\ufffd«¬\u00ad®\ufffd°±²Ё\ufffdӢ¶·\ufffd№\ufffd»\ufffd\ufffd\ufffd©юабцдефгхийклмнопярстужвьызшэщчъЮАБЦДЕФГХИЙКЛМНОПЯРСТУЖВЬЫЗШЭЩЧЪ',
  iso88591: latin(byte => String.fromCharCode(byte)),
  iso88599: latin(byte => decoded('windows-1254', byte)),
  iso885916: latin(byte => ISO_8859_16[byte - 0xa0]!),
  iso885911: latin(byte => decoded('windows-874', byte)),
}

/** A character for each byte, with control characters as in all ISO encodings. */
function latin(above: (byte: number) => string): string {
  const byte = (_: unknown, i: number) => 0x80 + i
  const characters = Array.from({ length: 128 }, byte).map(one =>
    one < 0xa0 ? String.fromCharCode(one) : above(one),
  )
  return characters.join('')
}

function decoded(label: string, byte: number): string {
  return new TextDecoder(label).decode(Uint8Array.of(byte))
}

/** All encodings that VS Code offers, except those of Unicode. */
export const LEGACY_ENCODINGS = [...Object.keys(NAMES), ...Object.keys(TABLES)]

/** Characters of an encoding that aren't ASCII, as many as fit on a line. */
export function charactersOf(encoding: string): string {
  return [...tableOf(encoding).keys()].slice(0, 12).join('')
}

/** The editor's encodings in plain Node: all with one byte or two bytes for each character. */
export const legacyEncodings: Encodings = {
  configured: async () => undefined,
  decode: async (bytes, encoding) => decodeLegacy(bytes, encoding),
  encode: async (text, encoding) => encodeLegacy(text, encoding),
}

export function decodeLegacy(bytes: Uint8Array, encoding: string): string {
  const table = TABLES[encoding]
  if (table === undefined) return new TextDecoder(labelOf(encoding), { ignoreBOM: true }).decode(bytes)
  return Array.from(bytes, byte => (byte < 0x80 ? String.fromCharCode(byte) : table[byte - 0x80])).join('')
}

export function encodeLegacy(text: string, encoding: string): Uint8Array {
  if (/^utf/.test(encoding)) throw new Error(`The test doesn't encode ${encoding}.`)
  const table = tableOf(encoding)
  return Buffer.concat(
    [...text].map(one => (one <= '\x7f' ? Buffer.from(one) : (table.get(one) ?? Buffer.from('?')))),
  )
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
  const known = TABLES[encoding]
  const add = (...bytes: number[]) => {
    try {
      const text = known?.[bytes[0]! - 0x80] ?? decoder.decode(Buffer.from(bytes))
      const isOne = [...text].length === 1 && text > '\x9f' && !/[\p{Cc}\p{Co}\p{Z}\ufffd]/u.test(text)
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

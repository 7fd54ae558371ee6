/** A file's bytes as text and back, also in the encodings that are older than Unicode, as far as the editor knows them. */

import { byteOrderMark, type DecodedText, decodeText, encodeText, type NoText } from '../text.ts'
import { FileError } from './file-error.ts'

/** The editor's encodings, by VS Code's names (`windows1252`, `shiftjis`, …). */
export interface Encodings {
  /** The encoding set for the file, when it is another than UTF-8. */
  configured(path: string): string | undefined
  decode(bytes: Uint8Array, encoding: string): Promise<string>
  encode(text: string, encoding: string): Promise<Uint8Array>
}

/** For where there is no editor: UTF-8, and UTF-16 by its mark. */
export const unicodeOnly: Encodings = {
  configured: () => undefined,
  decode: async (_bytes, encoding) => Promise.reject(new Error(`The encoding ${encoding} is not known.`)),
  encode: async (_text, encoding) => Promise.reject(new Error(`The encoding ${encoding} is not known.`)),
}

/** `encoding` is one that the file is known to have, such as its document's. */
export async function decodeFile(
  bytes: Uint8Array,
  path: string,
  encodings: Encodings,
  encoding: string | undefined = encodings.configured(path),
): Promise<DecodedText<string> | NoText> {
  if (encoding !== undefined && !isUtf8Name(encoding) && !byteOrderMark(bytes)) {
    const text = await encodings.decode(bytes, encoding).catch(() => undefined)
    // Only when nothing is lost: else the setting is not right for this file, and writing it would spoil it.
    if (text !== undefined && Buffer.compare(await encodings.encode(text, encoding), bytes) === 0) {
      return { text, encoding, bom: false }
    }
  }
  return decodeText(bytes)
}

/** The bytes of a text in the encoding of what is `there` already, or for a new file in the one that is set. */
export async function encodeFile(
  text: string,
  path: string,
  encodings: Encodings,
  there: Pick<DecodedText<string>, 'encoding' | 'bom'> | undefined,
): Promise<Uint8Array> {
  const encoding = there?.encoding ?? encodings.configured(path) ?? 'utf8'
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
    `Cannot write ${path}: the file is encoded as ${encoding}, which does not have all characters of the new text.`,
  )
}

function isUtf8Name(encoding: string): boolean {
  return encoding === 'utf8' || encoding === 'utf8bom'
}

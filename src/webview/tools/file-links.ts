import { type FileReference, fileReference } from '../markdown/file-reference.ts'

/** A part of a text; `file` or `href` where it leads somewhere. */
export interface LinkedText {
  text: string
  file?: FileReference
  href?: string
}

/** An address, or something with a path's characters and a line behind it (`a.ts:12:3`, `a.ts(12,3)`). */
const candidate =
  /https?:\/\/[^\s"'<>`]+|(?<![\w@~%+.\\/-])(?:file:\/\/)?(?:[A-Za-z]:)?[\w@~%+.\\/-]*[\w-]\.[A-Za-z][A-Za-z0-9]{0,9}(?::\d{1,7}(?::\d{1,7})?|\(\d{1,7}(?:,\d{1,7})?\)|#L\d{1,7}(?:-L?\d{1,7})?)?/g

/** Longer texts are left as they are. Characters. */
const longest = 4000

/** The addresses, and the files with a line or a folder, in a line of output or of prose. */
export function linkedParts(text: string): LinkedText[] {
  if (text.length > longest || !/[./\\]/.test(text)) return [{ text }]
  const parts: LinkedText[] = []
  let at = 0
  for (const match of text.matchAll(candidate)) {
    const link = linkOf(match[0], text[match.index - 1])
    if (!link) continue
    if (match.index > at) parts.push({ text: text.slice(at, match.index) })
    parts.push(link)
    at = match.index + link.text.length
  }
  if (at < text.length) parts.push({ text: text.slice(at) })
  return parts
}

function linkOf(found: string, before: string | undefined): LinkedText | undefined {
  if (/^https?:/.test(found)) {
    const text = found.replace(/[).,;:!?\]}]+$/, '')
    return { text, href: text }
  }
  // the rest of a longer word
  if (before !== undefined && /[\w@:/\\]/.test(before)) return undefined
  const plain = found.replace(/\((\d+)(?:,(\d+))?\)$/, (_, line: string, column?: string) =>
    column ? `:${line}:${column}` : `:${line}`,
  )
  const file = fileReference(plain.replace(/^file:\/\//, ''))
  // a page without its scheme
  if (
    !file ||
    (file.line === undefined && /^(?:www\.|[\w-]+\.(?:com|org|net|io|dev|app)\/)/i.test(file.path))
  )
    return undefined
  return { text: found, file }
}

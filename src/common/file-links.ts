/**
 * References to files as agents and people write them in prose, code, output and Markdown links: `src/a.ts:12:3`. The page uses {@link
 * linkedParts} to find links. The possible meanings of a link are its {@link readings}; which one applies depends on the existing files.
 */

export interface FileReference {
  path: string
  /** 1-based */
  line?: number
  column?: number
}

/** Matches a position: `:12`, `:12:3`, `:12,3`, `:12-20`, `#12`, `#L12`, `#L12,3`, `#L12C3-L20C1`, `(12)`, `(12,3)` */
const POSITION = String.raw`(?:(?::|#L?)(\d{1,7})(?:[:,C](\d{1,7}))?(?:-L?\d{1,7}(?:[:,C]\d{1,7})?)?|\((\d{1,7})(?:,(\d{1,7}))?\))`
/** Maximum length of a position. Characters. */
const MAX_POSITION = 40
const position = new RegExp(`^${POSITION}:?$`, 'i')

/** Matches addresses that can be opened: http, https, file, a path, a path with a line, a Windows path. */
export const LINK = new RegExp(
  String.raw`^(?:(?:https?|file):|[a-z]:(?:[\\/]|%5c)|(?!(?:java|vb)script:|data:)[^:]*${POSITION}:?$|(?![a-z][a-z0-9+.-]*:))`,
  'i',
)

const CHARACTER = String.raw`-\p{L}\p{M}\p{N}_@~%+.$#&`
/**
 * A character of a name, or a part in brackets, as of the routes `[...slug]` and `(group)`. Brackets around a whole path aren't part of it.
 */
const NAME = String.raw`(?:[${CHARACTER}]|\[{1,2}[${CHARACTER}=]{1,80}\]{1,2}|\([${CHARACTER}]{1,80}\))`
/** A name with at most one space: a text with more spaces is probably a sentence. A space after an extension ends the file. */
const SPACED = String.raw`${NAME}+(?:(?<!\.[A-Za-z][A-Za-z0-9]{0,9}) (?=[\p{L}\p{N}[(])${NAME}+)?`
/** Matches possible links. No alternative starts within text where another alternative has failed, so that the time is linear. */
const candidate = new RegExp(
  [
    String.raw`(?:https?:\/\/|file:\/\/(?:localhost)?\/)[^\s"'<>\x60]+`,
    // a path with spaces must be absolute and have a position
    String.raw`(?:\/?[A-Za-z]:[\\/]|~[\\/]|\/${NAME}+\/)(?:${SPACED}[\\/])*${SPACED}${POSITION}`,
    // in `a.ts#L12,3`, `NAME` also matches `#L12`, so a remaining `,3` is allowed
    String.raw`(?:\/?[A-Za-z]:(?=[\\/]))?(?:${NAME}|[\\/])+(?:${POSITION}|,\d{1,7})?`,
  ].join('|'),
  'giu',
)
/** Matches the longest part that names a file: with an extension, or a well-known name without an extension. */
const file = new RegExp(
  String.raw`^((?:.*[^\\/.]\.[A-Za-z][A-Za-z0-9]{0,9}|(?:.*[\\/])?(?:Makefile|Dockerfile|Gemfile|Rakefile|Justfile|LICENSE|CODEOWNERS|\.gitignore|\.env))(?!\w))(?:(${POSITION})|#[\w-]+)?`,
  'u',
)
/** Matches words before a path in a language that doesn't separate words with spaces. */
const wordsBefore = /^[^\\/]*[\p{Lo}\p{Lm}](?=[\w$@~]|\.{1,2}[\\/])/u
/** Matches the start of a URL without a scheme. */
const host = /^(?:www\.|[\w-]+\.(?:com|org|net|io|dev|app)\/)/i

/**
 * A part of a text. A link has `href`, the address of a website, or `file`, the text that may name a file, which may be longer than the
 * shown text.
 */
export interface LinkedText {
  text: string
  file?: string
  href?: string
}

/** Maximum length of a text that is searched for links, and of a link. Characters. */
const MAX_SEARCHED = 4000
const MAX_REFERENCE = 400

/**
 * The URLs and files in a line of output or prose. A name without a folder, such as `a.ts`, counts only with a line, since
 * `object.property` looks the same.
 */
export function linkedParts(text: string): LinkedText[] {
  if (text.length > MAX_SEARCHED || !/[./\\:(#]/.test(text)) return [{ text }]
  const parts: LinkedText[] = []
  let at = 0
  for (const { 0: found, index } of text.matchAll(candidate)) {
    const link = toLink(found, text[index - 1])
    if (!link) continue
    const start = index + (link.file ? link.file.length - link.text.length : 0)
    if (start > at) parts.push({ text: text.slice(at, start) })
    parts.push(link)
    at = start + link.text.length
  }
  if (at < text.length) parts.push({ text: text.slice(at) })
  return parts
}

/** Whether the whole text names a file, as in inline code. */
export function isFile(text: string): boolean {
  return linkedParts(text).some(part => part.file === text)
}

function toLink(found: string, before: string | undefined): LinkedText | undefined {
  if (/^(?:https?|file):/i.test(found)) {
    const text = found.replace(/[).,;:!?\]}]{1,20}$/, '')
    return /^f/i.test(text) ? { text, file: text } : { text, href: text }
  }
  // it's the rest of a longer word
  if (found.length > MAX_REFERENCE || (before !== undefined && /[\w:]/.test(before))) return undefined
  const [reference, path, place] = file.exec(found) ?? []
  if (!reference || !path) return undefined
  if (place === undefined && (!/[\\/]/.test(path) || host.test(path))) return undefined
  return { text: reference.replace(wordsBefore, ''), file: reference }
}

/** Maximum number of positions at which a path may start that are tried. */
const MAX_STARTS = 16

/** Everything that a link to a file can mean, the most literal reading first. The first existing file is used. */
export function readings(link: string): FileReference[] {
  const isUri = /^file:/i.test(link)
  const texts = isUri ? [link.replace(/^file:(?:\/\/(?:localhost)?(?=\/))?/i, '')] : starts(link)
  return texts.flatMap(text => {
    const decoded = decode(text)
    // Markdown encodes spaces and other characters in the URL of a link
    const spellings = isUri || decoded === text ? [decoded] : [text, decoded]
    return spellings.flatMap(one => (one ? places(one) : []))
  })
}

/** The text, and the possible paths in it that start after other words. */
function starts(text: string): string[] {
  const found = [text]
  const folder = text.search(/[\\/]/)
  for (const { 0: end, index } of text.matchAll(/[ \p{Lo}\p{Lm})\]]/gu)) {
    if (end !== ' ' && folder >= 0 && index > folder) continue
    found.push(text.slice(index + end.length))
    if (found.length === MAX_STARTS) break
  }
  return found
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

function places(text: string): FileReference[] {
  const found: FileReference[] = [{ path: text }]
  for (let at = Math.max(1, text.length - MAX_POSITION); at < text.length; at++) {
    const [line, column] = position.exec(text.slice(at))?.slice(1).filter(Boolean) ?? []
    if (line === undefined) continue
    const reference = { path: text.slice(0, at), line: Math.max(1, Number(line)) }
    found.push(column === undefined ? reference : { ...reference, column: Math.max(1, Number(column)) })
  }
  const anchor = text.lastIndexOf('#')
  if (found.length === 1 && anchor > 0) found.push({ path: text.slice(0, anchor) })
  return found
}

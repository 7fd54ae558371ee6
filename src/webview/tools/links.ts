import { visible } from '../../common/visible.ts'
import { describeUrl, type UrlWarning } from '../../conversation/requests/described-url.ts'
import { t } from '../l10n.ts'

interface LinkTarget {
  /** the full target and warnings, one per line */
  title: string
  /** The host to show next to the link, if its text could be mistaken for a different one. */
  host?: string
}

/** The target of a link with this text. */
export function linkTarget(href: string, text: string): LinkTarget {
  const url = describeUrl(href)
  if (!url?.canOpen) return { title: visible(href) }
  const warnings = url.warnings.map(urlWarningText)
  const title = [url.host, `${url.before}${url.host}${url.after}`, ...warnings].join('\n')
  const named = hostIn(text)
  const misleads =
    url.warnings.some(warning => warning !== 'http') || (named !== undefined && named !== bareHost(url.host))
  return misleads ? { title, host: url.host } : { title }
}

export function urlWarningText(warning: UrlWarning): string {
  switch (warning) {
    case 'http':
      return t("This connection isn't encrypted. Others can read what you send.")
    case 'punycode':
      return t('The host name uses look-alike characters from other alphabets.')
    case 'credentials':
      return t('This URL contains a user name. Check the host name before opening.')
  }
}

/** The host in a text: that of a URL in it, or if the text is only a host and a path. */
function hostIn(text: string): string | undefined {
  const found =
    /[a-z][a-z0-9+.-]*:\/\/(?:[^\s/?#@]*@)?([^\s/?#:]+)/iu.exec(text) ??
    /(?<![^\s(<"'])(www\.[^\s/?#:]+)/iu.exec(text) ??
    /^\s*((?:[\p{L}\p{N}-]+\.)+\p{L}{2,})(?:[/?#:]\S*)?\s*$/u.exec(text)
  return found?.[1] && bareHost(found[1])
}

function bareHost(host: string): string {
  return host
    .toLowerCase()
    .replace(/^www\./, '')
    .replace(/:\d+$/, '')
}

/** A part of a text; a link has `file` or `href`. */
interface LinkedText {
  text: string
  file?: FileReference
  href?: string
}

/** A URL, or a possible path followed by a line (`a.ts:12:3`, `a.ts(12,3)`). */
const candidate =
  /https?:\/\/[^\s"'<>`]+|(?<![\w@~%+.\\/-])(?:file:\/\/)?(?:[A-Za-z]:)?[\w@~%+.\\/-]*[\w-]\.[A-Za-z][A-Za-z0-9]{0,9}(?::\d{1,7}(?::\d{1,7})?|\(\d{1,7}(?:,\d{1,7})?\)|#L\d{1,7}(?:-L?\d{1,7})?)?/g

/** Longer texts aren't searched. Characters. */
const MAX_SEARCHED = 4000

/** The URLs, and the files with a line or a folder, in a line of output or prose. */
export function linkedParts(text: string): LinkedText[] {
  if (text.length > MAX_SEARCHED || !/[./\\]/.test(text)) return [{ text }]
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
  // a URL without a scheme
  if (
    !file ||
    (file.line === undefined && /^(?:www\.|[\w-]+\.(?:com|org|net|io|dev|app)\/)/i.test(file.path))
  )
    return undefined
  return { text: found, file }
}

/** A file as users and agents write it in prose: a path, optionally with a position. */
export interface FileReference {
  path: string
  /** 1-based */
  line?: number
  column?: number
}

const place =
  /^(.*?)(?::(\d{1,7})(?::(\d{1,7})|-\d{1,7})?|#L(\d{1,7})(?:C(\d{1,7}))?(?:-L?\d{1,7}(?:C\d{1,7})?)?)?$/s
const withExtension = /^[^\s"'`<>|*?=(){}[\];,]*[^\s"'`<>|*?=(){}[\];,/\\.:]\.[A-Za-z][A-Za-z0-9]{0,9}$/
/** Well-known files without an extension, which must have a line or a folder. */
const named =
  /(?:^|[\\/])(?:Makefile|Dockerfile|Gemfile|Rakefile|Justfile|LICENSE|CODEOWNERS|\.gitignore|\.env)$/

/**
 * Reads `src/a.ts`, `src/a.ts:12`, `a.ts:12:3`, `/abs/a.ts#L12-L20`, `C:\a.ts:4`, `file:///abs/a.ts`. A bare `a.ts`
 * counts only with a line, since `object.property` looks the same. Anything else is `undefined`.
 */
export function fileReference(text: string): FileReference | undefined {
  if (text.length > 400) return undefined
  const isAddress = /^file:\/\/(?:localhost)?\//i.test(text)
  const plain = isAddress ? decodedPath(text) : text
  if (plain === undefined || /^[a-z][a-z0-9+.-]+:\/\//i.test(plain)) return undefined
  const match = place.exec(plain)
  if (!match) return undefined
  const path = match[1]!
  const line = Number(match[2] ?? match[4] ?? 0)
  const column = Number(match[3] ?? match[5] ?? 0)
  const drive = /^[A-Za-z]:[\\/]/.test(path) ? path.slice(2) : path
  if (!isAddress && !withExtension.test(drive) && !named.test(drive)) return undefined
  if (line > 0) return column > 0 ? { path, line, column } : { path, line }
  return /[\\/]/.test(path) ? { path } : undefined
}

/** The path of a file URI, including the position after it. */
function decodedPath(address: string): string | undefined {
  try {
    const path = decodeURIComponent(address.replace(/^file:\/\/(?:localhost)?/i, ''))
    return /^\/[A-Za-z]:/.test(path) ? path.slice(1) : path
  } catch {
    return undefined
  }
}

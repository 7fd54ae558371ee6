/** The target of a link in an agent's text. */
import * as l10n from '@vscode/l10n'
import type { PathRules } from './path-rules.ts'

export type LinkTarget =
  | { type: 'external'; href: string }
  /** `path` is absolute, or relative to one of the session's roots. Line and column are 1-based. */
  | { type: 'file'; path: string; line?: number; column?: number }
  | { type: 'refused'; reason: string }

/**
 * Reads a link: `http(s)`, a `file:` URI or a path, the latter two optionally followed by `:line`, `:line:column`,
 * `:from-to`, `#L12` or `#L12-L20`. Other schemes are refused: `command:`, for example, would run something.
 */
export function parseLink(href: string, rules: PathRules): LinkTarget {
  const text = href.trim()
  if (text === '') return { type: 'refused', reason: l10n.t('The link is empty.') }
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(text)?.[1]?.toLowerCase()
  const isDrive = rules.platform === 'win32' && scheme?.length === 1
  // `file.ts:12` also looks like a scheme.
  if (scheme && !isDrive && !/^[^:]*:\d+([:-]\d+)?$/.test(text)) {
    if (scheme === 'http' || scheme === 'https') return external(text)
    if (scheme !== 'file')
      return { type: 'refused', reason: l10n.t('Links of type "{0}:" can\'t be opened.', scheme) }
  }
  return fileTarget(text, rules)
}

function external(text: string): LinkTarget {
  let url: URL
  try {
    url = new URL(text)
  } catch {
    return { type: 'refused', reason: l10n.t("The link isn't a valid URL.") }
  }
  return { type: 'external', href: url.href }
}

function fileTarget(text: string, rules: PathRules): LinkTarget {
  const { bare, line, column } = withoutPosition(text)
  let path: string
  try {
    // Markdown encodes spaces and other characters in the URL of a link.
    path = /^file:/i.test(bare) ? rules.absolute('/', bare) : decodeURIComponent(bare)
  } catch {
    if (/^file:/i.test(bare)) return { type: 'refused', reason: l10n.t("The link isn't a valid file URL.") }
    path = bare
  }
  if (path === '' || path.includes('\0'))
    return { type: 'refused', reason: l10n.t("The link doesn't name a file.") }
  return { type: 'file', path, ...(line !== undefined && { line }), ...(column !== undefined && { column }) }
}

function withoutPosition(text: string): { bare: string; line?: number; column?: number } {
  const fragment = /^(.*?)#L?(\d+)(?:C(\d+))?(?:-L?\d+(?:C\d+)?)?$/i.exec(text)
  const colon = fragment ?? /^(.+?):(\d+)(?::(\d+)|-\d+)?:?$/.exec(text)
  if (!colon) return { bare: text.replace(/#[^/\\]*$/, '') }
  const line = Math.max(1, Number(colon[2]))
  return { bare: colon[1] ?? text, line, ...(colon[3] && { column: Math.max(1, Number(colon[3])) }) }
}

/** The possible paths of a linked file: as it is, or relative to each root. */
export function candidates(path: string, roots: readonly string[], home: string, rules: PathRules): string[] {
  if (rules.isAbsolute(path)) return [rules.normalize(path)]
  const found: string[] = []
  if (/^~[\\/]/.test(path)) found.push(rules.resolve(home, path.slice(2)))
  for (const root of roots) found.push(rules.resolve(root, path))
  return found
}

/** Finds the target of a link in an agent's text. */
import * as l10n from '@vscode/l10n'
import { type FileReference, LINK, readings } from '../common/file-links.ts'
import { PathMapper, type PathMapping } from '../common/path-mapping.ts'
import type { PathRules } from './path-rules.ts'

export type LinkTarget =
  | { type: 'external'; href: string }
  /** The possible files of the link; the first existing file is used. A path is absolute, or relative to one of the session's roots. */
  | { type: 'file'; readings: FileReference[] }
  | { type: 'refused'; reason: string }

/**
 * Reads a link: `http(s)`, a `file:` URI or a path, the latter two optionally with a position. Other links are refused, since they could
 * run something.
 */
export function parseLink(href: string, rules: PathRules): LinkTarget {
  const text = href.trim()
  if (text === '') return refused(l10n.t('The link is empty.'))
  if (/^https?:/i.test(text)) return external(text)
  const scheme = /^[^:]*/.exec(text)![0].toLowerCase()
  if (!LINK.test(text)) return refused(l10n.t('Links of type "{0}:" can\'t be opened.', scheme))
  const isOfHost = /^file:\/\/(?!localhost\/|\/)/i.test(text)
  const found = isOfHost && rules.platform !== 'win32' ? [] : readings(text)
  if (found.length === 0) return refused(l10n.t("The link isn't a valid file URL."))
  if (found.some(({ path }) => path.includes('\0'))) return refused(l10n.t("The link doesn't name a file."))
  return { type: 'file', readings: found }
}

/**
 * Returns a link in the text of an agent on another machine as a link to the file on this machine. Returns `undefined` if one of the link's
 * possible paths is a path of the other machine that isn't mapped. `roots`: the session's roots.
 */
export function linkHere(
  href: string,
  mappings: readonly PathMapping[],
  roots: readonly string[],
): string | undefined {
  const paths = new PathMapper(mappings)
  const isHere = (path: string) => roots.length > 0 && roots.every(root => !paths.isElsewhere(path, root))
  for (const { path, line, column } of [{ path: href }, ...readings(href)] as FileReference[]) {
    const file = paths.toLocal(path)
    const isMapped = file !== path
    const here = [file, line, column].filter(part => part !== undefined).join(':')
    const all = readings(here).map(reading => reading.path)
    // only the whole link may be a relative path, and not if it has words before a path, which its other readings omit
    if (!isMapped && (path !== href || all.some(one => paths.toLocal(one) !== one))) continue
    if (all.length > 0 && all.every(isHere)) return here
  }
  return undefined
}

function refused(reason: string): LinkTarget {
  return { type: 'refused', reason }
}

function external(text: string): LinkTarget {
  return URL.canParse(text)
    ? { type: 'external', href: new URL(text).href }
    : refused(l10n.t("The link isn't a valid URL."))
}

/** Returns the possible paths of a linked file: the path itself, or the path relative to each root. */
export function candidates(path: string, roots: readonly string[], home: string, rules: PathRules): string[] {
  // the path of a file URI has a slash before the drive
  const plain = rules.platform === 'win32' ? path.replace(/^[\\/](?=[A-Za-z]:[\\/])/, '') : path
  const named = roots.map(root => [root, plain] as const)
  if (rules.isAbsolute(plain)) named.splice(0, Infinity, ['/', plain])
  else if (/^~[\\/]/.test(plain)) named.unshift([home, plain.slice(2)])
  // a path of the bash of Git for Windows, such as `/c/folder`
  else if (rules.platform === 'win32' && /^\/[a-z]\//i.test(plain))
    named.unshift(['/', `${plain[1]}:${plain.slice(2)}`])
  return named.flatMap(([base, name]) => {
    try {
      return [rules.absolute(base, name)]
    } catch {
      // no file can have this path
      return []
    }
  })
}

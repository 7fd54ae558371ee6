/** Reads from a theme's file the colors of the token kinds that the highlighter of conversations uses. */
import { parse as parsePlist } from 'fast-plist'
import { parse } from 'jsonc-parser'

/**
 * A rule of a theme's `tokenColors`, or of `textMateRules` in the user's settings. Untrusted, since any extension may
 * provide a theme.
 */
export interface TokenRule {
  scope?: unknown
  settings?: unknown
}

/** The TextMate scopes that a grammar would assign, by kind of token. The first scope that the theme colors is used. */
const scopes = {
  comment: ['comment.line'],
  keyword: ['keyword.control', 'keyword', 'storage.type', 'storage'],
  storage: ['storage.type', 'storage', 'keyword'],
  string: ['string.quoted.double', 'string'],
  regexp: ['string.regexp', 'string'],
  number: ['constant.numeric.decimal', 'constant.numeric', 'constant'],
  literal: ['constant.language.boolean', 'constant.language', 'constant'],
  type: ['entity.name.type.class', 'entity.name.class', 'entity.name.type', 'support.class', 'entity.name'],
  function: ['entity.name.function', 'support.function', 'entity.name'],
  variable: ['variable.other.readwrite', 'variable'],
  property: ['variable.other.property', 'support.type.property-name', 'variable'],
  attribute: ['entity.other.attribute-name'],
  tag: ['entity.name.tag'],
  meta: ['meta.preprocessor', 'keyword.control.directive', 'keyword.other'],
} as const

type TokenKind = keyof typeof scopes
/** Colors as `#rrggbb` or `#rrggbbaa`, by kind of token; without kinds that the theme doesn't color. */
export type TokenColors = Partial<Record<TokenKind, string>>

const tokenKinds = Object.keys(scopes) as TokenKind[]

/** Returns the colors of the rules; of equally specific rules, the later rule applies, as in VS Code. */
export function tokenColors(rules: readonly TokenRule[]): TokenColors {
  const known: Array<{ selector: string; color: string }> = []
  for (const { scope, settings } of rules) {
    const color = readColor(settings)
    if (color === undefined) continue
    for (const selector of selectors(scope)) known.push({ selector, color })
  }
  const colors: TokenColors = {}
  for (const kind of tokenKinds) {
    for (const scope of scopes[kind]) {
      const color = best(known, scope)
      if (color === undefined) continue
      colors[kind] = color
      break
    }
  }
  return colors
}

function best(known: ReadonlyArray<{ selector: string; color: string }>, scope: string): string | undefined {
  let found: string | undefined
  let precision = 0
  for (const { selector, color } of known) {
    if (scope !== selector && !scope.startsWith(`${selector}.`)) continue
    if (selector.length < precision) continue
    precision = selector.length
    found = color
  }
  return found
}

/** Returns the selectors without parents: a selector with parents is for a special case, such as headings in a document. */
function selectors(scope: unknown): string[] {
  const list = typeof scope === 'string' ? scope.split(',') : Array.isArray(scope) ? scope : []
  return list.flatMap(one => {
    if (typeof one !== 'string') return []
    const selector = one.trim()
    return selector !== '' && !/[\s>|()-]{2,}|\s/.test(selector) ? [selector] : []
  })
}

function readColor(settings: unknown): string | undefined {
  if (typeof settings !== 'object' || settings === null || !('foreground' in settings)) return undefined
  return color(settings.foreground)
}

function color(value: unknown): string | undefined {
  if (typeof value !== 'string' || !/^#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})$/i.test(value))
    return undefined
  if (value.length > 5) return value.toLowerCase()
  return `#${[...value.slice(1)].map(digit => digit + digit).join('')}`.toLowerCase()
}

/** The scopes of the kinds, by VS Code's names of the kinds in the user's settings. */
const groups: Readonly<Record<string, string>> = {
  comments: 'comment',
  strings: 'string',
  keywords: 'keyword',
  numbers: 'constant.numeric',
  types: 'entity.name.type',
  functions: 'entity.name.function',
  variables: 'variable',
}

/**
 * Returns `editor.tokenColorCustomizations` as rules: rules for every theme, then rules for this theme (`[Name]`, `[A][B]`, `[*Dark*]`).
 */
export function customRules(setting: unknown, theme: string): TokenRule[] {
  if (typeof setting !== 'object' || setting === null) return []
  const rules = readRules(setting as Record<string, unknown>)
  for (const [key, value] of Object.entries(setting)) {
    const names = [...key.matchAll(/\[([^\]]+)\]/g)].map(match => match[1]!)
    if (typeof value !== 'object' || value === null || !names.some(name => namesTheme(name, theme))) continue
    rules.push(...readRules(value as Record<string, unknown>))
  }
  return rules
}

/** Whether a pattern, in which `*` stands for any text, matches a theme's name. Each part is searched for once, so the time is linear. */
function namesTheme(pattern: string, theme: string): boolean {
  const [first = '', ...others] = pattern.split('*')
  const last = others.pop()
  if (last === undefined) return pattern === theme
  if (!theme.startsWith(first)) return false
  let from = first.length
  for (const piece of others) {
    const at = theme.indexOf(piece, from)
    if (at < 0) return false
    from = at + piece.length
  }
  return theme.length - last.length >= from && theme.endsWith(last)
}

function readRules(settings: Record<string, unknown>): TokenRule[] {
  const rules: TokenRule[] = []
  for (const [name, scope] of Object.entries(groups)) {
    const value = settings[name]
    if (typeof value === 'string') rules.push({ scope, settings: { foreground: value } })
    else if (value !== undefined) rules.push({ scope, settings: value })
  }
  if (Array.isArray(settings.textMateRules))
    rules.push(...settings.textMateRules.filter(rule => typeof rule === 'object' && rule !== null))
  return rules
}

/** Maximum depth of included themes. */
const MAX_INCLUDES = 8

/**
 * Resolves to the rules of a theme's file, after those of its included files. `read` returns a file's text by its path. Themes in the older
 * XML format don't include other files.
 */
export async function themeRules(
  file: string,
  read: (file: string) => Promise<string>,
  join: (file: string, relative: string) => string,
): Promise<TokenRule[]> {
  return rulesIn(file, read, join, 0)
}

async function rulesIn(
  file: string,
  read: (file: string) => Promise<string>,
  join: (file: string, relative: string) => string,
  depth: number,
): Promise<TokenRule[]> {
  if (depth > MAX_INCLUDES) return []
  if (/\.tmtheme$/i.test(file)) return rulesInPlist(await read(file))
  if (!/\.jsonc?$/i.test(file)) return []
  const theme: unknown = parse(await read(file), [], { allowTrailingComma: true })
  if (Array.isArray(theme)) return theme.filter(isRule)
  if (typeof theme !== 'object' || theme === null) return []
  const { include, tokenColors } = theme as { include?: unknown; tokenColors?: unknown }
  const rules = typeof include === 'string' ? await rulesIn(join(file, include), read, join, depth + 1) : []
  if (Array.isArray(tokenColors)) rules.push(...tokenColors.filter(isRule))
  else if (typeof tokenColors === 'string')
    rules.push(...(await rulesIn(join(file, tokenColors), read, join, depth + 1)))
  return rules
}

/** Returns the rules of a theme in the older XML format. VS Code uses the same parser, and ignores a broken file completely. */
function rulesInPlist(xml: string): TokenRule[] {
  const theme = plistValue(xml)
  const settings: unknown = isRule(theme) && 'settings' in theme ? theme.settings : undefined
  return Array.isArray(settings) ? settings.filter(isRule) : []
}

function plistValue(xml: string): unknown {
  try {
    return parsePlist(xml)
  } catch {
    return undefined
  }
}

function isRule(value: unknown): value is TokenRule {
  return typeof value === 'object' && value !== null
}

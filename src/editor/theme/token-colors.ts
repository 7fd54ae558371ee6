/** The colors that a theme, read from its file, gives to the kinds of tokens that the highlighter of conversations knows. */
import { parse } from 'jsonc-parser'

/** A rule of a theme's `tokenColors`, or of `textMateRules` in the user's settings. Untrusted: a file of anyone's. */
export interface TokenRule {
  scope?: unknown
  settings?: unknown
}

/** By kind, the TextMate scopes that a grammar would give to it; the first that the theme colors counts. */
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
/** `#rrggbb` or `#rrggbbaa`, by kind; a kind that the theme does not color is left out. */
export type TokenColors = Partial<Record<TokenKind, string>>

const tokenKinds = Object.keys(scopes) as TokenKind[]

/** The colors of rules, a later one before an earlier one of the same precision, as VS Code does. */
export function tokenColors(rules: readonly TokenRule[]): TokenColors {
  const known: Array<{ selector: string; color: string }> = []
  for (const { scope, settings } of rules) {
    const color = colorOf(settings)
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

/** Selectors without parents: one with parents is for a special case, such as headings in a document. */
function selectors(scope: unknown): string[] {
  const list = typeof scope === 'string' ? scope.split(',') : Array.isArray(scope) ? scope : []
  return list.flatMap(one => {
    if (typeof one !== 'string') return []
    const selector = one.trim()
    return selector !== '' && !/[\s>|()-]{2,}|\s/.test(selector) ? [selector] : []
  })
}

function colorOf(settings: unknown): string | undefined {
  if (typeof settings !== 'object' || settings === null || !('foreground' in settings)) return undefined
  return color(settings.foreground)
}

function color(value: unknown): string | undefined {
  if (typeof value !== 'string' || !/^#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})$/i.test(value))
    return undefined
  if (value.length > 5) return value.toLowerCase()
  return `#${[...value.slice(1)].map(digit => digit + digit).join('')}`.toLowerCase()
}

/** What the user's settings say of the kinds, by the names that VS Code gives them. */
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
 * `editor.tokenColorCustomizations` as rules: those for every theme, then those for this one (`[Name]`, `[A][B]`,
 * `[*Dark*]`).
 */
export function customRules(setting: unknown, theme: string): TokenRule[] {
  if (typeof setting !== 'object' || setting === null) return []
  const rules = rulesOf(setting as Record<string, unknown>)
  for (const [key, value] of Object.entries(setting)) {
    const names = [...key.matchAll(/\[([^\]]+)\]/g)].map(match => match[1]!)
    if (typeof value !== 'object' || value === null || !names.some(name => namesTheme(name, theme))) continue
    rules.push(...rulesOf(value as Record<string, unknown>))
  }
  return rules
}

/** `*` matches any text. Each piece is searched for once, so the time is linear however many there are. */
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

function rulesOf(settings: Record<string, unknown>): TokenRule[] {
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

/** How far one theme may build upon another. */
const mostIncludes = 8

/**
 * The rules of a theme's file and of those it includes, the included ones first. `read` gives a file's text by its path.
 * Themes in the older XML form build upon no others.
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
  if (depth > mostIncludes) return []
  if (/\.tmtheme$/i.test(file)) return settingsIn(parsePlist(await read(file)))
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

function settingsIn(theme: unknown): TokenRule[] {
  const settings: unknown = isRule(theme) && 'settings' in theme ? theme.settings : undefined
  return Array.isArray(settings) ? settings.filter(isRule) : []
}

function isRule(value: unknown): value is TokenRule {
  return typeof value === 'object' && value !== null
}

/** Nested deeper, a list is none of a theme. */
const DEEPEST = 32
const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

type Token = { type: 'open' | 'close' | 'empty'; name: string } | { type: 'text'; text: string }

/**
 * The value of a property list; `undefined` where it is none. What is broken ends what it is in: as much as can be read
 * is given. Never throws; costs what the text is long.
 */
export function parsePlist(xml: string): unknown {
  const tokens = tokensOf(xml)
  for (const token of tokens) if (token.type === 'open' && token.name === 'plist') return value(tokens, 0)
  return undefined
}

/** The next value; `undefined` where what it would be in ends. */
function value(tokens: Iterator<Token>, depth: number): unknown {
  for (let next = tokens.next(); !next.done; next = tokens.next()) {
    const token = next.value
    if (token.type === 'text') continue
    if (token.type === 'close') return undefined
    if (token.type === 'empty') return empty(token.name)
    if (depth >= DEEPEST) return undefined
    if (token.name === 'dict') return dictionary(tokens, depth)
    if (token.name === 'array') return array(tokens, depth)
    const text = textUntilClose(tokens)
    if (token.name === 'integer' || token.name === 'real') return Number(text)
    return token.name === 'true' ? true : token.name === 'false' ? false : text
  }
  return undefined
}

function empty(name: string): unknown {
  if (name === 'true' || name === 'false') return name === 'true'
  if (name === 'dict') return {}
  return name === 'array' ? [] : ''
}

function array(tokens: Iterator<Token>, depth: number): unknown[] {
  const items: unknown[] = []
  for (let item = value(tokens, depth + 1); item !== undefined; item = value(tokens, depth + 1))
    items.push(item)
  return items
}

function dictionary(tokens: Iterator<Token>, depth: number): Record<string, unknown> {
  const pairs: Array<[string, unknown]> = []
  for (let key = value(tokens, depth + 1); key !== undefined; key = value(tokens, depth + 1)) {
    const item = value(tokens, depth + 1)
    if (item === undefined) break
    pairs.push([String(key), item])
  }
  return Object.fromEntries(pairs)
}

function textUntilClose(tokens: Iterator<Token>): string {
  let text = ''
  for (let next = tokens.next(); !next.done; next = tokens.next()) {
    if (next.value.type === 'text') text += next.value.text
    else if (next.value.type === 'close') break
  }
  return text
}

function* tokensOf(xml: string): Generator<Token> {
  for (let at = 0; at < xml.length; ) {
    const mark = xml.indexOf('<', at)
    const end = mark < 0 ? xml.length : mark
    if (end > at) yield { type: 'text', text: decoded(xml.slice(at, end)) }
    if (mark < 0) return
    if (xml.startsWith('<!--', mark)) {
      at = after(xml, '-->', mark + 4)
    } else if (xml.startsWith('<![CDATA[', mark)) {
      at = after(xml, ']]>', mark + 9)
      yield { type: 'text', text: xml.slice(mark + 9, Math.max(mark + 9, at - 3)) }
    } else {
      at = after(xml, '>', mark + 1)
      const tag = /^<(\/?)([a-z]+)/i.exec(xml.slice(mark, mark + 64))
      if (!tag) continue
      const type = tag[1] ? 'close' : xml[at - 2] === '/' ? 'empty' : 'open'
      yield { type, name: tag[2]!.toLowerCase() }
    }
  }
}

function after(text: string, end: string, from: number): number {
  const at = text.indexOf(end, from)
  return at < 0 ? text.length : at + end.length
}

function decoded(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w{1,8}));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return ENTITIES[String(name)] ?? whole
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal)
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole
  })
}

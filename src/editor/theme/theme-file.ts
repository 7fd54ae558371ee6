import { parse } from 'jsonc-parser'
import type { TokenRule } from './token-colors.ts'

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

import { parse } from 'jsonc-parser'
import { parsePlist } from './plist.ts'
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

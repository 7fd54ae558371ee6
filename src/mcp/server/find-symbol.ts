import * as z from 'zod'
import { startLocationText } from './answer.ts'
import type { EditorFeatures, OutlineSymbol, Position } from './editor-features.ts'
import { lineAt, linesIn } from './text-lines.ts'
import type { ToolContext } from './tool.ts'
import { ToolError } from './tool-error.ts'

const path = z.string().min(1).max(4096)
export const fileInput = path.describe('Absolute, or relative to the working directory of the session')
export const lineInput = z.number().int().min(1).max(10_000_000)
export const offsetInput = z
  .number()
  .int()
  .min(0)
  .max(100_000_000)
  .optional()
  .describe('Skips so many lines of the answer, to read the rest of a long one')

/** A symbol by name or position. */
export const symbolInput = {
  name: z
    .string()
    .min(1)
    .max(500)
    .optional()
    .describe('The symbol: "parse", or "Parser.parse" within a class. Enough by itself if it is unique'),
  file: fileInput.optional(),
  line: lineInput.optional().describe('From 1. With a name, the column may be left out'),
  column: lineInput.optional().describe('From 1'),
}
export interface SymbolInput {
  name?: string | undefined
  file?: string | undefined
  line?: number | undefined
  column?: number | undefined
}

/** Symbols of the same name that are looked up at all. */
const MAX_SAME_NAME = 1000
/** How many symbols of the same name are listed when the name is ambiguous. */
const MAX_CHOICES = 20

/** The position of the symbol that an agent means. */
export async function findSymbol(
  { name, file, line, column }: SymbolInput,
  { features, roots }: ToolContext,
): Promise<{ path: string; at: Position }> {
  if (file === undefined) {
    if (name === undefined)
      throw new ToolError('Say which symbol: give "name", or "file" with "line" and "column".')
    return findByName(name, features, roots)
  }
  const path = await roots.file(file)
  const { text } = await features.open(path)
  if (line !== undefined) {
    const content = lineAt(text, line)
    if (content === undefined) throw new ToolError(`The file has only ${linesIn(text)} lines.`)
    if (name !== undefined)
      return { path, at: { line, column: nearestColumn(content, lastName(name), column) } }
    if (column === undefined) throw new ToolError('Give "column" or "name" with "line".')
    return { path, at: { line, column: Math.min(column, content.length + 1) } }
  }
  if (name === undefined) throw new ToolError('Give "name", or "line" with "column".')
  const declared = byName(await features.outline(path), name)
  if (declared) return { path, at: declared.at }
  const used = firstUse(text, lastName(name))
  if (!used) throw new ToolError(`There is no ${JSON.stringify(name)} in that file.`)
  return { path, at: used }
}

async function findByName(
  name: string,
  features: EditorFeatures,
  roots: ToolContext['roots'],
): Promise<{ path: string; at: Position }> {
  const own = lastName(name)
  const container = name.slice(0, -own.length).replace(/(?:\.|::|#)$/, '')
  const found = (await features.symbols(own)).filter(
    symbol =>
      isNamed(symbol.name, own) &&
      (container === '' ||
        symbol.container === undefined ||
        lastName(symbol.container) === lastName(container)),
  )
  const inside = await roots.within(found.slice(0, MAX_SAME_NAME), ({ location }) => location.path)
  const [only, ...others] = inside
  // others may be among the symbols that weren't looked up
  const isCut = found.length > MAX_SAME_NAME
  if (!only && !isCut)
    throw new ToolError(
      `No symbol of the workspace is named ${JSON.stringify(name)}, or no language server knows it yet. Give its "file".`,
    )
  if (!only || others.length > 0 || isCut) {
    const locations = inside
      .slice(0, MAX_CHOICES)
      .map(({ kind, location }) => `${kind} ${startLocationText(roots, location)}`)
    throw new ToolError(
      `There are ${isCut ? 'very many' : inside.length} symbols with that name. Call again with "file" and "line" of the one you mean.`,
      locations,
    )
  }
  const { path, start } = only.location
  // some languages give the start of the declaration, which isn't the name
  const { text } = await features.open(path)
  const content = lineAt(text, start.line) ?? ''
  return { path, at: { line: start.line, column: nearestColumn(content, own, start.column, true) } }
}

/** The column of a name in a line, nearest to the one given, since models count columns badly. */
function nearestColumn(content: string, name: string, near = 1, orNear = false): number {
  const uses = new Uses(content, name)
  let best: number | undefined
  const first = Math.max(0, near - 1 - MAX_DISTANCE)
  for (let at = uses.from(first); at !== undefined && at < near + MAX_DISTANCE; at = uses.from(at + 1)) {
    if (best !== undefined && Math.abs(at + 1 - near) >= Math.abs(best - near)) break
    best = at + 1
  }
  best ??= (uses.from(0) ?? -1) + 1
  if (best > 0) return best
  if (orNear) return near
  throw new ToolError(`There is no ${JSON.stringify(name)} in that line.`)
}

function firstUse(text: string, name: string): Position | undefined {
  const at = new Uses(text, name).from(0)
  if (at === undefined) return undefined
  const before = text.lastIndexOf('\n', at - 1)
  return { line: linesIn(text, at), column: at - (at === 0 ? -1 : before) }
}

/** The most parts of a name such as `Parser.parse`, since the whole outline is searched for each part. */
const MAX_NAMES = 20
/** How far from a column that a model counted its name is searched for first. Characters. */
const MAX_DISTANCE = 10_000
/** Characters that are searched for a name: more would block the editor. */
const MAX_SEARCHED = 4_000_000
/** Comparisons of characters, for a name that may be compared completely at each position. */
const MAX_COMPARED = 20_000_000

/** The positions at which a name stands as a word. */
class Uses {
  readonly #text: string
  readonly #pattern: RegExp

  constructor(text: string, name: string) {
    // only a plain name is rejected by the character before it
    const most = /^[\w$\u00c0-\u024f]+$/.test(name) ? MAX_SEARCHED : MAX_COMPARED / name.length
    if (text.length > most)
      throw new ToolError('The text is too long to search for that name. Give "line" and "column".')
    const escaped = name.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
    this.#text = text
    this.#pattern = new RegExp(`(?<![\\w$\u00c0-\u024f])${escaped}(?![\\w$\u00c0-\u024f])`, 'g')
  }

  /** The first position from there on. */
  from(start: number): number | undefined {
    this.#pattern.lastIndex = start
    return this.#pattern.exec(this.#text)?.index
  }
}

/** A name at the start of a text. */
const NAME = /^[\w$\u00c0-\u024f]+/

/** The name that starts at a position of a text. */
export function nameAt(text: string, { line, column }: Position): string | undefined {
  return NAME.exec((lineAt(text, line) ?? '').slice(column - 1))?.[0]
}

function byName(symbols: readonly OutlineSymbol[], name: string): OutlineSymbol | undefined {
  const names = name.split(/\.|::|#/)
  if (names.length > MAX_NAMES) throw new ToolError('The name has too many parts. Give "line" and "column".')
  /** symbols in which the names from these indexes on were searched without success */
  const without = new Map<readonly OutlineSymbol[], Set<number>>()
  const search = (among: readonly OutlineSymbol[], from: number): OutlineSymbol | undefined => {
    const known = without.get(among) ?? new Set()
    if (known.has(from)) return undefined
    without.set(among, known.add(from))
    for (const symbol of among) {
      if (!isNamed(symbol.name, names[from]!)) continue
      const found = from === names.length - 1 ? symbol : search(symbol.children, from + 1)
      if (found) return found
    }
    for (const { children } of among) {
      const found = search(children, from)
      if (found) return found
    }
    return undefined
  }
  return search(symbols, 0)
}

function lastName(name: string): string {
  return name.split(/\.|::|#/).at(-1) || name
}

/** Some languages add the parameters: `parse(String)`. Names of symbols may be long, and many. */
function isNamed(symbolName: string, name: string): boolean {
  if (!symbolName.startsWith(name)) return false
  return symbolName.length === name.length || (/[(<]/.test(symbolName[name.length]!) && !/[\s(<]/.test(name))
}

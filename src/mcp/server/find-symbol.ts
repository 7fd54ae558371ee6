import * as z from 'zod'
import { startOf } from './answer.ts'
import type { EditorFeatures, OutlineSymbol, Position } from './editor-features.ts'
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

/** A symbol, by its name or its position. */
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

/** How many symbols of the same name a question about which is meant lists. */
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
    const content = text.split('\n', line)[line - 1]
    if (content === undefined) throw new ToolError(`The file has only ${text.split('\n').length} lines.`)
    if (name !== undefined) return { path, at: { line, column: columnOf(content, lastName(name), column) } }
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
      plainName(symbol.name) === own &&
      (container === '' ||
        symbol.container === undefined ||
        lastName(symbol.container) === lastName(container)),
  )
  const inside = await roots.within(found, ({ location }) => location.path)
  const [only, ...others] = inside
  if (!only)
    throw new ToolError(
      `No symbol of the workspace is named ${JSON.stringify(name)}, or no language server knows it yet. Give its "file".`,
    )
  if (others.length > 0) {
    const locations = inside
      .slice(0, MAX_CHOICES)
      .map(({ kind, location }) => `${kind} ${startOf(roots, location)}`)
    throw new ToolError(
      `There are ${inside.length} symbols with that name. Call again with "file" and "line" of the one you mean.`,
      locations,
    )
  }
  const { path, start } = only.location
  // some languages give the start of the declaration, which isn't the name
  const { text } = await features.open(path)
  const content = text.split('\n', start.line)[start.line - 1] ?? ''
  return { path, at: { line: start.line, column: columnOf(content, own, start.column, true) } }
}

/** The column of a name in a line, nearest to the one given, since models count columns badly. */
function columnOf(content: string, name: string, near = 1, orNear = false): number {
  const columns = usesIn(content, name)
  if (columns.length === 0) {
    if (orNear) return near
    throw new ToolError(`There is no ${JSON.stringify(name)} in that line.`)
  }
  return columns.reduce((best, one) => (Math.abs(one - near) < Math.abs(best - near) ? one : best))
}

function firstUse(text: string, name: string): Position | undefined {
  let line = 0
  for (const content of text.split('\n')) {
    line += 1
    const [column] = usesIn(content, name)
    if (column !== undefined) return { line, column }
  }
  return undefined
}

/** The columns at which a name stands as a word. */
function usesIn(content: string, name: string): number[] {
  const columns: number[] = []
  for (let at = content.indexOf(name); at >= 0; at = content.indexOf(name, at + 1)) {
    if (!isLetter(content[at - 1]) && !isLetter(content[at + name.length])) columns.push(at + 1)
  }
  return columns
}

/** A name at the start of a text. */
const NAME = /^[\w$\u00c0-\u024f]+/

/** The name that starts at a position of a text. */
export function nameAt(text: string, { line, column }: Position): string | undefined {
  return NAME.exec((text.split('\n', line)[line - 1] ?? '').slice(column - 1))?.[0]
}

function isLetter(character: string | undefined): boolean {
  return character !== undefined && NAME.test(character)
}

function byName(symbols: readonly OutlineSymbol[], name: string): OutlineSymbol | undefined {
  const names = name.split(/\.|::|#/)
  const search = (among: readonly OutlineSymbol[], [first, ...rest]: string[]): OutlineSymbol | undefined => {
    for (const symbol of among) {
      if (plainName(symbol.name) !== first) continue
      const found = rest.length === 0 ? symbol : search(symbol.children, rest)
      if (found) return found
    }
    for (const { children } of among) {
      const found = search(children, [first!, ...rest])
      if (found) return found
    }
    return undefined
  }
  return search(symbols, names)
}

function lastName(name: string): string {
  return name.split(/\.|::|#/).at(-1) || name
}

/** Some languages add the parameters: `parse(String)`. */
function plainName(name: string): string {
  return /^[^\s(<]+(?=[(<])/.exec(name)?.[0] ?? name
}

import * as z from 'zod'
import type { EditorToolName } from '../../common/editor-tool-names.ts'
import { locationText, startLocationText } from './answer.ts'
import type {
  FileProblems,
  HierarchyKind,
  Location,
  LocationKind,
  OutlineSymbol,
  Problem,
  Severity,
  TextBeginning,
} from './editor-features.ts'
import { fileInput, findSymbol, offsetInput, symbolInput } from './find-symbol.ts'
import { withSettledProblems } from './settled-problems.ts'
import { inOneLine, linesAt } from './text-lines.ts'
import type { EditorTool, ToolAnswer, ToolContext } from './tool.ts'
import { ToolError } from './tool-error.ts'

/** Files whose lines an answer with locations quotes; opening more takes too long. */
const MAX_QUOTED_FILES = 60
/** Places, symbols and problems of an answer that are looked up at all. */
const MAX_LOCATIONS = 5000
/** Characters of a hover. */
const MAX_HOVER = 1_000_000
/** Characters of a quoted line. */
const MAX_QUOTE = 2000
/** Levels of an outline that are indented. */
const MAX_INDENT = 20

const SEVERITIES: readonly Severity[] = ['error', 'warning', 'information', 'hint']

export function tool<Input>(definition: EditorTool<Input>): EditorTool<Input> {
  return definition
}

const diagnostics = tool({
  name: 'diagnostics',
  title: 'Problems',
  description:
    'The errors and warnings that the language servers and linters of the editor report: type errors, unresolved imports, lint. Call it after edits: it waits until the language server has looked at the files as they are now. With "files", also for files that aren\'t open; without, of all files that the editor knows problems of.',
  input: z.object({
    files: z.array(fileInput).min(1).max(50).optional(),
    severity: z
      .enum(['error', 'warning', 'information', 'hint'])
      .optional()
      .describe('The least severity to report. Default: warning'),
    offset: offsetInput,
  }),
  async run({ files, severity = 'warning', offset }, { features, roots, signal }) {
    const least = SEVERITIES.indexOf(severity)
    let found: FileProblems[]
    let isSettled = true
    if (files) {
      const paths = await Promise.all(files.map(file => roots.file(file)))
      const settled = await withSettledProblems(features, [...new Set(paths)], signal, result => result)
      found = settled.files
      isSettled = settled.isSettled
    } else found = await roots.within((await features.problems()).slice(0, MAX_LOCATIONS), ({ path }) => path)
    let count = 0
    const data: Array<() => string> = []
    for (const { path, problems } of found) {
      const own = problems.filter(problem => SEVERITIES.indexOf(problem.severity) <= least)
      count += own.length
      const listed = own
        .slice(0, MAX_LOCATIONS - data.length)
        .sort((a, b) => a.start.line - b.start.line || a.start.column - b.start.column)
      for (const problem of listed)
        data.push(() => problemText(locationText(roots, path, problem.start), problem))
    }
    const late = isSettled ? '' : ' A language server is still busy, so there may be more.'
    return {
      text: count === 0 ? `No problems.${late}` : `${counted(count, 'problem')}.${omittedText(count)}${late}`,
      data,
      ...at(offset),
    }
  },
})

function problemText(location: string, { severity, source, code, message }: Problem): string {
  const from = [source, code].filter(Boolean).join(' ')
  return `${location}: ${severity}${from && ` [${from}]`}: ${inOneLine(message)}`
}

const symbols = tool({
  name: 'symbols',
  title: 'Workspace symbols',
  description:
    'Finds declarations in the whole workspace by their name: classes, functions, types, variables. Unlike a text search it finds only declarations, as the language servers know them.',
  input: z.object({ query: z.string().min(1).max(500), offset: offsetInput }),
  async run({ query, offset }, { features, roots }) {
    const all = await features.symbols(query)
    const found = await roots.within(all.slice(0, MAX_LOCATIONS), ({ location }) => location.path)
    const data = found.map(
      ({ name, kind, container, location }) =>
        `${startLocationText(roots, location)}: ${kind} ${container ? `${container}.` : ''}${name}`,
    )
    return {
      text:
        data.length === 0
          ? 'No symbol found. Language servers know only files of languages that are in use: open a file of that language first, or search the text.'
          : `${counted(data.length, 'symbol')}.${omittedText(all.length)}`,
      data,
      ...at(offset),
    }
  },
})

const documentSymbols = tool({
  name: 'document_symbols',
  title: 'Symbols of a file',
  description: 'The outline of a file: its classes, functions and other declarations with their lines.',
  input: z.object({ file: fileInput, offset: offsetInput }),
  async run({ file, offset }, { features, roots }) {
    const path = await roots.file(file)
    await features.open(path)
    const outline = await features.outline(path)
    const data: string[] = []
    const add = (symbol: OutlineSymbol, depth: number) => {
      if (data.length >= MAX_LOCATIONS) return
      const { name, kind, detail, at, span } = symbol
      const lines = span.end.line > span.start.line ? ` (to line ${span.end.line})` : ''
      data.push(
        `${'  '.repeat(Math.min(depth, MAX_INDENT))}${at.line}:${at.column} ${kind} ${name}${detail ? ` ${detail}` : ''}${lines}`,
      )
      for (const child of symbol.children) add(child, depth + 1)
    }
    for (const symbol of outline) add(symbol, 0)
    const name = roots.name(path)
    return {
      text: data.length === 0 ? `No symbols in ${name}, or its language has none.` : `Symbols of ${name}:`,
      data,
      ...at(offset),
    }
  },
})

const locationInput = z.object({ ...symbolInput, offset: offsetInput })

function locationsTool(
  name: EditorToolName & LocationKind,
  title: string,
  description: string,
  none: string,
) {
  return tool({
    name,
    title,
    description: `${description} Name the symbol, or give its position.`,
    input: locationInput,
    async run({ offset, ...symbol }, context) {
      const { features, roots } = context
      const { path, at: position } = await findSymbol(symbol, context)
      const locations = await features.locations(name, path, position)
      return locationsAnswer(
        locations,
        context,
        `of the symbol at ${locationText(roots, path, position)}`,
        none,
        offset,
      )
    },
  })
}

async function locationsAnswer(
  locations: readonly Location[],
  { features, roots }: ToolContext,
  what: string,
  none: string,
  offset: number | undefined,
): Promise<ToolAnswer> {
  const known = locations.slice(0, MAX_LOCATIONS)
  const inside = await roots.within(known, ({ path }) => path)
  const outside = known.length - inside.length
  const byFile = groupedBy(inside, ({ path }) => path)
  const quotes = new Map<Location, string>()
  for (const [path, own] of [...byFile].slice(0, MAX_QUOTED_FILES)) {
    // a location may be in a file that is gone
    const opened = await features.open(path).catch(() => undefined)
    if (opened) quote(opened.text, own, quotes)
  }
  const data = inside.map(location => {
    const quoted = quotes.get(location) ?? ''
    return quoted === ''
      ? startLocationText(roots, location)
      : `${startLocationText(roots, location)}: ${quoted}`
  })
  const elsewhere =
    outside === 0 ? '' : ` ${counted(outside, 'more')} outside of the folders of this session.`
  const more = elsewhere + omittedText(locations.length)
  return {
    text:
      inside.length === 0 ? `${none} ${what}.${more}` : `${counted(inside.length, 'place')} ${what}.${more}`,
    data,
    ...at(offset),
  }
}

/** Quotes the lines of places in a text, which is read once. */
function quote(text: string, locations: readonly Location[], quotes: Map<Location, string>): void {
  const lines = linesAt(
    text,
    locations.map(({ start }) => start.line),
  )
  for (const location of locations) {
    const line = lines.get(location.start.line)
    if (line) quotes.set(location, text.slice(line.start, line.end).trim().slice(0, MAX_QUOTE))
  }
}

function groupedBy<K, T>(items: readonly T[], keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group) group.push(item)
    else groups.set(key, [item])
  }
  return groups
}

/** The sentence about locations that weren't looked up because there are too many. */
function omittedText(count: number): string {
  return count > MAX_LOCATIONS ? ` Only ${MAX_LOCATIONS} of ${count} are listed.` : ''
}

const hover = tool({
  name: 'hover',
  title: 'Hover',
  description:
    'The type and the documentation of a symbol, as the editor shows it when the mouse hovers over it. Name the symbol, or give its position.',
  input: locationInput,
  async run({ offset, ...symbol }, context) {
    const { path, at: position } = await findSymbol(symbol, context)
    const parts = await context.features.hover(path, position)
    const data = parts.join('\n\n').slice(0, MAX_HOVER).trim()
    return {
      text: data === '' ? 'The language says nothing about it.' : locationText(context.roots, path, position),
      data,
      ...at(offset),
    }
  },
})

function hierarchyTool(
  name: EditorToolName,
  title: string,
  description: string,
  directions: readonly [HierarchyKind, HierarchyKind],
) {
  return tool({
    name,
    title,
    description: `${description} Name the symbol, or give its position.`,
    input: z.object({
      ...symbolInput,
      direction: z.enum(directions).optional().describe(`Default: ${directions[0]}`),
      offset: offsetInput,
    }),
    async run({ offset, direction = directions[0], ...symbol }, context) {
      const { features, roots } = context
      const { path, at: position } = await findSymbol(symbol, context)
      const related = await features.hierarchy(direction, path, position)
      if (!related) throw new ToolError('The language has no such hierarchy for that symbol.')
      const known = related.slice(0, MAX_LOCATIONS)
      const found = await roots.within(known, ({ location }) => location.path)
      const data = found.map(({ name: own, kind, container, location, uses }) => {
        const lines = [...new Set(uses.slice(0, MAX_LOCATIONS).map(({ start }) => start.line))].slice(0, 20)
        return `${startLocationText(roots, location)}: ${kind} ${own}${container ? ` in ${container}` : ''}${lines.length > 0 ? ` (line ${lines.join(', ')})` : ''}`
      })
      const outside = known.length - found.length
      const elsewhere =
        outside > 0 ? ` ${counted(outside, 'more')} outside of the folders of this session.` : ''
      const more = elsewhere + omittedText(related.length)
      return {
        text: `${found.length === 0 ? 'No' : found.length} ${direction} of the symbol at ${locationText(roots, path, position)}.${more}`,
        data,
        ...at(offset),
      }
    },
  })
}

const openEditors = tool({
  name: 'open_editors',
  title: 'Open editors',
  description:
    'The files that the user has open in editor tabs, and which of them is active or has unsaved changes.',
  input: z.object({ offset: offsetInput }),
  async run({ offset }, { features, roots }) {
    const editors = await roots.within(await features.editors(), ({ path }) => path)
    const data = editors.map(({ path, isActive, isVisible, isDirty }) => {
      const notes = [isActive ? 'active' : isVisible ? 'visible' : '', isDirty ? 'unsaved changes' : '']
      const text = notes.filter(Boolean).join(', ')
      return `${roots.name(path)}${text && ` (${text})`}`
    })
    return { text: data.length === 0 ? 'No file of this session is open.' : undefined, data, ...at(offset) }
  },
})

const selection = tool({
  name: 'selection',
  title: 'Selection',
  description:
    "What the user has selected in the active editor, or where the cursor is. Use it when the user says 'this' or 'here'.",
  input: z.object({ offset: offsetInput }),
  async run({ offset }, { features, roots }) {
    const selected = await features.selection()
    if (!selected) return { text: 'No file is active in the editor.' }
    if (!(await roots.has(selected.path)))
      return { text: 'The active file is outside of the folders of this session.' }
    const location = locationText(roots, selected.path, selected.start)
    if (selected.text === '') return { text: `Nothing is selected. The cursor is at ${location}.` }
    return {
      text: `Selected from ${location} to ${selected.end.line}:${selected.end.column}${beginningOnly(selected)}:`,
      data: selected.text,
      ...at(offset),
    }
  },
})

const unsavedText = tool({
  name: 'unsaved_text',
  title: 'Unsaved text',
  description:
    'The text of a file with the changes that the user has not saved yet, which are not on disk. Without "file", which files have unsaved changes.',
  input: z.object({ file: fileInput.optional(), offset: offsetInput }),
  async run({ file, offset }, { features, roots }) {
    const unsaved = await roots.within(await features.unsaved(), path => path)
    if (file === undefined)
      return {
        text: unsaved.length === 0 ? 'No file has unsaved changes.' : 'Files with unsaved changes:',
        data: unsaved.map(path => roots.name(path)),
        ...at(offset),
      }
    const path = await roots.file(file)
    const open = await roots.same(path, unsaved)
    const read = open === undefined ? undefined : await features.readUnsaved(open)
    if (!read) return { text: 'That file has no unsaved changes: what is on disk is its text.' }
    return { text: `${roots.name(path)}, unsaved${beginningOnly(read)}:`, data: read.text, ...at(offset) }
  },
})

function beginningOnly({ isCut }: TextBeginning): string {
  return isCut ? ', too large to be read as a whole, so this is its beginning' : ''
}

export const readingTools = [
  diagnostics,
  symbols,
  documentSymbols,
  locationsTool('definition', 'Definition', 'Where a symbol is defined.', 'No definition'),
  locationsTool(
    'type_definition',
    'Type definition',
    'Where the type of a symbol is defined.',
    'No type definition',
  ),
  locationsTool(
    'implementations',
    'Implementations',
    'What implements an interface, or overrides a method.',
    'No implementations',
  ),
  locationsTool(
    'references',
    'References',
    'All uses of a symbol in the workspace, as the language server knows them: unlike a text search it leaves out other symbols of the same name, comments and strings.',
    'No references',
  ),
  hover,
  hierarchyTool('call_hierarchy', 'Call hierarchy', 'The functions that call a function, or that it calls.', [
    'callers',
    'callees',
  ]),
  hierarchyTool('type_hierarchy', 'Type hierarchy', 'The types that extend a type, or that it extends.', [
    'subtypes',
    'supertypes',
  ]),
  openEditors,
  selection,
  unsavedText,
]

export function at(offset: number | undefined): { offset?: number } {
  return offset === undefined ? {} : { offset }
}

function counted(count: number, what: string): string {
  return what === 'more' ? `${count} more` : `${count} ${what}${count === 1 ? '' : 's'}`
}

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Emitter } from '../../src/common/event.ts'
import type {
  EditorFeatures,
  EditorSelection,
  FileProblems,
  FoundSymbol,
  Location,
  OpenEditor,
  OutlineSymbol,
  Position,
  Problem,
  ProposedAction,
  RelatedSymbol,
  TaskInfo,
  TaskRun,
  TerminalCommand,
  TestToolName,
} from '../../src/mcp/server/editor-features.ts'
import { FakeDebugFeatures } from './fake-debug-features.ts'

/** A declaration of a file, and the lines that belong to it. */
interface Declared {
  name: string
  kind: string
  at: Position
  endLine: number
  container?: Declared
  children: Declared[]
}

const DECLARATION = /^(?:export )?(interface|class|function|const) (\w+)/
const METHOD = /^ {2}(?!constructor|return|if|for)(\w+)\(/
const WRONG = /^(?:export )?const (\w+): string = \d+$/

/**
 * What `EditorFeatures` tells about the TypeScript files of a folder, by their words: good enough for small files in which each name
 * means one thing. Problems are reported a moment after a file was opened, as language servers do.
 */
export class FakeEditorFeatures implements EditorFeatures {
  readonly #folder: string
  readonly #changed = new Emitter<readonly string[]>()
  readonly #open = new Map<string, string>()
  readonly #problems = new Map<string, Problem[]>()
  readonly dirty = new Map<string, string>()
  opened: OpenEditor[] = []
  selected: EditorSelection | undefined
  commands: TerminalCommand[] = []
  tasksOfWorkspace: TaskInfo[] = []
  selectedInTerminal: { terminal: string; text: string } | undefined
  testTools: Partial<
    Record<TestToolName, (input: Record<string, unknown>, signal: AbortSignal) => Promise<string>>
  > = {}
  readonly debug = new FakeDebugFeatures()
  readonly shown: Array<{ path: string; at?: Position }> = []
  readonly diffs: Array<{ path: string; texts: { oldText: string; newText: string }; title: string }> = []
  readonly ran: string[] = []
  taskRun: TaskRun = { exitCode: 0 }
  /** They end only by their signal, and are in `endedTasks` then. */
  tasksHang = false
  readonly endedTasks: string[] = []
  /** milliseconds until the problems of a file are known */
  reportMs = 5

  constructor(folder: string) {
    this.#folder = folder
  }

  readonly onDidChangeProblems = this.#changed.event

  async problems(path?: string): Promise<FileProblems[]> {
    return [...this.#problems]
      .filter(([of, found]) => (path === undefined || of === path) && found.length > 0)
      .map(([of, problems]) => ({ path: of, problems }))
  }

  async open(path: string): Promise<{ text: string; isNew: boolean }> {
    const text = this.dirty.get(path) ?? readFileSync(path, 'utf8')
    const before = this.#open.get(path)
    this.#open.set(path, text)
    if (before !== text) setTimeout(() => this.report(path, problemsOf(text)), this.reportMs)
    return { text, isNew: before === undefined }
  }

  async attend() {
    return { isNew: false, dispose() {} }
  }

  report(path: string, problems: Problem[]): void {
    this.#problems.set(path, problems)
    this.#changed.fire([path])
  }

  async symbols(query: string): Promise<FoundSymbol[]> {
    const lower = query.toLowerCase()
    return this.#files().flatMap(path =>
      flat(declared(this.#text(path)))
        .filter(({ name }) => name.toLowerCase().includes(lower))
        .map(one => this.#symbol(path, one)),
    )
  }

  async outline(path: string): Promise<OutlineSymbol[]> {
    const lines = this.#text(path).split('\n')
    const convert = ({ name, kind, at, endLine, children }: Declared): OutlineSymbol => ({
      ...{ name, kind, at },
      span: {
        start: { line: at.line, column: 1 },
        end: { line: endLine, column: (lines[endLine - 1] ?? '').length + 1 },
      },
      children: children.map(convert),
    })
    return declared(this.#text(path)).map(convert)
  }

  async locations(kind: string, path: string, at: Position): Promise<Location[]> {
    const name = wordAt(this.#text(path), at)
    if (name === undefined) return []
    const all = this.#declarations()
    if (kind === 'references') return this.#uses(name)
    if (kind === 'implementations')
      return all
        .filter(
          ({ path: of, symbol }) =>
            new RegExp(`\\bimplements ${name}\\b`).test(lineOf(this.#text(of), symbol.at.line)) ||
            (symbol.name === name && symbol.container?.kind === 'class'),
        )
        .map(({ path: of, symbol }) => location(of, symbol.at, symbol.name))
    const wanted = kind === 'type_definition' ? this.#typeOf(name) : name
    return all
      .filter(({ symbol }) => symbol.name === wanted && symbol.container?.kind !== 'class')
      .map(({ path: of, symbol }) => location(of, symbol.at, symbol.name))
  }

  async hover(path: string, at: Position): Promise<string[]> {
    const [found] = await this.locations('definition', path, at)
    return found ? [`\`\`\`typescript\n${lineOf(this.#text(found.path), found.start.line)}\n\`\`\``] : []
  }

  async hierarchy(kind: string, path: string, at: Position): Promise<RelatedSymbol[] | undefined> {
    const name = wordAt(this.#text(path), at)
    const own = this.#declarations().find(({ symbol }) => symbol.name === name)
    if (name === undefined || !own) return undefined
    const isCalls = kind === 'callers' || kind === 'callees'
    if (isCalls !== ['function', 'method'].includes(own.symbol.kind)) return undefined
    const result: RelatedSymbol[] = []
    for (const { path: of, symbol } of this.#declarations()) {
      if (symbol.name === name) continue
      const uses = this.#uses(kind === 'callees' || kind === 'supertypes' ? symbol.name : name)
      const [inside, file] =
        kind === 'callees' || kind === 'supertypes' ? [own.symbol, own.path] : [symbol, of]
      if (isCalls && (symbol.children.length > 0 || !['function', 'method'].includes(symbol.kind))) continue
      if (!isCalls && !['class', 'interface'].includes(symbol.kind)) continue
      const found = uses.filter(
        ({ path: used, start }) =>
          used === file &&
          (isCalls
            ? start.line > inside.at.line && start.line <= inside.endLine
            : start.line === inside.at.line && start.column > inside.at.column),
      )
      if (found.length > 0) result.push({ ...this.#symbol(of, symbol), uses: isCalls ? found : [] })
    }
    return result
  }

  async editors(): Promise<OpenEditor[]> {
    return this.opened
  }

  async selection(): Promise<EditorSelection | undefined> {
    return this.selected
  }

  async unsaved(): Promise<string[]> {
    return [...this.dirty.keys()]
  }

  async readUnsaved(path: string) {
    const text = this.dirty.get(path)
    return text === undefined ? undefined : { text }
  }

  async rename(path: string, at: Position, name: string) {
    const old = wordAt(this.#text(path), at)
    if (old === undefined || !this.#declarations().some(({ symbol }) => symbol.name === old))
      throw new Error('You cannot rename this element.')
    const files = new Map<string, Location[]>()
    for (const use of this.#uses(old)) files.set(use.path, [...(files.get(use.path) ?? []), use])
    return [...files].map(([of, uses]) => ({
      path: of,
      changes: uses.map(({ start, end }) => ({ start, end, text: name })),
    }))
  }

  async actions(path: string, { start }: { start: Position }, kind?: string): Promise<ProposedAction[]> {
    const text = this.#text(path)
    if (kind === 'source.organizeImports') {
      const lines = text.split('\n')
      const imports = lines.filter(line => line.startsWith('import '))
      const module = (line: string) => line.split(' from ')[1] ?? ''
      const sorted = imports.toSorted((a, b) => (module(a) < module(b) ? -1 : 1))
      if (sorted.join() === imports.join()) return []
      const changes = imports.map((line, i) => ({
        start: { line: lines.indexOf(line) + 1, column: 1 },
        end: { line: lines.indexOf(line) + 1, column: line.length + 1 },
        text: sorted[i]!,
      }))
      return [{ title: 'Organize Imports', kind, edit: [{ path, changes }] }]
    }
    const line = lineOf(text, start.line)
    const wrong = WRONG.exec(line)
    if (!wrong) return []
    const column = line.indexOf(': string')
    const change = {
      start: { line: start.line, column: column + 3 },
      end: { line: start.line, column: column + 9 },
    }
    const edit = [{ path, changes: [{ ...change, text: 'number' }] }]
    return [
      { title: `Change type of '${wrong[1]}' to 'number'`, kind: 'quickfix', isPreferred: true, edit },
      { title: 'Explain' },
    ]
  }

  /** Formats indentation by tabs as two spaces. */
  async format(path: string, span?: { start: Position; end: Position }) {
    return this.#text(path)
      .split('\n')
      .flatMap((line, i) => {
        const [tabs] = /^\t+/.exec(line) ?? ['']
        if (tabs === '' || (span && (i + 1 < span.start.line || i + 1 > span.end.line))) return []
        const at = { line: i + 1, column: 1 }
        return [{ start: at, end: { line: i + 1, column: tabs.length + 1 }, text: '  '.repeat(tabs.length) }]
      })
  }

  async show(path: string, at?: Position): Promise<void> {
    this.shown.push({ path, ...(at && { at }) })
  }

  async showDiff(path: string, texts: { oldText: string; newText: string }, title: string): Promise<void> {
    this.diffs.push({ path, texts, title })
  }

  async tasks(): Promise<TaskInfo[]> {
    return this.tasksOfWorkspace
  }

  async runTask({ name }: Pick<TaskInfo, 'name'>, _waitMs: number, signal: AbortSignal): Promise<TaskRun> {
    this.ran.push(name)
    if (!this.tasksHang) return this.taskRun
    await new Promise(resolve => signal.addEventListener('abort', resolve))
    this.endedTasks.push(name)
    return {}
  }

  async terminalCommands(): Promise<TerminalCommand[]> {
    return this.commands
  }

  async terminalSelection() {
    return this.selectedInTerminal
  }

  async hasTestTool(name: TestToolName) {
    return this.testTools[name] !== undefined
  }

  async runTestTool(name: TestToolName, input: Record<string, unknown>, signal: AbortSignal) {
    return this.testTools[name]!(input, signal)
  }

  #files(): string[] {
    return readdirSync(this.#folder)
      .filter(name => name.endsWith('.ts'))
      .map(name => join(this.#folder, name))
  }

  #text(path: string): string {
    return this.dirty.get(path) ?? readFileSync(path, 'utf8')
  }

  #declarations(): Array<{ path: string; symbol: Declared }> {
    return this.#files().flatMap(path => flat(declared(this.#text(path))).map(symbol => ({ path, symbol })))
  }

  #uses(name: string): Location[] {
    return this.#files().flatMap(path =>
      this.#text(path)
        .split('\n')
        .flatMap((line, i) =>
          [...line.matchAll(new RegExp(`\\b${name}\\b`, 'g'))].map(({ index }) =>
            location(path, { line: i + 1, column: index + 1 }, name),
          ),
        ),
    )
  }

  #typeOf(name: string): string | undefined {
    for (const path of this.#files()) {
      const found = new RegExp(`\\b${name}(?:: (\\w+)| = \\[?new (\\w+))`).exec(this.#text(path))
      if (found) return found[1] ?? found[2]
    }
    return undefined
  }

  #symbol(path: string, { name, kind, at, container }: Declared): FoundSymbol {
    return { name, kind, ...(container && { container: container.name }), location: location(path, at, name) }
  }
}

function declared(text: string): Declared[] {
  const found: Declared[] = []
  for (const [i, line] of text.split('\n').entries()) {
    const top = DECLARATION.exec(line)
    const last = found.at(-1)
    if (top) {
      const [, word, name = ''] = top
      const kind = word === 'const' ? 'constant' : word!
      found.push({
        name,
        kind,
        at: { line: i + 1, column: line.indexOf(name) + 1 },
        endLine: i + 1,
        children: [],
      })
      continue
    }
    if (!last) continue
    if (line.startsWith('}') || line.startsWith(' ')) last.endLine = i + 1
    const method = METHOD.exec(line)
    const method_ = last.children.at(-1)
    if (method && ['class', 'interface'].includes(last.kind))
      last.children.push({
        ...{ name: method[1]!, kind: 'method', endLine: i + 1, children: [], container: last },
        at: { line: i + 1, column: 3 },
      })
    else if (method_ && line.startsWith('  ')) method_.endLine = i + 1
  }
  return found
}

function flat(symbols: readonly Declared[]): Declared[] {
  return symbols.flatMap(symbol => [symbol, ...flat(symbol.children)])
}

function problemsOf(text: string): Problem[] {
  return text.split('\n').flatMap((line, i) => {
    const wrong = WRONG.exec(line)
    if (!wrong) return []
    const column = line.indexOf(wrong[1]!) + 1
    return [
      {
        severity: 'error' as const,
        message: "Type 'number' is not assignable to type 'string'.",
        source: 'ts',
        code: '2322',
        start: { line: i + 1, column },
        end: { line: i + 1, column: column + wrong[1]!.length },
      },
    ]
  })
}

function location(path: string, start: Position, name: string): Location {
  return { path, start, end: { line: start.line, column: start.column + name.length } }
}

function lineOf(text: string, line: number): string {
  return text.split('\n')[line - 1] ?? ''
}

function wordAt(text: string, { line, column }: Position): string | undefined {
  for (const match of lineOf(text, line).matchAll(/\w+/g)) {
    if (match.index < column && column <= match.index + match[0].length + 1) return match[0]
  }
  return undefined
}

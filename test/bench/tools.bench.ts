/**
 * The editor's tools: how long a call takes from the official client to the answer (p50 and p95 of each tool, without the time
 * that a language needs, but with that for which tools wait for a language to report nothing more), and how large answers are, compared with a plain text search, for ten questions about a repository of
 * 10,000 files in which names occur in many modules, as they do.
 */
import path from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { EDITOR_TOOL_NAMES, type EditorToolName } from '../../src/common/editor-tool-names.ts'
import { silentLogger } from '../../src/common/logger.ts'
import type { EditorFeatures, FoundSymbol, Location } from '../../src/mcp/server/editor-features.ts'
import { Roots } from '../../src/mcp/server/roots.ts'
import { ToolServer } from '../../src/mcp/server/tool-server.ts'
import { FakeDebugFeatures } from '../support/fake-debug-features.ts'

const FILES = Number(process.env.PARLEY_BENCH_FILES ?? 10_000)
const CALLS = Number(process.env.PARLEY_BENCH_CALLS ?? 200)
/** of those that wait for a language to report nothing more */
const WAITING_CALLS = Math.ceil(CALLS / 10)
/** the minimum of the text search's size as a multiple of the answers' */
const TARGET = 3

const ROOT = path.resolve('/repository')
/** Functions that many modules have, each its own. */
const NAMES = ['create', 'update', 'remove', 'find', 'parse', 'format', 'load', 'save', 'open', 'close']

const texts = new Map<string, string>()
/** What a language server knows: by name, the uses of the one that is asked about. */
const uses = new Map<string, Location[]>()
const fileOf = (n: number) => path.join(ROOT, 'src', `area${n % 100}`, `module${n}.ts`)
for (let n = 0; n < FILES; n++) {
  const name = NAMES[n % NAMES.length]!
  const other = NAMES[(n * 7 + 3) % NAMES.length]!
  const isUser = n % 37 === 0
  const own = n % 20 < NAMES.length ? name : `task${n}`
  const lines = [
    isUser ? `import { ${name} } from '../area${n % NAMES.length}/module${n % NAMES.length}.ts'` : '',
    `/** Does what ${n % 5 === 0 ? other : 'others'} needs. */`,
    `export function ${isUser ? `use${n}` : own}(value: string): string {`,
    '  const result = value.trim()',
    isUser ? `  return ${name}(result)` : '  return result',
    '}',
  ]
  texts.set(fileOf(n), lines.join('\n'))
  if (isUser && n >= NAMES.length)
    uses.set(name, [...(uses.get(name) ?? []), locationsOf(fileOf(n), 5, 10, name)])
}
for (const [n, name] of NAMES.entries())
  uses.set(name, [locationsOf(fileOf(n), 3, 17, name), ...(uses.get(name) ?? [])])

function locationsOf(file: string, line: number, column: number, name: string): Location {
  return { path: file, start: { line, column }, end: { line, column: column + name.length } }
}

/** The answers of a language, already computed. */
const nameAt = (file: string, line: number) =>
  NAMES.find(name => new RegExp(`\\b${name}\\(`).test(texts.get(file)?.split('\n')[line - 1] ?? '')) ??
  NAMES[0]!
const symbolOf = (name: string): FoundSymbol => ({ name, kind: 'function', location: uses.get(name)![0]! })
const features: EditorFeatures = {
  problems: async file => (file ? [] : [{ path: fileOf(0), problems: [problem] }]),
  onDidChangeProblems: listener => {
    const timer = setTimeout(() => listener([fileOf(0)]), 1)
    return { dispose: () => clearTimeout(timer) }
  },
  open: async file => ({ text: texts.get(file) ?? '', isNew: false }),
  attend: async () => ({ isNew: false, dispose() {} }),
  symbols: async query => (uses.has(query) ? [symbolOf(query)] : []),
  outline: async file => [
    {
      name: nameAt(file, 3),
      kind: 'function',
      at: { line: 3, column: 17 },
      span: uses.get('create')![0]!,
      children: [],
    },
  ],
  locations: async (_kind, file, { line }) => uses.get(nameAt(file, line)) ?? [],
  hover: async () => ['```typescript\nfunction create(value: string): string\n```'],
  hierarchy: async () => [{ ...symbolOf('create'), uses: [] }],
  editors: async () => [{ path: fileOf(0), isActive: true, isVisible: true, isDirty: false }],
  selection: async () => ({ ...uses.get('create')![0]!, text: 'create' }),
  unsaved: async () => [],
  readUnsaved: async () => undefined,
  rename: async (file, { line }, text) =>
    (uses.get(nameAt(file, line)) ?? []).map(({ path, ...span }) => ({ path, changes: [{ ...span, text }] })),
  actions: async (file, _span, kind) => [
    { title: 'Fix it', kind: kind ?? 'quickfix', edit: [{ path: file, changes: [change] }] },
  ],
  format: async () => [change],
  show: async () => {},
  showDiff: async () => {},
  tasks: async () => [{ name: 'test', source: 'npm' }],
  runTask: async () => ({ exitCode: 0 }),
  terminalCommands: async () => [
    { terminal: 'sh', command: 'ls', isRunning: false, exitCode: 0, output: 'a' },
  ],
  terminalSelection: async () => ({ terminal: 'sh', text: 'a' }),
  hasTestTool: async () => true,
  runTestTool: async () => 'passed',
  debug: new FakeDebugFeatures(),
}
const change = { start: { line: 2, column: 1 }, end: { line: 2, column: 1 }, text: '// changed\n' }
const problem = {
  severity: 'error' as const,
  message: 'Wrong.',
  start: { line: 1, column: 1 },
  end: { line: 1, column: 2 },
}

const INPUTS: Record<EditorToolName, Record<string, unknown>> = {
  diagnostics: {},
  symbols: { query: 'create' },
  document_symbols: { file: 'src/area0/module0.ts' },
  definition: { name: 'create' },
  type_definition: { name: 'create' },
  implementations: { name: 'create' },
  references: { name: 'create' },
  hover: { name: 'create' },
  call_hierarchy: { name: 'create' },
  type_hierarchy: { name: 'create' },
  open_editors: {},
  selection: {},
  unsaved_text: {},
  open_file: { file: 'src/area0/module0.ts', line: 3 },
  show_diff: { file: 'src/area0/module0.ts', text: 'other' },
  rename_symbol: { name: 'create', new_name: 'other' },
  code_action: { file: 'src/area0/module0.ts', line: 3, apply: 'Fix it' },
  format: { file: 'src/area0/module0.ts' },
  organize_imports: { file: 'src/area0/module0.ts' },
  ask_user: { question: 'Which?' },
  list_tasks: {},
  run_task: { name: 'test' },
  run_tests: {},
  test_results: {},
  terminal_output: {},
  terminal_selection: {},
  debug_state: {},
  debug_control: { action: 'remove_breakpoint', file: 'src/area0/module0.ts', line: 3 },
}

const server = await ToolServer.listen('0', silentLogger)
const guard = {
  cwd: ROOT,
  roots: [ROOT],
  check: async (file: string) => {
    const full = path.resolve(ROOT, file)
    return { path: full, realPath: full, inside: full.startsWith(ROOT) }
  },
}
const endpoint = server.add({
  features,
  roots: new Roots(guard),
  tools: () => EDITOR_TOOL_NAMES,
  conversation: async () => ({
    permitted: (_permission, _signal, work) => work(),
    write: async () => {},
    elicit: async () => ({ action: 'accept', content: { answer: 'this one' } }),
  }),
})
const client = new Client({ name: 'bench', version: '0' })
const headers = { authorization: `Bearer ${endpoint.token}` }
await client.connect(new StreamableHTTPClientTransport(new URL(endpoint.url), { requestInit: { headers } }))

async function call(name: string, input: Record<string, unknown>): Promise<string> {
  const { content, isError } = await client.callTool({ name, arguments: input })
  const text = (content as Array<{ text: string }>)[0]!.text
  if (isError) throw new Error(`${name}: ${text}`)
  return text
}

async function measure(label: string, calls: number, name: string, input: Record<string, unknown>) {
  const times: number[] = []
  for (let i = 0; i < calls; i++) {
    const start = performance.now()
    await call(name, input)
    times.push(performance.now() - start)
  }
  times.sort((a, b) => a - b)
  const at = (part: number) => times[Math.min(times.length - 1, Math.floor(times.length * part))]!.toFixed(1)
  console.log(`  ${label.padEnd(21)} p50 ${at(0.5).padStart(6)} ms   p95 ${at(0.95).padStart(6)} ms`)
}

const { code_action: action, ...others } = INPUTS
console.log(`${CALLS} calls of each tool`)
for (const [name, input] of Object.entries(others)) await measure(name, CALLS, name, input)
console.log(`${WAITING_CALLS} calls of each that waits until a language has reported nothing for 400 ms`)
await measure('code_action', WAITING_CALLS, 'code_action', action)
await measure('diagnostics of a file', WAITING_CALLS, 'diagnostics', { files: [action.file] })

let answered = 0
let searched = 0
for (const name of NAMES) {
  // the tokens of a text are about a quarter of its characters
  const answer = (await call('references', { name })).length
  const search = [...texts]
    .flatMap(([file, text]) =>
      text
        .split('\n')
        .flatMap((line, i) =>
          new RegExp(`\\b${name}\\b`).test(line) ? [`${path.relative(ROOT, file)}:${i + 1}:${line}`] : [],
        ),
    )
    .join('\n').length
  answered += answer
  searched += search
  console.log(
    `  who uses ${name.padEnd(8)} ${Math.ceil(answer / 4)} tokens; text search: ${Math.ceil(search / 4)}`,
  )
}
await client.close()
endpoint.close()
server.close()

const ratio = searched / answered
console.log(
  `The answers are ${ratio.toFixed(1)} times smaller than those of a text search (at least ${TARGET})`,
)
if (ratio < TARGET) process.exitCode = 1

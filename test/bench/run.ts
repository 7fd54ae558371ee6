/**
 * Runs the benchmarks: `npm run bench` for all, `npm run bench -- transport` for one. Each is bundled like the
 * extension and runs in a new Node process, so that it measures the shipped code without a loader. The workbench and
 * layout benchmarks are only started here: the former measures the packaged extension in its own VS Code, the latter
 * the page in a browser.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { build } from 'esbuild'
import { installVsCode } from '../host/install-vscode.ts'
import { current } from '../host/vscode-versions.ts'

const SUFFIX = '.bench.ts'
const folder = import.meta.dirname
const project = path.join(folder, '../..')
const wanted = process.argv.slice(2)
const bundled = (await readdir(folder))
  .filter(file => file.endsWith(SUFFIX))
  .map(file => file.slice(0, -SUFFIX.length))
/** benchmarks that use a browser */
const driven: Readonly<Record<string, string>> = {
  history: 'history.ts',
  layout: 'layout.ts',
  'traffic-scroll': 'traffic-scroll.ts',
  workbench: 'workbench/main.ts',
}
/** benchmarks that need SQLite, which the Node of VS Code's extension host has */
const needSqlite = new Set(['changes', 'search'])
/** benchmarks whose heap is limited, in MB */
const limited: Readonly<Record<string, number>> = { memory: 768 }
const all = [...bundled, ...Object.keys(driven)]
const names = wanted.length === 0 ? all : wanted
const unknown = names.filter(name => !all.includes(name))
if (unknown.length > 0) {
  console.error(`There is no benchmark ${unknown.join(', ')}. There are: ${all.join(', ')}.`)
  process.exit(2)
}

const out = await mkdtemp(path.join(os.tmpdir(), 'parley-bench-'))
try {
  for (const name of names) {
    const code = await (driven[name] ? runDriven(driven[name]) : runBundled(name))
    // the other benchmarks are useful anyway
    process.exitCode ||= code
  }
} finally {
  await rm(out, { recursive: true, force: true })
}

async function runDriven(file: string): Promise<number> {
  const tsx = path.join(project, 'node_modules/tsx/dist/cli.mjs')
  const script = path.join(folder, file)
  return ended(spawn(process.execPath, [tsx, script], { stdio: 'inherit' }))
}

async function runBundled(name: string): Promise<number> {
  const outfile = path.join(out, `${name}.mjs`)
  await build({
    entryPoints: [path.join(folder, name + SUFFIX)],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    logLevel: 'warning',
    // CommonJS packages in an ESM bundle call `require`.
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
  })
  const env = { ...process.env, PARLEY_BENCH_FOLDER: folder }
  const node = needSqlite.has(name) ? (await installVsCode(current)).node : process.execPath
  const heap = limited[name] ? [`--max-old-space-size=${limited[name]}`] : []
  return ended(spawn(node, ['--expose-gc', ...heap, outfile], { stdio: 'inherit', env }))
}

async function ended(child: ChildProcess): Promise<number> {
  const [code] = await once(child, 'exit')
  return typeof code === 'number' ? code : 1
}

/**
 * Runs the benchmarks: `npm run bench` for all, `npm run bench -- transport` for one. Each is bundled first, the way
 * the extension is, and runs in a fresh Node, so that what is measured is what ships and not a loader.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { build } from 'esbuild'

const SUFFIX = '.bench.ts'
const folder = import.meta.dirname
const wanted = process.argv.slice(2)
const all = (await readdir(folder))
  .filter(file => file.endsWith(SUFFIX))
  .map(file => file.slice(0, -SUFFIX.length))
const names = wanted.length === 0 ? all : wanted
const unknown = names.filter(name => !all.includes(name))
if (unknown.length > 0) {
  console.error(`There is no benchmark ${unknown.join(', ')}. There are: ${all.join(', ')}.`)
  process.exit(2)
}

const out = await mkdtemp(path.join(os.tmpdir(), 'parley-bench-'))
try {
  for (const name of names) process.exitCode ||= await run(name)
} finally {
  await rm(out, { recursive: true, force: true })
}

async function run(name: string): Promise<number> {
  const outfile = path.join(out, `${name}.mjs`)
  await build({
    entryPoints: [path.join(folder, name + SUFFIX)],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    logLevel: 'warning',
    // CommonJS packages in an ESM bundle ask for `require`.
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
  })
  const child = spawn(process.execPath, ['--expose-gc', outfile], {
    stdio: 'inherit',
    env: { ...process.env, PARLEY_BENCH_FOLDER: folder },
  })
  const [code] = await once(child, 'exit')
  return typeof code === 'number' ? code : 1
}

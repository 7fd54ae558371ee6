import { fork } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import * as esbuild from 'esbuild'
import Mocha from 'mocha'
import { COVERAGE, type Coverage, wordOf } from '../unit/acp/protocol-coverage.ts'
import { disable } from './mutate.ts'

/**
 * Checks the protocol coverage table: disables the handler of each row in turn, and expects the row's test to fail.
 * `npm run test:mutation`, with `-- --only terminal/` for the rows whose name contains a text, `--verbose` for
 * the failed test of each row.
 */
interface Mutant {
  row: string
  file: string
  name: string
  test: string
}

type Verdict = { row: string; survived?: string; failed?: string }

const root = path.join(import.meta.dirname, '../..')
const out = path.join(root, 'out/mutation')
/**
 * A test that waits for what a disabled handler never sends uses no CPU time. It counts as failed if it uses less than
 * this in this time, which holds on a slow machine too.
 */
const WAITS = { forMs: 2_000, cpuMs: 30 }
/** The time limit for a test that neither ends nor waits. */
const MAX_RUN_MS = 60_000
/** The number of concurrent tests, which mostly wait. */
const PROCESSES = 4

const { values: options } = parseArgs({
  options: { only: { type: 'string', default: '' }, share: { type: 'string' }, verbose: { type: 'boolean' } },
})

function mutantOf(row: Coverage): Mutant[] {
  const { at, test } = row
  if (!at || !test || !row.name.includes(options.only)) return []
  const versions = row.versions.map(version => `v${version}`).join(' and ')
  return [
    {
      row: `${row.what} ${row.name} of ${versions}`,
      file: `src/acp/${at}`,
      name: row.handler ?? wordOf(row),
      test: `test/unit/acp/${test}`,
    },
  ]
}

/** A test file bundled with all project code that it runs. */
async function bundle(test: string): Promise<string> {
  const result = await esbuild.build({
    absWorkingDir: root,
    entryPoints: [test],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    logLevel: 'error',
    plugins: [inPlace],
  })
  return result.outputFiles[0]!.text
}

/** Gives a file its original location instead of the bundle's. */
const inPlace: esbuild.Plugin = {
  name: 'in-place',
  setup(build) {
    // The compiled protocol schemas are the same for all mutants, and compiling them takes most of the time.
    build.onResolve({ filter: /\/(schema-check|official-schema)\.ts$/ }, ({ path: file, resolveDir }) => ({
      path: pathToFileURL(path.resolve(resolveDir, file)).href,
      external: true,
    }))
    build.onLoad({ filter: /\/(src|test)\/.*\.tsx?$/ }, ({ path: file }) => ({
      loader: file.endsWith('x') ? 'tsx' : 'ts',
      contents: readFileSync(file, 'utf8')
        .replaceAll('import.meta.dirname', JSON.stringify(path.dirname(file)))
        .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(file).href)),
    }))
  },
}

/** The first failed test, if any. */
async function firstFailure(code: string, name: string, mayWait = false): Promise<string | undefined> {
  const file = path.join(out, `${name}.mjs`)
  writeFileSync(file, code)
  const mocha = new Mocha({ timeout: 0, bail: true, reporter: class {} as never })
  mocha.addFile(file)
  await mocha.loadFilesAsync()
  let [failed, resolve]: [string | undefined, (failed?: string) => void] = [undefined, () => {}]
  const promise = new Promise<string | undefined>(done => {
    resolve = done
  })
  const runner = mocha.run(() => resolve(failed))
  runner.on('fail', (test, error) => {
    failed ??= `${test.fullTitle()}: ${error.message}`
  })
  let used = process.cpuUsage()
  const end = Date.now() + MAX_RUN_MS
  const watch = setInterval(() => {
    const { user, system } = process.cpuUsage(used)
    used = process.cpuUsage()
    if ((mayWait || (user + system) / 1000 > WAITS.cpuMs) && Date.now() < end) return
    resolve(failed ?? `${runner.test?.fullTitle()}: waits for ever`)
  }, WAITS.forMs)
  try {
    return await promise
  } finally {
    clearInterval(watch)
    runner.dispose()
    ignoreLateErrors()
  }
}

/** Isolates each run from what the previous one left behind. */
function ignoreLateErrors(): void {
  for (const event of ['uncaughtException', 'unhandledRejection']) {
    process.removeAllListeners(event)
    process.on(event, () => {})
  }
}

async function verdicts(
  mutants: Mutant[],
  reported: (verdict: Verdict) => void,
  share: string,
): Promise<void> {
  const bundles = new Map<string, string | undefined>()
  for (const [index, { row, file, name, test }] of mutants.entries()) {
    if (!bundles.has(test)) {
      const code = await bundle(test)
      const failed = await firstFailure(code, `${share}-whole-${index}`, true)
      if (failed) reported({ row: test, survived: `it fails as it is: ${failed}` })
      bundles.set(test, failed ? undefined : code)
    }
    const code = bundles.get(test)
    if (code === undefined) continue
    const mutated = disable(code, file, name)
    if (mutated === undefined) {
      reported({ row, survived: `${test} runs nothing that is called ${name} in ${file}` })
      continue
    }
    try {
      const failed = await firstFailure(mutated, `${share}-${index}`)
      reported(failed ? { row, failed } : { row, survived: `${test} passes without it (${name} in ${file})` })
    } catch (error) {
      reported({
        row,
        survived: `${test} doesn't load without it: ${error instanceof Error ? error.message : error}`,
      })
    }
  }
}

const mutants = COVERAGE.flatMap(mutantOf)
if (options.share !== undefined) {
  const share = Number(options.share)
  ignoreLateErrors()
  await verdicts(
    mutants.filter((_, index) => index % PROCESSES === share),
    verdict => process.send?.(verdict),
    options.share,
  )
  process.exit()
}

rmSync(out, { recursive: true, force: true })
mkdirSync(out, { recursive: true })
const survivors: Verdict[] = []
let killed = 0
const codes = await Promise.all(
  Array.from({ length: PROCESSES }, (_, share) => {
    const child = fork(import.meta.filename, [...process.argv.slice(2), '--share', `${share}`], { cwd: root })
    child.on('message', (verdict: Verdict) => {
      if (verdict.survived) survivors.push(verdict)
      else killed++
      if (process.env.PARLEY_VERBOSE)
        console.log(verdict.failed ? `✔ ${verdict.row}: ${verdict.failed}` : `✖ ${verdict.row}`)
    })
    return new Promise<number | null>(resolve => child.on('exit', resolve))
  }),
)
for (const { row, survived } of survivors) console.log(`✖ ${row}: ${survived}`)
console.log(`${killed} of ${mutants.length} rows have a test that fails without their handler.`)
const complete = codes.every(code => code === 0) && killed === mutants.length && mutants.length > 0
process.exitCode = survivors.length === 0 && complete ? 0 : 1

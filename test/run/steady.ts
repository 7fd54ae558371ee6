// Runs tests many times on a busy machine, and tells which failed how often: npm run test:steady [-- OPTIONS] [LANE|FILE…]
//   LANE|FILE     a lane, such as unit, page, UI, integration or agents, or files with tests;
//                 by default those that differ from the main branch, or aren't committed
//   --times N     how often; 10 by default
//   --load N      how many processes keep a core busy meanwhile; one for each core by default
//   --disk        writes to the disk all the time
//   --git MS      git starts this much later
//   --late MS     messages between a page, the extension and the fixture agent arrive this much later
//   --stop        stops a process of the tests for up to 3 seconds, at random moments
//   --seed N      of these moments
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { delimiter, join, relative, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { atExit, exitOnSignals } from '../host/at-exit.ts'
import { outDirectory, projectDirectory } from '../host/paths.ts'
import { ProcessGroup } from '../host/processes.ts'
import { findProgram } from '../host/system-packages.ts'
import { type Lane, testFiles } from './lanes.ts'
import { runStep } from './run-step.ts'
import { schedule } from './schedule.ts'
import { lanes, onlySteps, type Step, setupSteps } from './steps.ts'

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    times: { type: 'string', default: '10' },
    load: { type: 'string', default: `${availableParallelism()}` },
    disk: { type: 'boolean', default: false },
    git: { type: 'string', default: '0' },
    late: { type: 'string', default: '0' },
    stop: { type: 'boolean', default: false },
    seed: { type: 'string', default: `${Date.now() % 100_000}` },
  },
})
const logs = join(outDirectory, 'steady')
const times = Number(options.times)

exitOnSignals()
rmSync(logs, { recursive: true, force: true })
mkdirSync(logs, { recursive: true })
const chosen = chooseTests()
if (!(await prepare())) process.exit(1)

const load = startLoad()
const env = { ...lateGit(), PARLEY_LATE_MS: options.late }
const random = randomNumbers(Number(options.seed))
if (options.stop) console.log(`The seed of what is stopped when: ${options.seed}`)
/** For each test that failed: how often, and its first error. */
const failures = new Map<string, { count: number; error: string; alone: string }>()
let passed = 0
for (let time = 1; time <= times; time++)
  for (const [lane, files] of chosen) {
    const since = performance.now()
    const log = join(logs, `${lane.name}-${time}.log`.replace(/[^\w.]+/g, '-'))
    const end = new AbortController()
    const step: Step = { name: lane.name, kind: 'suite', run: lane.run(files, 0), needs: [], lane }
    const { tally, events, output } = await runStep(step, {
      log,
      env,
      onStart: group => options.stop && void stopAtRandom(group, end.signal),
    })
    end.abort()
    passed += tally.passed
    const failed = events.filter(({ event }) => event === 'failed')
    for (const { file, title, select, error } of failed)
      addFailure(
        `${lane.name}: ${title}`,
        `${error}\nlog: ${relative(projectDirectory, log)}`,
        lane.alone(file, select ?? title),
      )
    if (tally.failed > failed.length)
      addFailure(
        `${lane.name} as a whole`,
        `${output.slice(-2000)}\nlog: ${relative(projectDirectory, log)}`,
        '',
      )
    const duration = ((performance.now() - since) / 1000).toFixed(0)
    console.log(
      `${time} of ${times}, ${lane.name}: ${tally.passed} passed, ${tally.failed} failed in ${duration} s` +
        failed.map(({ title }) => `\n    ${title}`).join(''),
    )
  }
await Promise.all(load.map(one => one.end()))

for (const [name, { count, error, alone }] of [...failures].sort(([, a], [, b]) => b.count - a.count))
  console.log(`✖ ${count} of ${times}, ${name}\n${`${error}\n${alone}`.trimEnd().replace(/^/gm, '    ')}`)
console.log(
  failures.size === 0
    ? `${passed} passed, each time`
    : `${failures.size} failed at least once of ${times} times`,
)
if (failures.size > 0 || passed === 0) process.exitCode = 1

function addFailure(name: string, error: string, alone: string): void {
  const before = failures.get(name)
  failures.set(name, before ? { ...before, count: before.count + 1 } : { count: 1, error, alone })
}

/** The lanes, each with its files. */
function chooseTests(): Map<Lane, string[]> {
  const chosen = new Map<Lane, string[]>()
  for (const word of positionals.length > 0 ? positionals : changedTests()) {
    const named = lanes.filter(({ name }) => name.toLowerCase().startsWith(word.toLowerCase()))
    for (const lane of named) chosen.set(lane, testFiles(lane))
    if (named.length > 0) continue
    const file = relative(projectDirectory, resolve(word)).replaceAll('\\', '/')
    const lane = lanes.find(({ folder }) => file.startsWith(folder))
    if (!lane || !existsSync(resolve(word)))
      fail(`${word} is neither a lane (${lanes.map(({ name }) => name).join(', ')}) nor a file of one.`)
    chosen.set(lane, [...(chosen.get(lane) ?? []), file])
  }
  if (chosen.size === 0) fail('No test differs from the main branch: name a lane, or files.')
  return chosen
}

function changedTests(): string[] {
  const git = (...args: string[]) => {
    const { status, stdout } = spawnSync('git', args, { cwd: projectDirectory, encoding: 'utf8' })
    return status === 0 ? stdout.split('\n').filter(line => line !== '') : undefined
  }
  const base = ['origin/main', 'main'].flatMap(main => git('merge-base', 'HEAD', main) ?? []).at(-1) ?? 'HEAD'
  return [
    ...(git('diff', '--name-only', '--diff-filter=d', base, '--', 'test') ?? []),
    ...(git('ls-files', '--others', '--exclude-standard', '--', 'test') ?? []),
  ].filter(file => /\.test\.tsx?$/.test(file) && lanes.some(({ folder }) => file.startsWith(folder)))
}

function fail(reason: string): never {
  console.error(reason)
  process.exit(1)
}

/** Runs what the chosen lanes need. */
async function prepare(): Promise<boolean> {
  const needs = [...chosen.keys()].flatMap(lane => lane.needs)
  let well = true
  await schedule(
    onlySteps(setupSteps, needs),
    (_step, running) => running.length < 2,
    async step => {
      const { tally, output } = await runStep(step)
      if (tally.failed > 0) console.log(`✖ ${step.name}\n${output.slice(-3000)}`)
      well &&= tally.failed === 0
      return tally.failed === 0
    },
    () => {},
  )
  return well
}

/** Keeps cores, and if wanted the disk, busy until this process ends. */
function startLoad(): ProcessGroup[] {
  const burn = ['-e', 'for (;;);']
  const file = join(tmpdir(), `parley-disk-${process.pid}`)
  const write = `const fs = require('node:fs')
    const file = fs.openSync(${JSON.stringify(file)}, 'w')
    for (;;) { fs.writeSync(file, Buffer.alloc(1 << 24), 0, 1 << 24, 0); fs.fsyncSync(file) }`
  if (options.disk) atExit(() => rmSync(file, { force: true }))
  return [...Array<string[]>(Number(options.load)).fill(burn), ...(options.disk ? [['-e', write]] : [])].map(
    args => new ProcessGroup(process.execPath, args, { env: process.env }),
  )
}

/** An environment in which git starts late. */
function lateGit(): NodeJS.ProcessEnv {
  const git = findProgram(['git'])
  if (options.git === '0' || !git) return {}
  const directory = join(logs, 'bin')
  mkdirSync(directory)
  writeFileSync(
    join(directory, 'git'),
    `#!/bin/sh\nsleep ${Number(options.git) / 1000}\nexec "${git}" "$@"\n`,
  )
  chmodSync(join(directory, 'git'), 0o755)
  return { PATH: `${directory}${delimiter}${process.env.PATH}` }
}

/** Stops one of a process's descendants after the other, until the signal. */
async function stopAtRandom(root: number, end: AbortSignal): Promise<void> {
  while (!end.aborted) {
    await delay(random() * 3000)
    const processes = descendants(root)
    const pid = processes[Math.floor(random() * processes.length)]
    if (pid === undefined || end.aborted) continue
    const continued = atExit(() => signal(pid, 'SIGCONT'))
    signal(pid, 'SIGSTOP')
    await delay(500 + random() * 2500)
    signal(pid, 'SIGCONT')
    continued()
  }
}

function signal(pid: number, name: 'SIGSTOP' | 'SIGCONT'): void {
  try {
    process.kill(pid, name)
  } catch {
    // it has ended
  }
}

function descendants(root: number): number[] {
  const children = new Map<number, number[]>()
  for (const entry of readdirSync('/proc').filter(name => /^\d+$/.test(name)))
    try {
      // what is in parentheses may contain anything
      const parent = Number(/.*\) \S (\d+)/s.exec(readFileSync(`/proc/${entry}/stat`, 'utf8'))?.[1])
      children.set(parent, [...(children.get(parent) ?? []), Number(entry)])
    } catch {
      // it has ended
    }
  const below = (pid: number): number[] =>
    (children.get(pid) ?? []).flatMap(child => [child, ...below(child)])
  return below(root)
}

/** Numbers from 0 to 1 that follow from the seed. */
function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

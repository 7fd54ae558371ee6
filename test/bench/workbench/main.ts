// What a user sees, measured in a real VS Code with the packaged extension and the fixture agent:
//   npm run bench -- workbench
// PARLEY_BENCH_ROUNDS: number of rounds (3). PARLEY_BENCH_ONLY: a regular expression for the titles.
// PARLEY_BENCH_PROFILE: a directory for a CPU profile of the page for each measurement; profiling makes a run slower.
import { mkdirSync, writeFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { exitOnSignals } from '../../host/at-exit.ts'
import { projectDirectory } from '../../host/paths.ts'
import { runCommand } from '../../host/run-command.ts'
import type { Measurement } from './figures.ts'
import { hiddenTabs, hiddenView } from './hidden.ts'
import { activation, firstSession, reload } from './openings.ts'
import { printMeasurement, printSummary } from './print.ts'
import { reloadInTurn } from './reload-in-turn.ts'
import { type BenchWindow, Rig } from './rig.ts'
import { costOfAChunk, flood, idle, load, paced, type Scenario, toolCalls } from './scenarios.ts'
import { scrolling } from './scrolling.ts'
import { firstView } from './startup.ts'

const rounds = Number(process.env.PARLEY_BENCH_ROUNDS ?? 3)
const only = new RegExp(process.env.PARLEY_BENCH_ONLY ?? '')
const profiles = process.env.PARLEY_BENCH_PROFILE

/** In this order, since some use the long session after it was loaded. */
const scenarios: Scenario[] = [
  firstView,
  firstSession,
  idle,
  flood(5000, 500),
  flood(20_000, 1500),
  toolCalls(200, 500),
  load(1000),
  paced(30),
  scrolling,
  costOfAChunk(10, 100_000),
  hiddenView,
  hiddenTabs(10),
  reload,
  reloadInTurn,
  activation,
].filter(({ title }) => only.test(title))

exitOnSignals()
const tsx = join(projectDirectory, 'node_modules/tsx/dist/cli.mjs')
await runCommand(process.execPath, [tsx, 'test/package/package.ts'], { cwd: projectDirectory })
const measurements = new Map<Scenario, Measurement>(
  scenarios.map(scenario => [scenario, { title: scenario.title, figures: scenario.figures, rounds: [] }]),
)
console.log(`${rounds} rounds, each with a profile of its own; the load of the machine before: ${load3()}`)
for (let round = 0; round < rounds; round++) {
  // another round's window would restore the session that is to be loaded
  const rig = await Rig.start()
  try {
    const window = await rig.open()
    for (const scenario of scenarios) {
      const begun = Date.now()
      try {
        measurements.get(scenario)!.rounds.push(await run(scenario, window, round))
        console.log(`  ${scenario.title}: took ${Math.round((Date.now() - begun) / 1000)} s`)
      } catch (error) {
        // the other measurements are useful anyway
        console.error(`Not measured: ${scenario.title}: ${error instanceof Error ? error.message : error}`)
        process.exitCode = 1
      }
    }
    await window.close()
    console.log(`round ${round + 1} of ${rounds} done, load ${load3()}`)
  } finally {
    await rig.stop()
  }
}
for (const measurement of measurements.values()) printMeasurement(measurement)
printSummary([...measurements.values()], load3())

async function run(scenario: Scenario, window: BenchWindow, round: number) {
  if (!profiles) return bounded(scenario.run(window))
  await window.devtools.send('Profiler.enable')
  await window.devtools.send('Profiler.start')
  const values = await bounded(scenario.run(window))
  const { profile } = await window.devtools.send('Profiler.stop')
  mkdirSync(profiles, { recursive: true })
  const name = scenario.title.replace(/\W+/g, '-').slice(0, 60)
  writeFileSync(join(profiles, `${name}-${round + 1}.cpuprofile`), JSON.stringify(profile))
  return values
}

/** Limits the time of a round, since a page may never answer. */
function bounded<T>(running: Promise<T>): Promise<T> {
  const most = 400_000
  const end = sleep(most, undefined, { ref: false }).then(() => {
    throw new Error(`no end within ${most / 1000} s`)
  })
  return Promise.race([running, end])
}

/** Running and ready processes, the average of the last 1, 5 and 15 minutes. */
function load3(): string {
  return loadavg()
    .map(one => one.toFixed(1))
    .join(' ')
}

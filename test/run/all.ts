// Runs the tests and ends with one line that counts them: npm test [-- OPTIONS], npm run test:quick, npm run test:all
//   --tier TIER   how much: quick, normal or all
//   --only LANE   only the steps whose names start with this, such as unit, page, UI, integration, agents, or lint,
//                 and what they need; may be repeated
//   --record      records how long each file takes, by which the steps are divided
import { rmSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { exitOnSignals } from '../host/at-exit.ts'
import { outDirectory } from '../host/paths.ts'
import { cpuSeconds } from '../host/processes.ts'
import { recordDurations } from './durations.ts'
import { Report } from './report.ts'
import { runStep } from './run-step.ts'
import { schedule } from './schedule.ts'
import { onlySteps, type Step, stepsOfTier, type Tier } from './steps.ts'
import type { TestEvent } from './test-events.ts'

const { values: options } = parseArgs({
  options: {
    tier: { type: 'string', default: 'normal' },
    only: { type: 'string', multiple: true },
    record: { type: 'boolean', default: false },
  },
})
const start = performance.now()
const seconds = (since: number) => `${((performance.now() - since) / 1000).toFixed(1)} s`
const withCpu = (used: number | undefined) =>
  used === undefined ? '' : `, with ${used.toFixed(0)} CPU seconds`
const logs = join(outDirectory, 'logs')
const report = new Report(console.log)

const cores = Math.min(7, Math.max(2, availableParallelism()))
/**
 * A step waits for processes and pages a third of its time, so one more than cores keeps them busy; but not a third
 * workbench, which has a server, a browser and an extension host.
 */
const fits = (step: Step, running: readonly Step[]) =>
  running.length <= cores &&
  (step.lane?.name !== 'UI' || running.filter(({ lane }) => lane?.name === 'UI').length < cores)
const seed = Number(process.env.PARLEY_SEED ?? Date.now() % 1_000_000)
const events: TestEvent[] = []

exitOnSignals()
rmSync(logs, { recursive: true, force: true })
rmSync(join(outDirectory, 'ui'), { recursive: true, force: true })
const tier = stepsOfTier(options.tier as Tier, seed)
if (options.tier === 'all') console.log(`The seed of the property tests: PARLEY_SEED=${seed}`)
const steps = options.only ? onlySteps(tier, options.only) : tier
await schedule(steps, fits, run, (step, because) => report.drop(step, because))
if (options.record) recordDurations(events)
const used = cpuSeconds()
console.log(`all in ${seconds(start)}${withCpu(used && used.own + used.ended)}`)
if (!report.end()) process.exitCode = 1

async function run(step: Step): Promise<boolean> {
  const since = performance.now()
  const log = join(logs, `${step.name.replace(/[^\w.]+/g, '-')}.log`)
  const outcome = await runStep(step, { log, onEvent: event => report.event(step, log, event) })
  events.push(...outcome.events)
  return report.add(step, log, outcome, `${seconds(since)}${withCpu(outcome.cpuSeconds)}`)
}

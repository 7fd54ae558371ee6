// Runs all tests and ends with one line that counts them: npm test [-- --only LANE]
//   --only LANE   only the steps whose names start with this, such as unit, page, UI, integration, agents, or lint,
//                 and what they need; may be repeated
import { rmSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { exitOnSignals } from '../host/at-exit.ts'
import { outDirectory } from '../host/paths.ts'
import { Report } from './report.ts'
import { runStep } from './run-step.ts'
import { schedule } from './schedule.ts'
import { allSteps, onlySteps, type Step } from './steps.ts'

const { values: options } = parseArgs({ options: { only: { type: 'string', multiple: true } } })
const start = performance.now()
const seconds = (since: number) => `${((performance.now() - since) / 1000).toFixed(1)} s`
const logs = join(outDirectory, 'logs')
const report = new Report(console.log)

/** How many steps run at once. A step waits for processes and pages a third of its time, so one more than cores keeps them busy. */
const LANES = Math.min(8, Math.max(2, availableParallelism()) + 1)

exitOnSignals()
rmSync(logs, { recursive: true, force: true })
rmSync(join(outDirectory, 'ui'), { recursive: true, force: true })
const steps = options.only ? onlySteps(allSteps(), options.only) : allSteps()
await schedule(steps, LANES, run, (step, because) => report.drop(step, because))
console.log(`all in ${seconds(start)}`)
if (!report.end()) process.exitCode = 1

async function run(step: Step): Promise<boolean> {
  const since = performance.now()
  const log = join(logs, `${step.name.replace(/[^\w.]+/g, '-')}.log`)
  const outcome = await runStep(step, { log, onEvent: event => report.event(step, log, event) })
  return report.add(step, log, outcome, seconds(since))
}

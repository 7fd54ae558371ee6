// Runs all tests and ends with one line that counts them: npm test
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { exitOnSignals } from '../host/at-exit.ts'
import { outDirectory } from '../host/paths.ts'
import { failureSummary, testsPassedOnRetry } from './failure-summary.ts'
import { runStep } from './run-step.ts'
import { schedule } from './schedule.ts'
import { allSteps, type Step } from './steps.ts'
import { addTallies, formatTally, type Tally } from './tally.ts'

const start = performance.now()
const seconds = (since: number) => `${((performance.now() - since) / 1000).toFixed(1)} s`
const logs = join(outDirectory, 'logs')
const tallies: Tally[] = []
const failures: string[] = []
/** The tests that passed only when they were tried again. */
const unsteady: string[] = []

/** How many tests may be unsteady: any machine may be too slow once, but a second time is no accident. */
const UNSTEADY_ALLOWED = 1
/** How many steps run at once. A step waits for processes and pages a third of its time, so one more than cores keeps them busy. */
const LANES = Math.min(8, Math.max(2, availableParallelism()) + 1)

exitOnSignals()
rmSync(logs, { recursive: true, force: true })
rmSync(join(outDirectory, 'ui'), { recursive: true, force: true })
mkdirSync(logs, { recursive: true })
await schedule(allSteps(), LANES, run, drop)

const total = addTallies(tallies)
console.log(`all in ${seconds(start)}`)
if (total.failed > 0 || unsteady.length > UNSTEADY_ALLOWED) process.exitCode = 1
// Repeated at the end, where people look first, and because long logs are cut.
for (const failure of failures) console.log(failure)
if (unsteady.length > 0)
  console.log(
    `Unsteady, since they passed only when they were tried again: ${unsteady.length}, ` +
      `${unsteady.length > UNSTEADY_ALLOWED ? 'which fails' : "which doesn't fail"} the run.\n${unsteady.join('\n')}`,
  )
console.log(formatTally(total))

async function run(step: Step): Promise<boolean> {
  const since = performance.now()
  const { output, tally } = await runStep(step)
  tallies.push(tally)
  const passed = tally.failed === 0
  unsteady.push(...testsPassedOnRetry(output))
  const log = join(logs, `${step.name.replace(/[^\w.]+/g, '-')}.log`)
  writeFileSync(log, output)
  const count = step.kind === 'suite' ? `: ${formatTally(tally)}` : ''
  console.log(`${passed ? '✔' : '✖'} ${step.name}${count} (${seconds(since)})`)
  if (passed) return true
  console.log(`${output.slice(-20_000).replace(/^/gm, '    ')}\n    All of it: ${log}`)
  failures.push(`✖ ${step.name}\n${failureSummary(output).replace(/^/gm, '    ')}`)
  return false
}

function drop(step: Step, because: string): void {
  tallies.push({ passed: 0, failed: 1, skipped: 0 })
  console.log(`✖ ${step.name}: not run, since "${because}" failed`)
}

import { appendFileSync, mkdirSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { projectDirectory } from '../host/paths.ts'
import { cpuSeconds, ProcessGroup } from '../host/processes.ts'
import type { Step } from './steps.ts'
import { formatTally, parseTally, type Tally } from './tally.ts'
import { eventsVariable, type TestEvent, TestEvents } from './test-events.ts'

export interface Outcome {
  tally: Tally
  output: string
  /** What happened to each test, if a log was asked for. */
  events: TestEvent[]
  /** What its processes used of the processors, as far as it's known. */
  cpuSeconds?: number
}

export interface StepOptions {
  /** The file for its output, written while it runs; the events are next to it, in a file with `.events` at the end. */
  log?: string
  /** Called at once for each event. */
  onEvent?: (event: TestEvent) => void
  /** Variables in addition to this process's. */
  env?: NodeJS.ProcessEnv
  /** Called with the id of its process group. */
  onStart?: (group: number) => void
}

/** The maximum duration of a step in milliseconds. */
const limit = 60 * 60_000

/** Runs one step and returns its result. Never rejects: an error is a failure with the reason in the output. */
export async function runStep(step: Step, options: StepOptions = {}): Promise<Outcome> {
  const { log } = options
  if (log !== undefined) {
    mkdirSync(dirname(log), { recursive: true })
    for (const file of [log, `${log}.events`]) rmSync(file, { force: true })
  }
  const outcome =
    typeof step.run === 'function'
      ? await runWork(step.run)
      : await runProgram((await step.lane?.node?.()) ?? process.execPath, step.run, {
          ...options,
          env: { ...step.env, ...options.env },
        })
  const judged = judge(step, outcome)
  const added = judged.output.slice(outcome.output.length)
  if (log !== undefined) appendFileSync(log, typeof step.run === 'function' ? judged.output : added)
  const { events, cpuSeconds: used } = outcome
  return { events, ...(used !== undefined && { cpuSeconds: used }), ...judged }
}

function judge(step: Step, { output, ok }: Ended): { output: string; tally: Tally } {
  const one = { passed: ok ? 1 : 0, failed: ok ? 0 : 1, skipped: 0 }
  if (step.kind === 'setup') return { output, tally: { ...one, passed: 0 } }
  if (step.kind === 'check') return { output, tally: one }

  const tally = parseTally(output)
  if (!tally)
    return {
      output: `${output}\nIt ended without telling how many tests passed.\n`,
      tally: { ...one, passed: 0, failed: 1 },
    }
  const blame = (reason: string) => ({
    output: `${output}\n${reason}\n`,
    tally: { ...tally, failed: tally.failed + 1 },
  })
  if (tally.failed > 0) return { output, tally }
  if (!ok) return blame(`It told ${formatTally(tally)}, and then ended as a failure.`)
  if (tally.passed === 0) return blame('It ran no test.')
  return { output, tally }
}

interface Ended {
  output: string
  ok: boolean
  events: TestEvent[]
  cpuSeconds?: number
}

/** What the processes below this one used of the processors that had ended when a step ended last. */
let countedCpuSeconds = 0

async function runWork(work: () => Promise<unknown>): Promise<Ended> {
  try {
    await work()
    return { output: '', ok: true, events: [] }
  } catch (error) {
    return {
      output: error instanceof Error ? `${error.stack}\n${error.cause ?? ''}` : String(error),
      ok: false,
      events: [],
    }
  }
}

async function runProgram(
  node: string,
  run: string[],
  { log, onEvent, env, onStart }: StepOptions,
): Promise<Ended> {
  const events: TestEvent[] = []
  // without a log, the events are those of the step that this process is part of
  const recorded = log === undefined ? undefined : new TestEvents(`${log}.events`)
  const takeEvents = () => {
    for (const event of recorded?.next() ?? []) {
      events.push(event)
      onEvent?.(event)
    }
  }
  const group = new ProcessGroup(node, run, {
    env: { ...process.env, ...(log !== undefined && { [eventsVariable]: `${log}.events` }), ...env },
    cwd: projectDirectory,
    exitSignal: 'SIGTERM',
  })
  if (group.child.pid !== undefined) onStart?.(group.child.pid)
  if (log !== undefined)
    for (const stream of [group.child.stdout, group.child.stderr])
      stream?.on('data', (text: string) => appendFileSync(log, text))
  const watch = setInterval(takeEvents, 500)
  const timer = setTimeout(() => {
    const reason = `\nIt was ended after ${limit / 60_000} minutes.\n`
    group.output += reason
    if (log !== undefined) appendFileSync(log, reason)
    void group.end()
  }, limit)
  let used: number | undefined
  group.child.on('exit', () => {
    const ended = cpuSeconds()?.ended
    if (ended === undefined) return
    // without the steps that ended before
    used = ended - countedCpuSeconds
    countedCpuSeconds = ended
  })
  const code = await new Promise<number | null>(resolve => {
    group.child.on('close', resolve)
    group.child.on('error', () => resolve(null))
  })
  clearTimeout(timer)
  clearInterval(watch)
  // Processes that a step left running would affect other steps.
  await group.end()
  takeEvents()
  return { output: group.output, ok: code === 0, events, ...(used !== undefined && { cpuSeconds: used }) }
}

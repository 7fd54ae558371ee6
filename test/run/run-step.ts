import { projectDirectory } from '../host/paths.ts'
import { ProcessGroup } from '../host/processes.ts'
import type { Step } from './steps.ts'
import { formatTally, parseTally, type Tally } from './tally.ts'

export interface Outcome {
  tally: Tally
  output: string
}

/** The maximum duration of a step in milliseconds. */
const limit = 30 * 60_000

/** Runs one step and returns its result. Never rejects: an error is a failure with the reason in the output. */
export async function runStep(step: Step): Promise<Outcome> {
  const { output, ok } = typeof step.run === 'function' ? await runWork(step.run) : await runProgram(step.run)
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

async function runWork(work: () => Promise<unknown>): Promise<{ output: string; ok: boolean }> {
  try {
    await work()
    return { output: '', ok: true }
  } catch (error) {
    return {
      output: error instanceof Error ? `${error.stack}\n${error.cause ?? ''}` : String(error),
      ok: false,
    }
  }
}

async function runProgram(run: string[]): Promise<{ output: string; ok: boolean }> {
  const options = { env: process.env, cwd: projectDirectory, exitSignal: 'SIGTERM' } as const
  const group = new ProcessGroup(process.execPath, run, options)
  const timer = setTimeout(() => {
    group.output += `\nIt was ended after ${limit / 60_000} minutes.\n`
    void group.end()
  }, limit)
  const code = await new Promise<number | null>(resolve => {
    group.child.on('close', resolve)
    group.child.on('error', () => resolve(null))
  })
  clearTimeout(timer)
  // Processes that a step left running would affect other steps.
  await group.end()
  return { output: group.output, ok: code === 0 }
}

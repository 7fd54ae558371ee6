import { relative } from 'node:path'
import { projectDirectory } from '../host/paths.ts'
import type { Outcome } from './run-step.ts'
import type { Step } from './steps.ts'
import { addTallies, formatTally, type Tally } from './tally.ts'
import type { TestEvent } from './test-events.ts'

/** How many tests may be unsteady: any machine may be too slow once, but a second time is no accident. */
const UNSTEADY_ALLOWED = 1

/** The maximum length of a quoted part, in characters. */
const most = 3000

interface Finding {
  step: Step
  log: string
  /** The test, unless the step failed by itself. */
  test?: TestEvent
  reason: string
}

/** Tells what is wrong when it happens, and again at the end. */
export class Report {
  readonly #print: (text: string) => void
  readonly #tallies: Tally[] = []
  readonly #failures: Finding[] = []
  /** Tests that failed, and passed when they were tried again. */
  readonly #unsteady: Finding[] = []

  constructor(print: (text: string) => void) {
    this.#print = print
  }

  /** Tells at once what failed. */
  event(step: Step, log: string, test: TestEvent): void {
    const finding = { step, log, test, reason: test.error ?? '' }
    if (test.event === 'tried again') this.#print(describeFinding('↻', finding, 'is tried again'))
    if (test.event === 'failed') this.#print(describeFinding('✖', finding))
  }

  /** Adds a step that has ended, and returns whether it passed. */
  add(step: Step, log: string, { tally, output, events }: Outcome, duration: string): boolean {
    this.#tallies.push(tally)
    const failed = events.filter(({ event }) => event === 'failed')
    for (const test of failed) this.#failures.push({ step, log, test, reason: test.error ?? '' })
    const nameOf = ({ file, title }: TestEvent) => `${file}\n${title}`
    const names = new Set(failed.map(nameOf))
    const again = new Map(
      events.filter(({ event }) => event === 'tried again').map(test => [nameOf(test), test]),
    )
    for (const [name, test] of again)
      if (!names.has(name)) this.#unsteady.push({ step, log, test, reason: test.error ?? '' })

    const passed = tally.failed === 0
    // it ended too early, or isn't a suite
    if (tally.failed > failed.length) {
      const finding = { step, log, reason: output.slice(-most).trim() }
      this.#failures.push(finding)
      this.#print(describeFinding('✖', finding))
    }
    const count = step.kind === 'suite' ? `: ${formatTally(tally)}` : ''
    this.#print(`${passed ? '✔' : '✖'} ${step.name}${count} (${duration})`)
    return passed
  }

  /** Adds a step that didn't run. */
  drop(step: Step, because: string): void {
    this.#tallies.push({ passed: 0, failed: 1, skipped: 0 })
    this.#print(`✖ ${step.name}: not run, since "${because}" failed`)
  }

  /** Tells everything that is wrong, and the totals in the last line. Returns whether the run passed. */
  end(): boolean {
    const total = addTallies(this.#tallies)
    const isUnsteady = this.#unsteady.length > UNSTEADY_ALLOWED
    for (const finding of this.#failures) this.#print(describeFinding('✖', finding))
    if (this.#unsteady.length > 0) {
      const meaning = isUnsteady ? 'which fails the run' : 'which is let pass'
      this.#print(`Passed only when tried again: ${this.#unsteady.length}, ${meaning}.`)
      for (const finding of this.#unsteady) this.#print(describeFinding('↻', finding))
    }
    this.#print(formatTally(total))
    return total.failed === 0 && !isUnsteady
  }
}

function describeFinding(mark: string, { step, log, test, reason }: Finding, more = ''): string {
  const lines = (text: string) => shorten(text).replace(/^/gm, '    ')
  const variables = Object.entries(step.env ?? {}).map(([name, value]) => `${name}=${value} `)
  const alone = test && step.lane?.alone(test.file, test.select ?? test.title)
  return [
    `${mark} ${step.name}${test ? `: ${test.title}` : ''}${more && `, ${more}`}`,
    lines(reason),
    `    log: ${relative(projectDirectory, log)}`,
    ...(alone ? [`    alone: ${variables.join('')}${alone}`] : []),
  ].join('\n')
}

function shorten(text: string): string {
  return text.length <= most ? text : `${text.slice(0, most)}\n…`
}

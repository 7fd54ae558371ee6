import { appendFileSync, existsSync, readFileSync } from 'node:fs'

/** What happened to a test of any lane, or that a file's tests are done. */
export interface TestEvent {
  event: 'passed' | 'failed' | 'skipped' | 'tried again' | 'file done'
  /** The full title of the test, or of the hook that failed. */
  title: string
  /** The source of the test, below the project's folder. */
  file: string
  /** A file's time includes its hooks. */
  milliseconds: number
  /** The stack, with the difference if there is one. */
  error?: string
  /** What selects the test, if it isn't its title: a hook has the title of its suite. */
  select?: string
}

/**
 * Names the file to which each process with tests appends its events as lines of JSON, when they happen. So a run knows at
 * once what failed, in all lanes alike, however many processes are between.
 */
export const eventsVariable = 'PARLEY_TEST_EVENTS'

/** In milliseconds, also while a test mocks the time. */
const uptime = () => Number(process.hrtime.bigint() / 1_000_000n)

/** Appends the events of a Mocha run to a file. `sourceOf` names the source of a file with tests. */
export function recordEvents(runner: Mocha.Runner, file: string, sourceOf: (file: string) => string): void {
  const firstErrors = new Map<string, string>()
  let since = 0
  const record = (
    event: TestEvent['event'],
    { title, file: source, ...more }: Partial<TestEvent> & { title: string },
  ) =>
    appendFileSync(
      file,
      `${JSON.stringify({ event, title, file: sourceOf(source ?? ''), milliseconds: 0, ...more } satisfies TestEvent)}\n`,
    )
  const describeTest = (test: Mocha.Runnable) => ({
    title: test.fullTitle(),
    file: test.file ?? '',
    milliseconds: test.duration ?? 0,
  })
  runner.on('pass', test => record('passed', describeTest(test)))
  runner.on('pending', test => record('skipped', describeTest(test)))
  runner.on('retry', (test: Mocha.Test, error: Error) => {
    firstErrors.set(test.fullTitle(), stackOf(error))
    record('tried again', { ...describeTest(test), error: stackOf(error) })
  })
  runner.on('fail', (failed: Mocha.Runnable, error: Error) => {
    const before = firstErrors.get(failed.fullTitle())
    record('failed', {
      ...describeTest(failed),
      // the first failure says more: the second may only be a consequence
      error: stackOf(error) + (before === undefined ? '' : `\n\nIt had failed before with\n${before}`),
      // a failed hook skips the tests of its suite
      ...('type' in failed && failed.type === 'hook' && { select: failed.parent?.fullTitle() ?? '' }),
    })
  })
  runner.on('suite', suite => {
    if (suite.parent?.root) since = uptime()
  })
  runner.on('suite end', suite => {
    if (!suite.parent?.root) return
    const milliseconds = Math.round(uptime() - since)
    record('file done', { title: suite.title, file: suite.file ?? '', milliseconds })
  })
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

/** Reads a file of events while it grows. */
export class TestEvents {
  readonly #file: string
  #read = 0

  constructor(file: string) {
    this.#file = file
  }

  /** The events since the last call. */
  next(): TestEvent[] {
    if (!existsSync(this.#file)) return []
    const lines = readFileSync(this.#file, 'utf8').split('\n').slice(this.#read, -1)
    this.#read += lines.length
    return lines.map(line => JSON.parse(line) as TestEvent)
  }
}

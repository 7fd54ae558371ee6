/**
 * Loaded before all tests: property tests try the same cases on every run, so that a failure is caused by a change.
 *
 * - `PARLEY_RUNS`: how many cases each property test tries, 200 unless it's set. Tests whose cases are expensive try
 *   proportionally fewer, and tests' time limits grow with it.
 * - `PARLEY_SEED`: selects other cases.
 */
import fc from 'fast-check'

const DEFAULT_RUNS = 200

/** Selects the cases that property tests try. */
export const SEED = Number(process.env.PARLEY_SEED ?? 1)

/** How many cases a property test tries. */
export const RUNS = Number(process.env.PARLEY_RUNS ?? DEFAULT_RUNS)

// with the error of the case that failed, which Mocha would not print
fc.configureGlobal({ seed: SEED, numRuns: RUNS, includeErrorInReport: true })

/**
 * How many cases a test tries whose cases are expensive (processes, Git, disks, documents), or many small ones in one:
 * `count` where others try 200.
 */
export function scaledRuns(count: number): number {
  return Math.ceil((count * RUNS) / DEFAULT_RUNS)
}

/** More cases take longer. */
export const mochaHooks = {
  beforeEach(this: Mocha.Context): void {
    const test = this.currentTest
    if (test && RUNS > DEFAULT_RUNS) test.timeout((test.timeout() * RUNS) / DEFAULT_RUNS)
  },
}

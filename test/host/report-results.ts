import { existsSync, readFileSync } from 'node:fs'
import type { TestResult } from '../integration/results.ts'
import { formatTally } from '../run/tally.ts'

/** Prints the results file of the tests in the extension host, and returns whether all tests passed. */
export function reportResults(file: string): boolean {
  const results: TestResult[] = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : []
  const marks = { passed: '✔', failed: '✖', skipped: '-' }
  for (const { title, state, milliseconds, error, retriedAfter } of results) {
    console.log(`${marks[state]} ${title} (${milliseconds} ms)`)
    if (error !== undefined) console.log(error.replace(/^/gm, '    '))
    if (retriedAfter === undefined) continue
    // one that failed both times isn't unsteady, but its first failure may say more
    console.log(state === 'passed' ? `↻ ${title}` : '    It had failed before with')
    console.log(retriedAfter.replace(/^/gm, '    '))
  }
  const count = (state: TestResult['state']) => results.filter(result => result.state === state).length
  const tally = { passed: count('passed'), failed: count('failed'), skipped: count('skipped') }
  console.log(formatTally(tally))
  return tally.failed === 0 && tally.passed > 0
}

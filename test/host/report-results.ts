import { formatTally } from '../run/tally.ts'
import { TestEvents } from '../run/test-events.ts'

/** Prints the events of the tests in the extension host, and returns whether all tests passed. */
export function reportResults(file: string): boolean {
  const events = new TestEvents(file).next()
  const marks = { passed: '✔', failed: '✖', skipped: '-', 'tried again': '↻' }
  for (const { event, title, milliseconds, error } of events) {
    if (event === 'file done') continue
    console.log(`${marks[event]} ${title} (${milliseconds} ms)`)
    if (error !== undefined) console.log(error.replace(/^/gm, '    '))
  }
  const count = (wanted: string) => events.filter(({ event }) => event === wanted).length
  const tally = { passed: count('passed'), failed: count('failed'), skipped: count('skipped') }
  console.log(formatTally(tally))
  return tally.failed === 0 && tally.passed > 0
}

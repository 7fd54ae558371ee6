/** How many tests of a suite passed, failed and were skipped. */
export interface Tally {
  passed: number
  failed: number
  skipped: number
}

/** The last line of every suite's output: `12 passed, 0 failed`, with `, 1 skipped` if any were. */
export function formatTally({ passed, failed, skipped }: Tally): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`
}

/** The last tally in an output. */
export function parseTally(output: string): Tally | undefined {
  const match = [...output.matchAll(/^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?\r?$/gm)].at(-1)
  return match && { passed: Number(match[1]), failed: Number(match[2]), skipped: Number(match[3] ?? 0) }
}

export function addTallies(tallies: Tally[]): Tally {
  const sum = { passed: 0, failed: 0, skipped: 0 }
  for (const { passed, failed, skipped } of tallies) {
    sum.passed += passed
    sum.failed += failed
    sum.skipped += skipped
  }
  return sum
}

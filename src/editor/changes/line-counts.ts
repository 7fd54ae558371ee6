import { structuredPatch } from 'diff'

/** Comparing takes this long at most, in milliseconds. */
const COMPARE_MS = 100

/** Lines that were added and removed; neither is told where there is too much to compare. */
export function countLines(before: string, after: string): { added?: number; removed?: number } {
  const patch = structuredPatch('', '', before, after, '', '', { context: 0, timeout: COMPARE_MS })
  if (!patch) return {}
  let added = 0
  let removed = 0
  for (const line of patch.hunks.flatMap(hunk => hunk.lines)) {
    if (line.startsWith('+')) added++
    else if (line.startsWith('-')) removed++
  }
  return { added, removed }
}

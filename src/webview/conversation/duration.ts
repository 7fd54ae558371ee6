import type { Entry } from '../../conversation/state.ts'
import { formatDuration, formatSeconds } from '../l10n.ts'
import { now } from '../ui/clock.ts'

/** How long an entry took; while it runs, so far. Nothing for less than a tenth of a second or for a replay. */
export function entryDuration(entry: Entry, running: boolean): string | undefined {
  if (entry.startedAt === undefined) return undefined
  if (entry.endedAt !== undefined) {
    const took = entry.endedAt - entry.startedAt
    return took >= 100 ? formatDuration(took) : undefined
  }
  if (!running) return undefined
  const so = now.value - entry.startedAt
  return so >= 1000 ? formatSeconds(so / 1000) : undefined
}

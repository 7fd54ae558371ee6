import type { Entry } from '../../../conversation/state.ts'
import { formatDuration, formatSeconds } from '../../l10n.ts'
import { now } from '../../ui/clock.ts'

/**
 * How long an entry took, a thought in whole seconds; while it runs, so far. Nothing for less than a tenth of a second or
 * for a replay.
 */
export function entryDuration(entry: Entry, running: boolean): string | undefined {
  if (entry.startedAt === undefined) return undefined
  if (entry.endedAt !== undefined) {
    const took = entry.endedAt - entry.startedAt
    if (took < 100) return undefined
    return entry.kind === 'message' && took >= 1000
      ? formatSeconds(Math.round(took / 1000))
      : formatDuration(took)
  }
  if (!running) return undefined
  const so = now.value - entry.startedAt
  return so >= 1000 ? formatSeconds(so / 1000) : undefined
}

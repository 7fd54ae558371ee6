import type { TurnSummary } from './state.ts'

/** A turn is notable if it took at least this long, in milliseconds, or called at least this many tools. */
const LONG_MS = 20_000
const MANY_TOOLS = 5

/** Whether a turn did more than is obvious, so that a summary line at its end is useful. */
export function isNotable({ took = 0, tools, files }: TurnSummary): boolean {
  return took >= LONG_MS || tools >= MANY_TOOLS || (files?.count ?? 0) > 1
}

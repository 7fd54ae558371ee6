import type { TurnSummary } from './state.ts'

/** A turn that took this long, in milliseconds, or called this many tools, is notable whatever it did. */
const LONG_MS = 20_000
const MANY_TOOLS = 5

/** Whether a turn did more than is obvious, so that a line at its end is useful. */
export function isNotable({ took = 0, tools, files }: TurnSummary): boolean {
  return took >= LONG_MS || tools >= MANY_TOOLS || (files?.count ?? 0) > 1
}

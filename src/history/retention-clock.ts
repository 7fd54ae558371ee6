import { isDeepStrictEqual } from 'node:util'
import * as z from 'zod'

const DAY_MS = 86_400_000
/** How far the clock may be from the time that was last accepted: a weekend. Milliseconds. */
const LONGEST_STEP_MS = 3 * DAY_MS
/** On how many later days a time must be confirmed that is further away. */
const CONFIRMING_DAYS = 3
/** Less than a day, since people don't start to work at the same time each day. */
const NEXT_DAY_MS = 0.75 * DAY_MS
/** What was seen is stored if it's this much later. Milliseconds. */
const STORE_MS = 3_600_000

const seenClock = z.object({ accepted: z.number(), days: z.array(z.number()) })

/** What the clock has shown on this machine. Milliseconds since the epoch. */
export interface SeenClock {
  /** the last time that is accepted as the real one; 0: none yet */
  accepted: number
  /** times that were seen since, each at least about a day later than the one before, if the clock is far from `accepted` */
  days: readonly number[]
}

export const UNSEEN_CLOCK: SeenClock = { accepted: 0, days: [] }

/** As it was stored. A damaged value is as good as none. */
export function readSeenClock(json: unknown): SeenClock {
  try {
    return seenClock.parse(JSON.parse(String(json)))
  } catch {
    return UNSEEN_CLOCK
  }
}

/** Whether what was seen is to be stored. */
export function isNews(seen: SeenClock, known: SeenClock): boolean {
  return Math.abs(seen.accepted - known.accepted) >= STORE_MS || !isDeepStrictEqual(seen.days, known.days)
}

/**
 * The clock shows `now`. A wrong clock must not make everything look old: a time that is far from the accepted one, in either
 * direction, is accepted only once the clock went on from there on some later days.
 */
export function observe({ accepted, days }: SeenClock, now: number, maxAgeMs: number): SeenClock {
  const step = Math.max(DAY_MS, Math.min(LONGEST_STEP_MS, maxAgeMs > 0 ? maxAgeMs / 2 : LONGEST_STEP_MS))
  if (Math.abs(now - accepted) <= step) return { accepted: now, days: [] }
  const last = days.at(-1)
  if (last === undefined || now < last) return { accepted, days: [now] }
  if (now - last < NEXT_DAY_MS) return { accepted, days }
  if (days.length < CONFIRMING_DAYS) return { accepted, days: [...days, now] }
  // the first one is confirmed, and those that aren't far from it
  const [first = now, ...later] = [...days, now]
  let confirmed = first
  while (later[0] !== undefined && later[0] - confirmed <= step) confirmed = later.shift()!
  return { accepted: confirmed, days: later }
}

/** The time by which the age of conversations is judged. */
export function judgedTime({ accepted }: SeenClock, now: number): number {
  return Math.min(accepted, now)
}

/** The time of a write: while the clock is set back, a conversation must not look old later. */
export function writeTime({ accepted }: SeenClock, now: number): number {
  return Math.max(accepted, now)
}

import * as z from 'zod'
import type { TranscriptDatabase } from './transcript-database.ts'

const DAY_MS = 86_400_000
/** Maximum age that a step of the clock adds: a weekend. Milliseconds. */
const LONGEST_STEP_MS = 3 * DAY_MS
/** A longer step adds no age: the clock was wrong, or Parley wasn't used for a long time. Milliseconds. */
const JUMP_MS = 31 * DAY_MS
/** A smaller step back counts as a correction of the clock. Milliseconds. */
const CORRECTION_MS = DAY_MS / 2
/** Time after which the clock's time is stored again. Milliseconds. */
const STORE_MS = 3_600_000
/** Maximum number of stored runs; the earliest are forgotten first. */
const MAX_RUNS = 200

const run = z.object({ from: z.number(), to: z.number(), age: z.number() })
const seenClock = z.object({ runs: z.array(run) })

/**
 * The times that this machine's clock has shown while Parley ran, as periods without a jump, in order. A time is compared only within its
 * period, so times of a wrong clock and of a right one are never mixed: at most, a jump makes something expire later.
 */
export interface SeenClock {
  /**
   * `from` and `to`: what the clock showed, in milliseconds since the epoch; `age`: the time that had been counted at `from`, in
   * milliseconds
   */
  runs: ReadonlyArray<z.output<typeof run>>
}

export const UNSEEN_CLOCK: SeenClock = { runs: [] }

/** Reads the stored times; a damaged value counts as missing. */
function readSeenClock(json: unknown): SeenClock {
  try {
    return seenClock.parse(JSON.parse(String(json)))
  } catch {
    return UNSEEN_CLOCK
  }
}

/** Whether `seen` differs enough from the stored times to be stored. */
function isNews(seen: SeenClock, known: SeenClock): boolean {
  const [now, before] = [seen.runs.at(-1), known.runs.at(-1)]
  return now?.from !== before?.from || (now?.to ?? 0) - (before?.to ?? 0) >= STORE_MS
}

/** Adds the time `now` that the clock shows. */
export function observe({ runs }: SeenClock, now: number): SeenClock {
  const last = runs.at(-1)
  if (!last) return { runs: [{ from: now, to: now, age: 0 }] }
  const step = now - last.to
  if (step >= -CORRECTION_MS && step <= LONGEST_STEP_MS)
    return { runs: [...runs.slice(0, -1), { ...last, to: Math.max(last.to, now) }] }
  // a step back cancels the age counted by a wrong step forward
  const counted = Math.abs(step) > JUMP_MS ? 0 : Math.max(-LONGEST_STEP_MS, Math.min(step, LONGEST_STEP_MS))
  const age = last.age + last.to - last.from + counted
  return { runs: [...runs, { from: now, to: now, age }].slice(-MAX_RUNS) }
}

/** How long ago this time was on the clock, in milliseconds: if the clock was set, the result is rather too low than too high. */
export function ageOf({ runs }: SeenClock, time: number): number {
  const last = runs.at(-1)
  if (!last) return 0
  const within = runs.filter(({ from, to }) => time >= from && time <= to)
  const counted = within.map(({ from, age }) => age + time - from)
  // a time before the clock was first observed, or while Parley wasn't used, counts as the start of the next run
  const later = runs.filter(({ from }) => from > time).sort((a, b) => a.from - b.from)
  if (counted.length === 0 && later[0]) counted.push(later[0].age)
  // no observed time is as late as this one, so it counts as now
  if (counted.length === 0) return 0
  return Math.max(0, last.age + last.to - last.from - Math.max(...counted))
}

/** The clock that all windows of this machine share: nothing expires because the machine's clock was set. */
export class StoredClock {
  readonly #database: TranscriptDatabase
  readonly #now: () => number
  #seen = UNSEEN_CLOCK

  constructor(database: TranscriptDatabase, now: () => number) {
    this.#database = database
    this.#now = now
  }

  /** Reads the times that windows have seen, and adds the current one. */
  look(): void {
    const read = () => readSeenClock(this.#database.all('SELECT seen FROM clock')[0]?.seen)
    const known = this.#database.attempt(read, UNSEEN_CLOCK)
    this.#seen = observe(known, this.#now())
    if (!isNews(this.#seen, known)) return
    const json = JSON.stringify(this.#seen)
    this.#database.attempt(() => this.#database.run('REPLACE INTO clock VALUES (1, ?)', json), undefined)
  }

  /** The age of something from this time, in milliseconds: never more than its real age. */
  ageOf(time: number): number {
    this.#seen = observe(this.#seen, this.#now())
    return ageOf(this.#seen, time)
  }
}

import { ageOf, isNews, observe, readSeenClock, UNSEEN_CLOCK } from './retention-clock.ts'
import type { TranscriptDatabase } from './transcript-database.ts'

/** What the clock has shown on this machine, which all windows share: nothing is old because a clock was set. */
export class StoredClock {
  readonly #database: TranscriptDatabase
  readonly #now: () => number
  #seen = UNSEEN_CLOCK

  constructor(database: TranscriptDatabase, now: () => number) {
    this.#database = database
    this.#now = now
  }

  /** Reads what the windows have seen, and adds what the clock shows. */
  look(): void {
    const read = () => readSeenClock(this.#database.all('SELECT seen FROM clock')[0]?.seen)
    const known = this.#database.attempt(read, UNSEEN_CLOCK)
    this.#seen = observe(known, this.#now())
    if (!isNews(this.#seen, known)) return
    const json = JSON.stringify(this.#seen)
    this.#database.attempt(() => this.#database.run('REPLACE INTO clock VALUES (1, ?)', json), undefined)
  }

  /** How old something of that time is since it was looked at the clock, in milliseconds: never older than it really is. */
  ageOf(time: number): number {
    this.#seen = observe(this.#seen, this.#now())
    return ageOf(this.#seen, time)
  }
}

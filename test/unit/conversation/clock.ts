import type { Schedule } from '../../../src/conversation/turns.ts'

/** A clock that the test advances. */
export class Clock {
  #due: Array<{ at: number; run: () => void }> = []
  now = 1000

  readonly schedule: Schedule = (run, ms) => {
    const entry = { at: this.now + ms, run }
    this.#due.push(entry)
    return {
      dispose: () => {
        this.#due = this.#due.filter(known => known !== entry)
      },
    }
  }

  get waiting(): number {
    return this.#due.length
  }

  pass(ms: number): void {
    this.now += ms
    const due = this.#due.filter(entry => entry.at <= this.now)
    this.#due = this.#due.filter(entry => entry.at > this.now)
    for (const entry of due) entry.run()
  }
}

import { withTimeout } from '../../common/async.ts'
import { REVIEW_STEP_MS } from '../../common/limits.ts'

/** The maximum number of steps that wait for the previous step. */
const MAX_WAITING = 2

/**
 * Runs the user's steps in a review (keep, revert, next, previous) one after the other. Each step starts where the previous one ended. Drops
 * steps while too many wait.
 */
export class ReviewSteps {
  readonly #onTaken: () => void
  #latest: Promise<unknown> = Promise.resolve()
  #waiting = 0

  /** `onTaken` is called after each step. */
  constructor(onTaken: () => void) {
    this.#onTaken = onTaken
  }

  /**
   * Takes a step after the previous one, or soon if the previous step waits for the user. Does nothing while too many steps wait: for the
   * repeats of a key that is held down, the user hasn't seen the changes.
   */
  async take(work: () => Promise<void>): Promise<void> {
    if (this.#waiting === MAX_WAITING) return
    this.#waiting++
    const now = withTimeout(this.#latest, REVIEW_STEP_MS).then(() => {
      this.#waiting--
      return work()
    })
    this.#latest = now.catch(() => {})
    try {
      await now
    } finally {
      this.#onTaken()
    }
  }
}

import { withTimeout } from '../../common/async.ts'
import { REVIEW_STEP_MS } from '../../common/limits.ts'

/** How many steps may wait for the one before. */
const MAX_WAITING = 2

/** The steps that a user takes through changes with keys. Each applies to the change where the user is after the step before. */
export class ReviewSteps {
  readonly #onTaken: () => void
  #latest: Promise<unknown> = Promise.resolve()
  #waiting = 0

  /** `onTaken` is called after each step. */
  constructor(onTaken: () => void) {
    this.#onTaken = onTaken
  }

  /**
   * Takes a step after the one before, or soon if that waits for the user. Does nothing while others wait: the user hasn't seen the changes
   * to which the repeats of a key that is held down would apply.
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

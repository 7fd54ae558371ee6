/** Work in steps of a few milliseconds each, so that other work can run in between. `yield`s wherever a step may end. */
export type SteppedWork<T> = Generator<void, T, void>

/** Number of units of work (entries, turns or comparisons) in a step. */
const STEP = 1000

/** Counts the work of a step and tells when the step is over. */
export class StepBudget {
  #done = 0

  isSpent(work = 1): boolean {
    this.#done += work
    if (this.#done < STEP) return false
    this.#done = 0
    return true
  }
}

/** Runs all steps immediately and returns the result. */
export function runAllSteps<T>(steps: SteppedWork<T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

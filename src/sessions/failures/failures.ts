import type { Failure } from './failure.ts'

/** What failed in one conversation and still stands on the screen, each under an id of its own. */
export class Failures {
  readonly #failures = new Map<string, Failure>()
  readonly #changed: () => void
  #next = 1

  constructor(changed: () => void) {
    this.#changed = changed
  }

  get all(): ReadonlyMap<string, Failure> {
    return this.#failures
  }

  has(type: Failure['type']): boolean {
    return [...this.#failures.values()].some(failure => failure.type === type)
  }

  add(failure: Failure): void {
    this.replace(`failure-${this.#next++}`, failure)
  }

  replace(id: string, failure: Failure): void {
    this.#failures.set(id, failure)
    this.#changed()
  }

  remove(id: string): void {
    if (this.#failures.delete(id)) this.#changed()
  }

  /** Tells nobody: whoever drops has more to do. */
  drop(type: Failure['type']): void {
    for (const [id, failure] of this.#failures) if (failure.type === type) this.#failures.delete(id)
  }

  /** Tells nobody: whoever clears has more to do. */
  clear(): void {
    this.#failures.clear()
  }
}

import { SLOW_ANSWER_MS } from '../../common/limits.ts'
import type { OpenSession } from '../open-session.ts'
import type { Failure } from './failure.ts'

/** The failures that a conversation shows, by id. */
export class Failures {
  readonly #failures = new Map<string, Failure>()
  readonly #changed: () => void
  readonly #added: (failure: Failure) => void
  #next = 1

  constructor(changed: () => void, added: (failure: Failure) => void = () => {}) {
    this.#changed = changed
    this.#added = added
  }

  get all(): ReadonlyMap<string, Failure> {
    return this.#failures
  }

  has(type: Failure['type']): boolean {
    return [...this.#failures.values()].some(failure => failure.type === type)
  }

  add(failure: Failure): void {
    this.#added(failure)
    this.replace(`failure-${this.#next++}`, failure)
  }

  replace(id: string, failure: Failure): void {
    this.#failures.set(id, failure)
    this.#changed()
  }

  remove(id: string): void {
    if (this.#failures.delete(id)) this.#changed()
  }

  /** Doesn't notify: the caller does so after further changes. */
  drop(type: Failure['type']): void {
    for (const [id, failure] of this.#failures) if (failure.type === type) this.#failures.delete(id)
  }

  /** Doesn't notify: the caller does so after further changes. */
  clear(): void {
    this.#failures.clear()
  }
}

/**
 * Says of the options of the conversation on the screen which changes the agent has not answered for long, until it does
 * or the person gives them up.
 */
export class SlowOptions {
  readonly #failures: Failures
  readonly #slowAfterMs: number
  readonly #waiting = new Map<string, NodeJS.Timeout>()
  #open: OpenSession | undefined

  constructor(failures: Failures, slowAfterMs = SLOW_ANSWER_MS) {
    this.#failures = failures
    this.#slowAfterMs = slowAfterMs
  }

  /** The conversation on the screen is another, or what waits in it changed. */
  look(open: OpenSession | undefined): void {
    const wait = open && open.session.phase === 'ready' ? open.session.pendingOptions : []
    const another = this.#open !== open
    this.#open = open
    for (const [optionId, timer] of this.#waiting) {
      if (!another && wait.includes(optionId)) continue
      clearTimeout(timer)
      this.#waiting.delete(optionId)
      this.#withdraw(optionId)
    }
    if (!open) return
    for (const optionId of wait) {
      if (this.#waiting.has(optionId)) continue
      const timer = setTimeout(() => this.#tell(open, optionId), this.#slowAfterMs)
      this.#waiting.set(optionId, timer)
    }
  }

  #tell({ agentId, agentName, session }: OpenSession, optionId: string): void {
    const option = session.state.configOptions.find(({ id }) => id === optionId)
    const seconds = Math.round(this.#slowAfterMs / 1000)
    const optionName = option?.name ?? optionId
    this.#failures.add({ type: 'slow-option', agentId, agentName, optionId, optionName, seconds })
  }

  #withdraw(optionId: string): void {
    for (const [id, failure] of this.#failures.all) {
      if (failure.type === 'slow-option' && failure.optionId === optionId) this.#failures.remove(id)
    }
  }
}

import { type Disposable, toDisposable } from './disposable.ts'

/** Subscribes a listener until the returned disposable is disposed. */
export type Event<T> = (listener: (value: T) => void) => Disposable

/** The firing side of an {@link Event}. A listener that throws doesn't affect the others. */
export class Emitter<T> implements Disposable {
  readonly #listeners = new Set<(value: T) => void>()
  readonly #onError: (error: unknown) => void

  constructor(onError: (error: unknown) => void = rethrowLater) {
    this.#onError = onError
  }

  readonly event: Event<T> = listener => {
    const own = (value: T) => listener(value)
    this.#listeners.add(own)
    return toDisposable(() => this.#listeners.delete(own))
  }

  fire(value: T): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener(value)
      } catch (error) {
        this.#onError(error)
      }
    }
  }

  get hasListeners(): boolean {
    return this.#listeners.size > 0
  }

  dispose(): void {
    this.#listeners.clear()
  }
}

function rethrowLater(error: unknown): void {
  queueMicrotask(() => {
    throw error
  })
}

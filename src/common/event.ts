import { type Disposable, toDisposable } from './disposable.ts'

/** Subscribes a listener until the returned disposable is disposed. */
export type Event<T> = (listener: (value: T) => void) => Disposable

/** Fires an {@link Event}. A listener that throws doesn't affect the others. */
export class Emitter<T> implements Disposable {
  readonly #listeners = new Set<(value: T) => void>()
  /** a copy of the listeners, until one is added or removed */
  #current: ReadonlyArray<(value: T) => void> | undefined
  readonly #onError: (error: unknown) => void

  constructor(onError: (error: unknown) => void = rethrowLater) {
    this.#onError = onError
  }

  readonly event: Event<T> = listener => {
    const own = (value: T) => listener(value)
    this.#listeners.add(own)
    this.#current = undefined
    return toDisposable(() => {
      this.#listeners.delete(own)
      this.#current = undefined
    })
  }

  fire(value: T): void {
    this.#current ??= [...this.#listeners]
    for (const listener of this.#current) {
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
    this.#current = undefined
  }
}

function rethrowLater(error: unknown): void {
  queueMicrotask(() => {
    throw error
  })
}

/** Something that holds a resource until it is disposed. Disposing twice does nothing. */
export interface Disposable {
  dispose(): void
}

/** Makes a disposable from a function, which runs once. */
export function toDisposable(release: () => void): Disposable {
  let done = false
  return {
    dispose() {
      if (done) return
      done = true
      release()
    },
  }
}

/** Owns disposables and releases them in reverse order; a disposable that is added after disposal is disposed immediately. */
export class DisposableStore implements Disposable {
  readonly #items = new Set<Disposable>()
  #disposed = false

  get isDisposed(): boolean {
    return this.#disposed
  }

  add<T extends Disposable>(item: T): T {
    if (this.#disposed) item.dispose()
    else this.#items.add(item)
    return item
  }

  /** Disposes and removes one item. */
  release(item: Disposable): void {
    if (this.#items.delete(item)) item.dispose()
  }

  dispose(): void {
    if (this.#disposed) return
    this.#disposed = true
    for (const item of [...this.#items].reverse()) item.dispose()
    this.#items.clear()
  }
}

/** Base class of objects that own disposables: disposing such an object disposes everything that it registered. */
export abstract class Owner implements Disposable {
  protected readonly owned = new DisposableStore()

  protected register<T extends Disposable>(item: T): T {
    return this.owned.add(item)
  }

  dispose(): void {
    this.owned.dispose()
  }
}

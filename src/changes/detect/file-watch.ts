import { type Disposable, Owner, toDisposable } from '../../common/disposable.ts'

/** How long reported paths are gathered, since a build or a checkout changes many files at once. Milliseconds. */
const GATHER_MS = 100

/**
 * Watches some files on disk, by their keys, and reports which changed. If a folder is moved or deleted, the system may report only the
 * folder, so a reported path may be a folder that contains the file. Watches nothing while there is no listener.
 */
export class FileWatch extends Owner {
  readonly #begin: ((changed: (path: string) => void) => Disposable) | undefined
  readonly #keyOf: (path: string) => string
  readonly #changed: (keys: ReadonlySet<string>) => void
  readonly #waiting = new Set<string>()
  #watching: Disposable | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(
    begin: ((changed: (path: string) => void) => Disposable) | undefined,
    keyOf: (path: string) => string,
    changed: (keys: ReadonlySet<string>) => void,
  ) {
    super()
    this.#begin = begin
    this.#keyOf = keyOf
    this.#changed = changed
    this.register(toDisposable(() => this.set(false)))
  }

  /** Starts or stops watching, depending on whether there is anything to watch. */
  set(on: boolean): void {
    if (on === (this.#watching !== undefined)) return
    if (on) {
      this.#watching = this.#begin?.(path => this.#note(path))
      return
    }
    this.#watching?.dispose()
    this.#watching = undefined
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#waiting.clear()
  }

  #note(path: string): void {
    this.#waiting.add(this.#keyOf(path))
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      const keys = new Set(this.#waiting)
      this.#waiting.clear()
      this.#changed(keys)
    }, GATHER_MS)
  }
}

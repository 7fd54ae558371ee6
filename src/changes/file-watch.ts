import { type Disposable, Owner, toDisposable } from '../common/disposable.ts'

/** Debounce, since a build or a checkout changes many files at once. Milliseconds. */
const GATHER_MS = 100

/** Watches some files on disk, by their keys, and reports which changed. Watches nothing while there is no listener. */
export class FileWatch extends Owner {
  readonly #begin: ((changed: (path: string) => void) => Disposable) | undefined
  readonly #keyOf: (path: string) => string
  readonly #changed: (keys: string[]) => void
  /** by the key of another path of a file (through a link): its own key */
  readonly #aliases = new Map<string, string>()
  readonly #waiting = new Set<string>()
  #watching: Disposable | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(
    begin: ((changed: (path: string) => void) => Disposable) | undefined,
    keyOf: (path: string) => string,
    changed: (keys: string[]) => void,
  ) {
    super()
    this.#begin = begin
    this.#keyOf = keyOf
    this.#changed = changed
    this.register(toDisposable(() => this.set(false)))
  }

  /** Whether there is anything to watch. */
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
    this.#aliases.clear()
  }

  /** The file with this key can also be reached by another path. */
  alias(path: string, key: string): void {
    const other = this.#keyOf(path)
    if (other !== key) this.#aliases.set(other, key)
  }

  #note(path: string): void {
    const key = this.#keyOf(path)
    this.#waiting.add(this.#aliases.get(key) ?? key)
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      const keys = [...this.#waiting]
      this.#waiting.clear()
      this.#changed(keys)
    }, GATHER_MS)
  }
}

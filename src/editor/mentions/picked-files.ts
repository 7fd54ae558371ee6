import type { KeyValueStore } from '../../common/key-value-store.ts'

const STORED = 'pickedFiles'
/** Maximum number of picked files; beyond that, the oldest are removed. */
const MAX_PICKED = 500

/** The files that the user picked: the real path that each had at that time, by the key of the picked path. */
export class PickedFiles {
  readonly #picked = new Map<string, string>()
  #store: KeyValueStore | undefined

  keepIn(store: KeyValueStore): void {
    this.#store = store
    const stored = store.get<unknown>(STORED)
    for (const pair of Array.isArray(stored) ? stored.slice(-MAX_PICKED) : []) {
      const [file, target]: unknown[] = Array.isArray(pair) ? pair : []
      if (typeof file === 'string' && typeof target === 'string') this.#picked.set(file, target)
    }
  }

  add(file: string, target: string): void {
    if (this.#picked.get(file) === target) return
    this.#picked.delete(file)
    this.#picked.set(file, target)
    const [first] = this.#picked.keys()
    if (this.#picked.size > MAX_PICKED && first !== undefined) this.#picked.delete(first)
    this.#store?.set(STORED, [...this.#picked])
  }

  targetOf(file: string): string | undefined {
    return this.#picked.get(file)
  }
}

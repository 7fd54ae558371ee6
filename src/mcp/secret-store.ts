import { KeyedQueue } from '../common/async.ts'

/** Stores secrets, like VS Code's `SecretStorage`. */
export interface SecretStore {
  get(key: string): PromiseLike<string | undefined>
  store(key: string, value: string): PromiseLike<void>
  delete(key: string): PromiseLike<void>
}

/** A list of the keys in a secret store, stored there as well, since the store can't list its content. */
export class SecretIndex {
  readonly #store: SecretStore
  readonly #key: string
  /** The list is read and then written. */
  readonly #queue = new KeyedQueue()

  constructor(store: SecretStore, key: string) {
    this.#store = store
    this.#key = key
  }

  async items(): Promise<string[]> {
    const stored = await this.#store.get(this.#key)
    try {
      const items: unknown = JSON.parse(stored ?? '[]')
      return Array.isArray(items) ? items.filter(item => typeof item === 'string') : []
    } catch {
      return []
    }
  }

  add(item: string): Promise<void> {
    return this.#change(items => (items.includes(item) ? items : [...items, item]))
  }

  delete(...deleted: string[]): Promise<void> {
    return this.#change(items => items.filter(item => !deleted.includes(item)))
  }

  #change(change: (items: string[]) => string[]): Promise<void> {
    return this.#queue.run(this.#key, async () => {
      const before = await this.items()
      const after = change(before)
      if (after.length === 0) await this.#store.delete(this.#key)
      else if (after !== before) await this.#store.store(this.#key, JSON.stringify(after))
    })
  }
}

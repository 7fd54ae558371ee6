import * as z from 'zod'
import type { KeyValueStore } from '../../common/key-value-store.ts'

const STORED = 'parley.editChoice'
const choice = z.object({ restores: z.boolean(), forgets: z.boolean() })

/**
 * Stores the user's last choice when editing a prompt: whether later file changes are reverted, and whether the agent forgets the later
 * turns.
 */
export class EditChoice {
  readonly #store: KeyValueStore

  constructor(store: KeyValueStore) {
    this.#store = store
  }

  get(): z.infer<typeof choice> {
    return choice.safeParse(this.#store.get(STORED)).data ?? { restores: false, forgets: true }
  }

  set(chosen: z.infer<typeof choice>): void {
    this.#store.set(STORED, chosen)
  }
}

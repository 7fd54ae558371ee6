import * as z from 'zod'
import type { KeyValueStore } from '../../common/key-value-store.ts'

const STORED = 'parley.editChoice'
const choice = z.object({ restores: z.boolean(), forgets: z.boolean() })

/** What the user chose last for what came after an edited prompt: whether its files are restored, and the agent forgets it. */
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

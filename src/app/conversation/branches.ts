import * as z from 'zod'
import type { KeyValueStore } from '../../common/key-value-store.ts'

const STORED = 'parley.branches'
/** The maximum number of branches. The oldest ones are forgotten first. */
const MAX_BRANCHES = 500

const branch = z.object({
  from: z.string().min(1),
  to: z.string().min(1),
  prompt: z.string().max(1000),
  at: z.number().int().nonnegative(),
  restored: z.string().optional(),
})

/** A session that was forked before a prompt, and the fork. */
export interface Branch {
  /** the key of the original session */
  from: string
  /** the key of the fork */
  to: string
  /** the beginning of the prompt at which the sessions were forked */
  prompt: string
  /** milliseconds since the epoch */
  at: number
  /** The id of the undo if files were restored for the fork, so that the user can undo the restore. */
  restored?: string
}

/** Stores which sessions were forked at a prompt, so that the user can return to the abandoned ones. */
export class Branches {
  readonly #store: KeyValueStore

  constructor(store: KeyValueStore) {
    this.#store = store
  }

  add(added: Branch): void {
    this.#store.set(STORED, [...this.#all(), added].slice(-MAX_BRANCHES))
  }

  /** Returns all branches that are connected with the session, the latest first. */
  of(key: string): Branch[] {
    const all = this.#all()
    const keys = new Set([key])
    for (let before = 0; before !== keys.size; ) {
      before = keys.size
      for (const { from, to } of all) if (keys.has(from) || keys.has(to)) keys.add(from).add(to)
    }
    return all.filter(({ from }) => keys.has(from)).reverse()
  }

  /** Returns the key of the session from which this one was forked before a prompt. */
  originOf(key: string): string | undefined {
    return this.#all().findLast(({ to }) => to === key)?.from
  }

  #all(): Branch[] {
    const read = z.array(z.unknown()).safeParse(this.#store.get(STORED))
    return (read.data ?? []).flatMap(one => {
      const { success, data } = branch.safeParse(one)
      if (!success) return []
      const { restored, ...known } = data
      return restored === undefined ? known : { ...known, restored }
    })
  }
}

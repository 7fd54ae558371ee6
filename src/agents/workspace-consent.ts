import { createHash } from 'node:crypto'
import type { KeyValueStore } from '../common/key-value-store.ts'

const ACCEPTED_LAUNCHES = 'parley.acceptedWorkspaceLaunches'
const MAX_ACCEPTED = 500

/**
 * The user's consent to settings of this workspace that run something. Without consent, anyone who can change the workspace's files could
 * run programs with the next pull. Each consent is for the exact content: the user is asked about any change.
 */
export class WorkspaceConsent {
  readonly #store: KeyValueStore
  readonly #asking = new Map<string, Promise<boolean>>()

  constructor(store: KeyValueStore) {
    this.#store = store
  }

  /** `content`: everything that determines the started program, as plain data. */
  accepts(content: unknown): boolean {
    return this.#accepted().includes(digest(content))
  }

  /** Asks, unless all was accepted before. Whoever asks about the same at the same time gets the same answer. */
  async request(contents: readonly unknown[], ask: () => Promise<boolean>): Promise<boolean> {
    const wanted = contents.map(digest)
    const accepted = this.#accepted()
    if (wanted.every(one => accepted.includes(one))) return true
    const key = wanted.join(' ')
    const running = this.#asking.get(key)
    if (running) return running
    const asking = ask().then(isAllowed => {
      if (isAllowed)
        this.#store.set(
          ACCEPTED_LAUNCHES,
          [...new Set([...this.#accepted(), ...wanted])].slice(-MAX_ACCEPTED),
        )
      return isAllowed
    })
    this.#asking.set(key, asking)
    try {
      return await asking
    } finally {
      this.#asking.delete(key)
    }
  }

  #accepted(): string[] {
    const stored = this.#store.get<unknown>(ACCEPTED_LAUNCHES)
    return Array.isArray(stored) ? stored.filter(one => typeof one === 'string') : []
  }
}

/** A hash that is the same for equal content, regardless of the order of properties. */
function digest(content: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(ordered(content)))
    .digest('base64url')
}

function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))
  return entries.map(([key, part]) => [key, ordered(part)])
}

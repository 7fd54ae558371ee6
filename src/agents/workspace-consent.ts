import { createHash } from 'node:crypto'
import type { KeyValueStore } from '../common/key-value-store.ts'

const ACCEPTED_LAUNCHES = 'parley.acceptedWorkspaceLaunches'
const MAX_ACCEPTED = 500

/**
 * The user's consent to settings of this workspace that run something. Without consent, anyone who can change the workspace's files could
 * run programs after the user's next `git pull`. Each consent is for the exact content, so the user is asked again after any change.
 */
export class WorkspaceConsent {
  readonly #store: KeyValueStore
  readonly #asking = new Map<string, Promise<boolean>>()

  constructor(store: KeyValueStore) {
    this.#store = store
  }

  /** Whether the user has accepted the content: everything that determines the started program, as plain data. */
  accepts(content: unknown): boolean {
    return this.#accepted().includes(digest(content))
  }

  /** Asks the user, unless everything has been accepted. Concurrent calls with the same contents get the same answer. */
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

/** Returns a hash that is the same for equal contents, regardless of the order of properties. */
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

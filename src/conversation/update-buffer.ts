import type { SessionUpdate } from '../acp/model.ts'

export interface UpdateBufferLimits {
  /** updates kept in all */
  updates: number
  /** how long they wait, milliseconds */
  ageMs: number
}

interface Waiting {
  since: number
  updates: SessionUpdate[]
}

/**
 * Keeps updates of sessions that are not known yet, in order, until they are: agents send some before they answer
 * with the session's id. Bounded in number and age; what falls out belonged to nobody who asked for it.
 */
export class UpdateBuffer {
  readonly #limits: UpdateBufferLimits
  readonly #bySession = new Map<string, Waiting>()
  #count = 0

  constructor(limits: UpdateBufferLimits) {
    this.#limits = limits
  }

  get size(): number {
    return this.#count
  }

  /** Returns the ids of sessions whose updates were given up for it. */
  add(sessionId: string, update: SessionUpdate, now: number): string[] {
    const dropped = this.#dropOld(now)
    let waiting = this.#bySession.get(sessionId)
    if (!waiting) {
      waiting = { since: now, updates: [] }
      this.#bySession.set(sessionId, waiting)
    }
    waiting.updates.push(update)
    this.#count += 1
    while (this.#count > this.#limits.updates) {
      const oldest = this.#bySession.keys().next().value
      if (oldest === undefined) break
      this.#drop(oldest)
      dropped.push(oldest)
    }
    return dropped
  }

  /** Hands over what waits for a session, and forgets it. */
  take(sessionId: string): SessionUpdate[] {
    const updates = this.#bySession.get(sessionId)?.updates ?? []
    this.#drop(sessionId)
    return updates
  }

  clear(): void {
    this.#bySession.clear()
    this.#count = 0
  }

  /** Sessions are kept in the order their first update came, so the old ones are in front. */
  #dropOld(now: number): string[] {
    const dropped: string[] = []
    for (const [sessionId, { since }] of this.#bySession) {
      if (now - since <= this.#limits.ageMs) break
      this.#drop(sessionId)
      dropped.push(sessionId)
    }
    return dropped
  }

  #drop(sessionId: string): void {
    this.#count -= this.#bySession.get(sessionId)?.updates.length ?? 0
    this.#bySession.delete(sessionId)
  }
}

import { raceAbort } from '../common/async.ts'
import { LATE_REPLAY_MS } from '../common/limits.ts'
import type { SessionUpdate } from './model.ts'

/** Kinds of updates that describe the session as a whole. They are used even if they were sent for an abandoned request. */
const OF_THE_SESSION: ReadonlySet<SessionUpdate['type']> = new Set([
  'commands',
  'config_options',
  'config_value',
  'info',
  'usage',
])

interface Abandoned {
  /** Never rejects. */
  readonly settled: Promise<void>
  replayed: boolean
  /** Restarts the wait for the end of a late replay. */
  postpone?: () => void
}

/**
 * The `session/load` and `session/resume` requests that the user canceled and that the agent hasn't answered yet, by session. Agents ignore
 * the cancellation. What they still replay belongs to no conversation and must not mix with later requests.
 */
export class AbandonedRequests {
  readonly #bySession = new Map<string, Abandoned>()

  /** Adds a canceled request. `answer` settles when the agent answers the request after all, or when the agent exits. */
  add(sessionId: string, answer: Promise<unknown>): void {
    const settled = answer
      .then(
        () => (abandoned.replayed ? undefined : quiet(abandoned)),
        () => undefined,
      )
      .then(() => {
        this.#bySession.delete(sessionId)
      })
    const abandoned: Abandoned = { settled, replayed: false }
    this.#bySession.set(sessionId, abandoned)
  }

  /** Whether the update was sent for an abandoned request and must be dropped. */
  drops(sessionId: string, update: SessionUpdate): boolean {
    const abandoned = this.#bySession.get(sessionId)
    if (!abandoned || OF_THE_SESSION.has(update.type)) return false
    abandoned.replayed = true
    abandoned.postpone?.()
    return true
  }

  /** Returns a promise that resolves when no abandoned request can send updates anymore; `undefined` if there is no such request. */
  settled(sessionId: string): Promise<void> | undefined {
    return this.#bySession.get(sessionId)?.settled
  }

  /** Resolves when no abandoned request can send updates anymore. Rejects with `CancelledError` when `signal` aborts first. */
  async wait(sessionId: string, signal: AbortSignal | undefined): Promise<void> {
    const settled = this.settled(sessionId)
    if (settled) await raceAbort(settled, signal)
  }
}

function quiet(abandoned: Abandoned): Promise<void> {
  return new Promise(resolve => {
    let timer = setTimeout(resolve, LATE_REPLAY_MS)
    abandoned.postpone = () => {
      clearTimeout(timer)
      timer = setTimeout(resolve, LATE_REPLAY_MS)
    }
  })
}

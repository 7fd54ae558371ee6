import * as l10n from '@vscode/l10n'
import { delay } from '../common/async.ts'
import { type Disposable, toDisposable } from '../common/disposable.ts'
import { CancelledError } from '../common/errors.ts'
import { Emitter, type Event } from '../common/event.ts'
import { ACQUIRE_SESSION_POLL_MS, RELEASE_POLL_MS, TAKE_OVER_MS } from '../common/limits.ts'
import { type SessionId, sessionKey } from '../common/session-key.ts'
import type { Leases } from '../history/leases.ts'

/** The leases of sessions among all processes of the machine. A process holds the leases for all of its windows. */
export type SessionLeases = Pick<
  Leases,
  'acquire' | 'isSeenElsewhere' | 'release' | 'request' | 'seize' | 'onDidLose' | 'onDidRequest'
>

/**
 * Where a session is that can't be opened here. `window`: in a window of another process. `hostedWindow`: the same, with its agent in the
 * agent host, so that a turn continues after this process takes over the session. `otherVersion`: in a host of another version of Parley,
 * which this version can't reach.
 */
export type SessionPlace = 'window' | 'hostedWindow' | 'otherVersion'

/** Thrown if the session is open in a window of another process, or in another version of Parley. */
export class SessionElsewhereError extends Error {
  override readonly name = 'SessionElsewhereError'
  readonly place: SessionPlace

  constructor(place: SessionPlace = 'window') {
    super(
      place === 'otherVersion'
        ? l10n.t('The session is still running in another version of Parley.')
        : l10n.t('The session is open in another window.'),
    )
    this.place = place
  }
}

/**
 * The sessions that this process holds, so that no other process opens them: open sessions, and sessions being opened or reserved. Without
 * leases, this process holds all sessions.
 */
export class HeldSessions {
  readonly #leases: SessionLeases | undefined
  readonly #takeOverMs: number
  /** by session key */
  readonly #holds = new Map<string, number>()
  /** by session key: the process from which the session was taken because it didn't release the session */
  readonly #seized = new Map<string, string>()

  /** Fires when another process requests a session. */
  readonly onDidRequest: Event<SessionId>
  /** Fires when another process has taken a session. */
  readonly onDidLose: Event<SessionId>

  /** `takeOverMs`: how long another process may take to release a session. */
  constructor(leases?: SessionLeases, takeOverMs = TAKE_OVER_MS) {
    this.#leases = leases
    this.#takeOverMs = takeOverMs
    this.onDidRequest = leases?.onDidRequest ?? new Emitter<SessionId>().event
    this.onDidLose = leases?.onDidLose ?? new Emitter<SessionId>().event
  }

  /** Acquires the session for this process. Returns false if another process has the session. */
  acquire({ agentId, sessionId }: SessionId): boolean {
    return this.#leases?.acquire(agentId, sessionId) !== false
  }

  /** Whether another process has the session now. */
  isElsewhere({ agentId, sessionId }: SessionId): boolean {
    return this.#leases?.isSeenElsewhere(agentId, sessionId) === true
  }

  /** Like `acquire`, for several sessions. */
  acquireAll(agentId: string, sessionIds: readonly string[]): boolean {
    return sessionIds.every(sessionId => this.acquire({ agentId, sessionId }))
  }

  /** Acquires the session as soon as another process releases it. Resolves to false if that takes more than `waitMs`. */
  async acquireWithin(waitMs: number, session: SessionId, signal: AbortSignal): Promise<boolean> {
    const end = performance.now() + waitMs
    while (!this.acquire(session)) {
      if (performance.now() >= end) return false
      await delay(RELEASE_POLL_MS)
      if (signal.aborted) throw new CancelledError()
    }
    return true
  }

  /** Prevents other processes from taking a session of this process until the results of all such calls are disposed. */
  hold({ agentId, sessionId }: SessionId): Disposable {
    const key = sessionKey(agentId, sessionId)
    this.#holds.set(key, (this.#holds.get(key) ?? 0) + 1)
    return toDisposable(() => {
      const others = this.#holds.get(key)! - 1
      if (others > 0) this.#holds.set(key, others)
      else this.#holds.delete(key)
      this.release({ agentId, sessionId })
    })
  }

  isHeld({ agentId, sessionId }: SessionId): boolean {
    return this.#holds.has(sessionKey(agentId, sessionId))
  }

  /** Releases a session unless something here holds it. */
  release(session: SessionId): void {
    if (!this.isHeld(session)) this.#leases?.release(session.agentId, session.sessionId)
  }

  /** Acquires and holds the session. Throws `SessionElsewhereError`. */
  reserve(session: SessionId): Disposable {
    if (!this.acquire(session)) throw new SessionElsewhereError()
    return this.hold(session)
  }

  /** Takes the session from another process, even if the other process still uses it. */
  seize({ agentId, sessionId }: SessionId): void {
    this.#leases?.seize(agentId, sessionId)
  }

  /**
   * Holds all sessions of an agent that this process is about to take over, so that no other process answers the agent's requests. `from`:
   * a process that doesn't respond, which loses the sessions. If several processes try at the same time, the process that gets the first
   * session wins; the others resolve to `undefined`.
   */
  async takeAll(
    agentId: string,
    sessionIds: readonly string[],
    from?: string,
  ): Promise<Disposable | undefined> {
    const end = performance.now() + this.#takeOverMs
    const holds: Disposable[] = []
    for (const [position, sessionId] of [...sessionIds].sort().entries()) {
      while (this.#leases?.acquire(agentId, sessionId, from) === false) {
        if (position === 0) return undefined
        // the other process will give up this session, because it doesn't get the first one
        if (performance.now() >= end) this.#leases.seize(agentId, sessionId)
        else await delay(ACQUIRE_SESSION_POLL_MS)
      }
      holds.push(this.hold({ agentId, sessionId }))
    }
    return toDisposable(() => {
      for (const hold of holds) hold.dispose()
    })
  }

  /**
   * Asks the process that has the session to close it, and takes the session if that process doesn't respond. Rejects with
   * `CancelledError` when `signal` aborts.
   */
  async takeOver(session: SessionId, signal: AbortSignal): Promise<void> {
    const { agentId, sessionId } = session
    const end = performance.now() + this.#takeOverMs
    while (!this.acquire(session)) {
      if (performance.now() >= end) {
        this.#seized.set(sessionKey(agentId, sessionId), this.#leases?.seize(agentId, sessionId) ?? '')
        return
      }
      this.#leases?.request(agentId, sessionId)
      await delay(ACQUIRE_SESSION_POLL_MS)
      if (signal.aborted) throw new CancelledError()
    }
  }

  /** Returns and forgets the process from which the session had to be taken; an empty string if the process isn't known. */
  takeSeized({ agentId, sessionId }: SessionId): string | undefined {
    const key = sessionKey(agentId, sessionId)
    const from = this.#seized.get(key)
    this.#seized.delete(key)
    return from
  }
}

import * as l10n from '@vscode/l10n'
import { delay } from '../common/async.ts'
import { type Disposable, toDisposable } from '../common/disposable.ts'
import { CancelledError } from '../common/errors.ts'
import { Emitter, type Event } from '../common/event.ts'
import { ACQUIRE_SESSION_POLL_MS, RELEASE_POLL_MS, TAKE_OVER_MS } from '../common/limits.ts'
import { type SessionId, sessionKey } from '../common/session-key.ts'
import type { Leases } from '../history/leases.ts'

/** The leases of sessions among all windows of the machine. */
export type SessionLeases = Pick<
  Leases,
  'acquire' | 'isSeenElsewhere' | 'release' | 'request' | 'seize' | 'onDidLose' | 'onDidRequest'
>

/**
 * Where a session is that can't be opened here: in another window; in a window whose agent is in the agent host, so that the turn continues
 * after another window takes over the session; or in a host of another version of Parley, which windows of this version can't reach.
 */
export type SessionPlace = 'window' | 'hostedWindow' | 'otherVersion'

/** The session is open in another window, or in another version of Parley. */
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
 * The sessions that this window holds, so that no other window opens them: open sessions, and sessions being opened or reserved. Without
 * leases, this window holds all sessions.
 */
export class HeldSessions {
  readonly #leases: SessionLeases | undefined
  readonly #takeOverMs: number
  /** by session key */
  readonly #holds = new Map<string, number>()
  /** by session key: the window that had the session and didn't release it */
  readonly #seized = new Map<string, string>()

  /** Another window requests a session. */
  readonly onDidRequest: Event<SessionId>
  /** Another window has taken a session. */
  readonly onDidLose: Event<SessionId>

  /** `takeOverMs`: how long another window may take to release a session. */
  constructor(leases?: SessionLeases, takeOverMs = TAKE_OVER_MS) {
    this.#leases = leases
    this.#takeOverMs = takeOverMs
    this.onDidRequest = leases?.onDidRequest ?? new Emitter<SessionId>().event
    this.onDidLose = leases?.onDidLose ?? new Emitter<SessionId>().event
  }

  /** Returns false if another window has the session. */
  acquire({ agentId, sessionId }: SessionId): boolean {
    return this.#leases?.acquire(agentId, sessionId) !== false
  }

  /** Whether another window has the session now. */
  isElsewhere({ agentId, sessionId }: SessionId): boolean {
    return this.#leases?.isSeenElsewhere(agentId, sessionId) === true
  }

  /** Like `acquire`, for several sessions. */
  acquireAll(agentId: string, sessionIds: readonly string[]): boolean {
    return sessionIds.every(sessionId => this.acquire({ agentId, sessionId }))
  }

  /** Acquires the session as soon as another window releases it. Resolves to false if none does within `waitMs`. */
  async acquireWithin(waitMs: number, session: SessionId, signal: AbortSignal): Promise<boolean> {
    const end = performance.now() + waitMs
    while (!this.acquire(session)) {
      if (performance.now() >= end) return false
      await delay(RELEASE_POLL_MS)
      if (signal.aborted) throw new CancelledError()
    }
    return true
  }

  /** Prevents other windows from taking a session of this window until all results are disposed. */
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

  /** Takes the session from another window, even if that window still uses it. */
  seize({ agentId, sessionId }: SessionId): void {
    this.#leases?.seize(agentId, sessionId)
  }

  /**
   * Holds all sessions of an agent that this window is about to take over, so that no other window answers their requests. `from`: a window
   * that doesn't respond, which loses the sessions. If several windows try at the same time, the one that gets the first session wins; in
   * the others the result is `undefined`.
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
        // the other window will give up this session, because it doesn't get the first one
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
   * Asks the window that has the session to close it, and takes the session if that window doesn't. Rejects with `CancelledError` when
   * `signal` aborts.
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

  /** Returns once the window from which the session had to be taken; empty if that isn't known. */
  takeSeized({ agentId, sessionId }: SessionId): string | undefined {
    const key = sessionKey(agentId, sessionId)
    const from = this.#seized.get(key)
    this.#seized.delete(key)
    return from
  }
}

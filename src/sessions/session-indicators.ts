import { type Disposable, Owner, toDisposable } from '../common/disposable.ts'
import { Emitter, type Event } from '../common/event.ts'
import type { KeyValueStore } from '../common/key-value-store.ts'
import { type SessionId, sessionKey } from '../common/session-key.ts'
import type { ViewPhase } from '../conversation/phases.ts'
import type { Session } from '../conversation/session.ts'
import { type Failure, isError } from './failures.ts'
import type { OpenSession } from './open-session.ts'
import type { SessionManager } from './session-manager.ts'
import { type WatchedSessions, watchSessions } from './watch-sessions.ts'

/**
 * The state of a session at a glance. `done` and `failed`: the session's work has ended, and the session hasn't been visible since. A
 * session whose agent exited stays `failed`.
 */
export type SessionIndicator = 'idle' | 'running' | 'waiting' | 'done' | 'failed'

/** The indicators, most important first: pending requests, then running, then ended sessions. */
export const INDICATOR_ORDER: readonly SessionIndicator[] = ['waiting', 'running', 'failed', 'done', 'idle']

/** Tracks which sessions finished their work while they weren't visible. */
export class SessionIndicators extends Owner {
  readonly #sessions: WatchedSessions
  readonly #isSeen: (open: OpenSession) => boolean
  readonly #unread = new Map<OpenSession, 'done' | 'failed'>()
  readonly #change = this.register(new Emitter<void>())

  /** Some session's indicator or title changed, or one was opened or closed. */
  readonly onDidChange = this.#change.event

  /** @param isSeen whether the session is visible now */
  constructor(sessions: WatchedSessions, isSeen: (open: OpenSession) => boolean) {
    super()
    this.#sessions = sessions
    this.#isSeen = isSeen
    this.register(watchSessions(sessions, open => this.#watch(open)))
    this.register(sessions.onDidChange(() => this.#change.fire()))
  }

  of(open: OpenSession): SessionIndicator {
    const { activity } = open.session.state
    if (activity === 'requires_action') return 'waiting'
    if (activity === 'running') return 'running'
    return this.#unread.get(open) ?? 'idle'
  }

  /** Returns how the work of a session ended, if the session hasn't been visible since. */
  endedOf(agentId: string, sessionId: string): 'done' | 'failed' | undefined {
    const key = sessionKey(agentId, sessionId)
    for (const [open, ended] of this.#unread) if (open.key === key) return ended
    return undefined
  }

  /** Returns the number of sessions with this indicator. */
  count(indicator: SessionIndicator): number {
    return this.with(indicator).length
  }

  with(indicator: SessionIndicator): OpenSession[] {
    return this.#sessions.list().filter(open => this.of(open) === indicator)
  }

  /** Marks the visible sessions as seen. */
  markSeen(): void {
    let changed = false
    for (const open of this.#unread.keys()) {
      if (this.#isSeen(open)) changed = this.#unread.delete(open) || changed
    }
    if (changed) this.#change.fire()
  }

  #watch(open: OpenSession): Disposable {
    const { session } = open
    let before = session.state.activity
    const following = session.onDidChange(changes => {
      const isRelevant = changes.some(
        change =>
          change.type === 'reset' ||
          (change.type === 'head' && (change.key === 'activity' || change.key === 'title')),
      )
      const named =
        !isRelevant && changes.some(change => change.type === 'entry') && session.state.entries.length === 1
      if (!isRelevant && !named) return
      const { activity } = session.state
      if (activity !== 'idle') this.#unread.delete(open)
      // the end of a replay isn't worth an indicator
      else if (before !== 'idle' && session.phase === 'ready' && !this.#isSeen(open)) {
        this.#unread.set(open, hasFailed(session) ? 'failed' : 'done')
      }
      before = activity
      this.#change.fire()
    })
    return toDisposable(() => {
      following.dispose()
      this.#unread.delete(open)
    })
  }
}

/** Whether the last turn ended with an error. */
function hasFailed({ state }: Session): boolean {
  const last = state.entries.at(-1)
  return last?.kind === 'turn_end' && (last.error !== undefined || last.stopReason === 'error')
}

/** Returns the indicator of a view or tab that shows a conversation. */
export function indicatorOf(
  place: { phase: ViewPhase; failures: ReadonlyMap<string, Failure>; current: OpenSession | undefined },
  indicators: Pick<SessionIndicators, 'of'>,
): SessionIndicator {
  const { phase, failures, current } = place
  if (phase === 'starting' || phase === 'loading') return 'running'
  if (phase === 'ended' || (phase === 'empty' && [...failures.values()].some(isError))) return 'failed'
  return current ? indicators.of(current) : 'idle'
}

/** Tracks the activity of sessions: running, waiting for the user or idle. */
export class Activities extends Owner {
  readonly #sessions: WatchedSessions
  readonly #change = this.register(new Emitter<void>())

  /** Some session's activity or title changed, or one was opened or closed. */
  readonly onDidChange = this.#change.event

  constructor(sessions: WatchedSessions) {
    super()
    this.#sessions = sessions
    this.register(
      watchSessions(sessions, ({ session }) =>
        session.onDidChange(changes => {
          const isRelevant = changes.some(
            change => change.type === 'head' && (change.key === 'activity' || change.key === 'title'),
          )
          if (isRelevant) this.#change.fire()
        }),
      ),
    )
    this.register(sessions.onDidChange(() => this.#change.fire()))
  }

  /** Returns the sessions with pending requests. */
  waiting(): OpenSession[] {
    return this.#sessions.list().filter(open => open.session.state.activity === 'requires_action')
  }

  count(activity: 'running' | 'requires_action'): number {
    return this.#sessions.list().filter(open => open.session.state.activity === activity).length
  }
}

const AT_WORK = 'parley.atWork'

type Named = [agentId: string, sessionId: string]

/**
 * The sessions that were running when the window closed. A session whose agent didn't keep running counts as interrupted until the session
 * is opened again, in this window or another one.
 */
export class Interrupted extends Owner {
  readonly #manager: Pick<SessionManager, 'list' | 'find'>
  readonly #isElsewhere: (session: SessionId) => boolean
  readonly #store: KeyValueStore
  /** sessions that were running when an earlier window closed */
  #before: Named[]
  #written: string

  /**
   * `onDidChange`: fires when a session starts or ends work, or is opened or closed. `isElsewhere`: whether another window has the session,
   * in which its turn continues.
   */
  constructor(
    manager: Pick<SessionManager, 'list' | 'find'>,
    onDidChange: Event<void>,
    isElsewhere: (session: SessionId) => boolean,
    store: KeyValueStore,
  ) {
    super()
    this.#manager = manager
    this.#isElsewhere = isElsewhere
    this.#store = store
    const stored = store.get<unknown>(AT_WORK)
    this.#before = Array.isArray(stored) ? stored.filter(isNamed) : []
    this.#written = JSON.stringify(this.#before)
    this.register(onDidChange(() => this.#update()))
  }

  has(agentId: string, sessionId: string): boolean {
    const is = ([agent, session]: Named) => agent === agentId && session === sessionId
    if (!this.#before.some(is)) return false
    if (!this.#isElsewhere({ agentId, sessionId })) return true
    this.#before = this.#before.filter(one => !is(one))
    this.#update()
    return false
  }

  #update(): void {
    this.#before = this.#before.filter(([agentId, sessionId]) => !this.#manager.find(agentId, sessionId))
    const working = this.#manager.list().filter(isAtWork)
    const all = [
      ...this.#before,
      ...working.map(({ agentId, session }): Named => [agentId, session.sessionId]),
    ]
    const written = JSON.stringify(all)
    if (written === this.#written) return
    this.#written = written
    this.#store.set(AT_WORK, all)
  }
}

function isAtWork({ session }: OpenSession): boolean {
  // the activity of a replay isn't work: interrupting a replay loses nothing
  return session.phase === 'ready' && session.state.activity !== 'idle'
}

function isNamed(stored: unknown): stored is Named {
  return Array.isArray(stored) && stored.length === 2 && stored.every(part => typeof part === 'string')
}

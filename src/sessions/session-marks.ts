import { type Disposable, Owner, toDisposable } from '../common/disposable.ts'
import { Emitter } from '../common/event.ts'
import type { Session } from '../conversation/session.ts'
import type { Failure } from './failures/failure.ts'
import type { OpenSession } from './open-session.ts'
import type { SessionManager } from './session-manager.ts'
import type { Phase } from './shown-session.ts'
import { watchSessions } from './watch-sessions.ts'

/**
 * What there is to know of a session at a glance. `done` and `failed` are told of work that ended while nobody looked,
 * until somebody does; a session whose agent is gone stays `failed`.
 */
export type SessionMark = 'idle' | 'running' | 'waiting' | 'done' | 'failed'

/** Remembers what ended while nobody looked. */
export class SessionMarks extends Owner {
  readonly #manager: SessionManager
  readonly #isSeen: (open: OpenSession) => boolean
  readonly #unread = new Map<OpenSession, 'done' | 'failed'>()
  readonly #change = this.register(new Emitter<void>())

  /** Some session's mark or title changed, or one was opened or closed. */
  readonly onDidChange = this.#change.event

  /** @param isSeen whether a person has the session before them now */
  constructor(manager: SessionManager, isSeen: (open: OpenSession) => boolean) {
    super()
    this.#manager = manager
    this.#isSeen = isSeen
    this.register(watchSessions(manager, open => this.#watch(open)))
    this.register(manager.onDidChange(() => this.#change.fire()))
  }

  of(open: OpenSession): SessionMark {
    const { activity } = open.session.state
    if (activity === 'requires_action') return 'waiting'
    if (activity === 'running') return 'running'
    return this.#unread.get(open) ?? 'idle'
  }

  /** How the work of a session ended that nobody has looked at since. */
  endedOf(agentId: string, sessionId: string): 'done' | 'failed' | undefined {
    const open = this.#manager.find(agentId, sessionId)
    const mark = open && this.of(open)
    return mark === 'done' || mark === 'failed' ? mark : undefined
  }

  /** How many open sessions have this mark. */
  count(mark: SessionMark): number {
    return this.with(mark).length
  }

  with(mark: SessionMark): OpenSession[] {
    return this.#manager.list().filter(open => this.of(open) === mark)
  }

  /** Somebody may look at other sessions now. */
  look(): void {
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
      const told = changes.some(
        change =>
          change.type === 'reset' ||
          (change.type === 'head' && (change.key === 'activity' || change.key === 'title')),
      )
      const named =
        !told && changes.some(change => change.type === 'entry') && session.state.entries.length === 1
      if (!told && !named) return
      const { activity } = session.state
      if (activity !== 'idle') this.#unread.delete(open)
      // a replay works, too, but nobody waits for its end
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

/** The turn that ended last did not end as it should. */
function hasFailed({ state }: Session): boolean {
  const last = state.entries.at(-1)
  return last?.kind === 'turn_end' && (last.error !== undefined || last.stopReason === 'error')
}

/** The mark of a place that shows a conversation. */
export function markOf(
  place: { phase: Phase; failures: ReadonlyMap<string, Failure>; current: OpenSession | undefined },
  marks: Pick<SessionMarks, 'of'>,
): SessionMark {
  const { phase, failures, current } = place
  if (phase === 'starting' || phase === 'loading') return 'running'
  if (phase === 'ended' || (phase === 'empty' && failures.size > 0)) return 'failed'
  return current ? marks.of(current) : 'idle'
}

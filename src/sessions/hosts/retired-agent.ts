import { DisposableStore } from '../../common/disposable.ts'
import type { AgentSessions } from '../../conversation/agent-sessions.ts'
import type { Session } from '../../conversation/session.ts'

/**
 * Ends the sessions of a process that another takes the place of: those that rest at once, those at work when they come
 * to rest, prompts that wait for that included. `onEnd` is told when none is left.
 */
export function endWhenAtRest({ sessions, onDidChangeSessions }: AgentSessions, onEnd: () => void): void {
  const watched = new Map<Session, DisposableStore>()
  const following = new DisposableStore()
  let ended = false
  const review = (): void => {
    for (const session of [...sessions.values()]) {
      if (!isAtWork(session)) session.dispose()
      else if (!watched.has(session)) watch(session)
    }
    if (sessions.size > 0 || ended) return
    ended = true
    following.dispose()
    onEnd()
  }
  const watch = (session: Session): void => {
    const watching = following.add(new DisposableStore())
    watched.set(session, watching)
    // what comes together with the end of a turn is taken in first
    const soon = () => {
      if (!isAtWork(session)) setImmediate(() => ended || review())
    }
    watching.add(session.onDidChange(soon))
    watching.add(session.onDidChangeStatus(soon))
  }
  following.add(onDidChangeSessions(() => void (ended || review())))
  review()
}

function isAtWork({ state, queue, phase }: Session): boolean {
  const hasPrompts = queue.queued.length > 0 && !queue.isPaused
  return phase === 'loading' || state.activity !== 'idle' || hasPrompts
}

import { type Disposable, toDisposable } from '../common/disposable.ts'
import type { OpenSession } from './open-session.ts'
import type { SessionManager } from './session-manager.ts'

/** Some of the open sessions, such as those of a window. */
export type WatchedSessions = Pick<SessionManager, 'list' | 'onDidChange'>

/**
 * Calls `watch` for each open session, now and later. Disposes the result when the session closes, or together with the returned
 * disposable.
 */
export function watchSessions(
  sessions: WatchedSessions,
  watch: (open: OpenSession) => Disposable,
): Disposable {
  const watched = new Map<OpenSession, Disposable>()
  const update = () => {
    const open = new Set(sessions.list())
    for (const [one, watching] of watched) {
      if (open.has(one)) continue
      watched.delete(one)
      watching.dispose()
    }
    for (const one of open) if (!watched.has(one)) watched.set(one, watch(one))
  }
  const following = sessions.onDidChange(update)
  update()
  return toDisposable(() => {
    following.dispose()
    for (const watching of watched.values()) watching.dispose()
    watched.clear()
  })
}

import { type Disposable, toDisposable } from '../common/disposable.ts'
import type { OpenSession } from './open-session.ts'
import type { SessionManager } from './session-manager.ts'

/**
 * Calls `watch` for each open session, now and later. Disposes the result when the session closes, or together with the returned
 * disposable.
 */
export function watchSessions(
  manager: Pick<SessionManager, 'list' | 'onDidChange'>,
  watch: (open: OpenSession) => Disposable,
): Disposable {
  const watched = new Map<OpenSession, Disposable>()
  const update = () => {
    const sessions = new Set(manager.list())
    for (const [open, watching] of watched) {
      if (sessions.has(open)) continue
      watched.delete(open)
      watching.dispose()
    }
    for (const open of sessions) if (!watched.has(open)) watched.set(open, watch(open))
  }
  const following = manager.onDidChange(update)
  update()
  return toDisposable(() => {
    following.dispose()
    for (const watching of watched.values()) watching.dispose()
    watched.clear()
  })
}

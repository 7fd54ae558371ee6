import type { OpenSession } from './open-session.ts'
import type { SessionReference } from './session-manager.ts'
import { titleOf } from './session-title.ts'

/** What names a session that is open, to reopen it. */
export function referenceOf(open: OpenSession): SessionReference {
  return {
    agentId: open.agentId,
    sessionId: open.session.sessionId,
    cwd: open.plan.setup.cwd,
    title: titleOf(open.session),
  }
}

import type { OpenSession, SessionReference } from './session-manager.ts'
import { titleOf } from './session-title.ts'

/** Names a conversation in this window; drafts are kept by it. */
export function conversationKey({
  agentId,
  sessionId,
}: Pick<SessionReference, 'agentId' | 'sessionId'>): string {
  return `${agentId}/${sessionId}`
}

export function referenceOf(open: OpenSession): SessionReference {
  return {
    agentId: open.agentId,
    sessionId: open.session.sessionId,
    cwd: open.plan.setup.cwd,
    title: titleOf(open.session),
  }
}

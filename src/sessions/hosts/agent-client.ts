import type { AgentClient } from '../../acp/agent.ts'
import type { ElicitationOutcome, ElicitationRequest } from '../../acp/model.ts'
import type { AgentSessions } from '../../conversation/agent-sessions.ts'
import type { Session } from '../../conversation/session.ts'
import type { NativeElicitation } from '../ports.ts'
import { type SessionServices, servicesClient } from '../session-services.ts'

export interface AgentClientParts {
  agentId: string
  /** The conversations of the agent's process; `undefined` before it is ready. */
  sessions: () => AgentSessions | undefined
  /** What the agent of an open session may do in the editor. */
  services: (sessionId: string) => SessionServices | undefined
  /** The conversation with the agent that the person works in and sees, if they do. */
  activeSession: () => Session | undefined
  /** Asks what belongs to no conversation. */
  nativeElicitation: NativeElicitation
}

/** What an agent may ask of this window, each routed to the session it is about. */
export function agentClient(parts: AgentClientParts): AgentClient {
  const { sessions, services, nativeElicitation } = parts
  return {
    // a subagent works with what the session it was begun in may do
    ...servicesClient(sessionId => services(sessions()?.of(sessionId)?.sessionId ?? sessionId)),
    requestPermission: (request, signal) =>
      sessions()?.requestPermission(request, signal) ?? Promise.resolve({ type: 'cancelled' }),
    createElicitation: (request, signal) => elicit(parts, request, signal),
    elicitationComplete: elicitationId => {
      sessions()?.elicitationComplete(elicitationId)
      nativeElicitation.complete(elicitationId)
    },
  }
}

/** A question about a request of ours, such as signing in, stands where the person works with the agent. */
function elicit(
  { agentId, sessions, activeSession, nativeElicitation }: AgentClientParts,
  request: ElicitationRequest,
  signal: AbortSignal,
): Promise<ElicitationOutcome> {
  const { sessionId } = request
  const known = sessions()
  if (sessionId !== undefined) {
    return known?.createElicitation(sessionId, request, signal) ?? Promise.resolve({ action: 'cancel' })
  }
  const active = activeSession()
  return active && known?.get(active.sessionId) === active
    ? active.createElicitation(request, signal)
    : nativeElicitation.ask(agentId, request, signal)
}

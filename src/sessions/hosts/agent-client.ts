import type { AgentClient } from '../../acp/agent.ts'
import type { ElicitationOutcome, ElicitationRequest } from '../../acp/model.ts'
import type { AgentSessions } from '../../conversation/agent-sessions.ts'
import type { Session } from '../../conversation/session.ts'
import type { NativeElicitation } from '../ports.ts'
import { type SessionServicesRegistry, servicesClient } from '../session-services.ts'

export interface AgentClientOptions {
  agentId: string
  /** The conversations of the agent's process; `undefined` before it is ready. */
  sessions: () => AgentSessions | undefined
  /** What the agents of open sessions may do in the editor. */
  services: SessionServicesRegistry
  /** The conversation with the agent that the person works in and sees, if they do. */
  activeSession: () => Session | undefined
  /** Asks what belongs to no conversation. */
  nativeElicitation: NativeElicitation
}

/** What an agent may ask of this window, each routed to the session it is about. */
export function agentClient(options: AgentClientOptions): AgentClient {
  const { agentId, sessions, services, nativeElicitation } = options
  return {
    // a subagent works in the session that it was begun in
    ...servicesClient((sessionId, signal) =>
      services.find(agentId, () => sessions()?.of(sessionId)?.sessionId ?? sessionId, signal),
    ),
    requestPermission: (request, signal) =>
      sessions()?.requestPermission(request, signal) ?? Promise.resolve({ type: 'cancelled' }),
    createElicitation: (request, signal) => elicit(options, request, signal),
    elicitationComplete: elicitationId => {
      sessions()?.elicitationComplete(elicitationId)
      nativeElicitation.complete(elicitationId)
    },
  }
}

/**
 * An elicitation for a request of ours, such as signing in, is asked where the person works with the agent. It ends with
 * that request (`signal`): when the conversation is closed before, it is asked outside of any.
 */
async function elicit(
  { agentId, sessions, activeSession, nativeElicitation }: AgentClientOptions,
  request: ElicitationRequest,
  signal: AbortSignal,
): Promise<ElicitationOutcome> {
  const { sessionId } = request
  const known = sessions()
  if (sessionId !== undefined) {
    return known?.createElicitation(sessionId, request, signal) ?? { action: 'cancel' }
  }
  const active = activeSession()
  if (active && known?.get(active.sessionId) === active) {
    const outcome = await active.createElicitation(request, signal)
    if (outcome.action !== 'cancel' || active.phase !== 'closed' || signal.aborted) return outcome
  }
  return nativeElicitation.ask(agentId, request, signal)
}

import type { AgentClient } from '../acp/agent.ts'
import type { ElicitationOutcome, ElicitationRequest, McpOutcome } from '../acp/model.ts'
import { raceAbort } from '../common/async.ts'
import type { AgentSessions } from '../conversation/agent-sessions.ts'
import type { Session } from '../conversation/session.ts'
import type { NativeElicitation } from './ports.ts'
import type { SessionManager } from './session-manager.ts'
import type { SessionServices } from './session-services.ts'

type McpMessage = Parameters<NonNullable<AgentClient['mcpMessage']>>

interface AgentClientsOptions {
  manager: Pick<SessionManager, 'find'>
  /** The agent's session in the visible conversation that was used last, if any. */
  activeSession: (agentId: string) => Session | undefined
  nameOf: (agentId: string) => string
  /** Asks the questions that belong to no session. */
  nativeElicitation: NativeElicitation
  /** Answers requests to the editor's own MCP server. */
  mcpMessage: (agentId: string, ...request: McpMessage) => Promise<McpOutcome>
}

/** Answers the requests of the agents that this window started: each request goes to its session. */
export class AgentClients {
  readonly #options: AgentClientsOptions
  /** by agent: the requests that may create a session. Some agents request files before they report the session's id. */
  readonly #arriving = new Map<string, Set<Promise<void>>>()

  constructor(options: AgentClientsOptions) {
    this.#options = options
  }

  /** Runs `work`, which may create a session of the agent. */
  track<T>(agentId: string, work: () => Promise<T>): Promise<T> {
    const arriving = work()
    const pending = this.#arriving.get(agentId) ?? new Set()
    this.#arriving.set(agentId, pending)
    const done = () => void pending.delete(settled)
    const settled: Promise<void> = arriving.then(done, done)
    pending.add(settled)
    return arriving
  }

  /** Returns the client of a process. `sessions`: returns the sessions of the process; `undefined` before it's ready. */
  readonly of = (agentId: string, sessions: () => AgentSessions | undefined): AgentClient => {
    const { nativeElicitation, mcpMessage } = this.#options
    return {
      mcpMessage: (...request) => mcpMessage(agentId, ...request),
      // a subagent works in the session that started it
      ...servicesClient((sessionId, signal) =>
        this.#waitForServices(agentId, () => sessions()?.of(sessionId)?.sessionId ?? sessionId, signal),
      ),
      requestPermission: (request, signal) =>
        sessions()?.requestPermission(request, signal) ?? Promise.resolve({ type: 'cancelled' }),
      createElicitation: (request, signal) => this.#elicit(agentId, sessions(), request, signal),
      elicitationComplete: elicitationId => {
        sessions()?.elicitationComplete(elicitationId)
        nativeElicitation.complete(elicitationId)
      },
    }
  }

  /** Waits for a session that is being opened. Resolves to its services, or to `undefined` if the session isn't opened. */
  async #waitForServices(
    agentId: string,
    sessionId: () => string,
    signal?: AbortSignal,
  ): Promise<SessionServices | undefined> {
    for (;;) {
      const services = this.#options.manager.find(agentId, sessionId())?.services
      const arriving = this.#arriving.get(agentId)
      if (services || !arriving?.size || signal?.aborted) return services
      await raceAbort(Promise.race(arriving), signal).catch(() => {})
    }
  }

  /**
   * Asks the user. An elicitation for one of Parley's requests, such as signing in, is shown in the agent's active conversation, and ends
   * with the request (`signal`). If the conversation is closed first, the user is asked outside of conversations.
   */
  async #elicit(
    agentId: string,
    known: AgentSessions | undefined,
    request: ElicitationRequest,
    signal: AbortSignal,
  ): Promise<ElicitationOutcome> {
    const { sessionId } = request
    if (sessionId !== undefined) {
      return known?.createElicitation(sessionId, request, signal) ?? { action: 'cancel' }
    }
    const { activeSession, nameOf, nativeElicitation } = this.#options
    const active = activeSession(agentId)
    if (active && known?.get(active.sessionId) === active) {
      const outcome = await active.requests.createElicitation(request, signal)
      if (outcome.action !== 'cancel' || active.phase !== 'closed' || signal.aborted) return outcome
    }
    return nativeElicitation.ask(nameOf(agentId), request, signal)
  }
}

/** Routes an agent's requests about files and terminals to the services of the session they name. */
function servicesClient(
  find: (sessionId: string, signal?: AbortSignal) => Promise<SessionServices | undefined>,
): Omit<AgentClient, 'requestPermission'> {
  const of = async (sessionId: string, signal?: AbortSignal): Promise<SessionServices> => {
    const services = await find(sessionId, signal)
    if (!services) throw new Error(`No session ${JSON.stringify(sessionId)} is open in this window.`)
    return services
  }
  return {
    readTextFile: async (request, signal) =>
      (await of(request.sessionId, signal)).readTextFile(request, signal),
    writeTextFile: async (request, signal) =>
      (await of(request.sessionId, signal)).writeTextFile(request, signal),
    createTerminal: async request => (await of(request.sessionId)).createTerminal(request),
    terminalOutput: async (sessionId, id) => (await of(sessionId)).terminals.output(id),
    waitForTerminalExit: async (sessionId, id) => (await of(sessionId)).terminals.waitForExit(id),
    killTerminal: async (sessionId, id) => (await of(sessionId)).terminals.kill(id),
    releaseTerminal: async (sessionId, id) => (await of(sessionId)).terminals.release(id),
  }
}

import type { AgentClient, AgentExit } from '../acp/agent.ts'
import { Owner } from '../common/disposable.ts'
import { CancelledError } from '../common/errors.ts'
import { Emitter } from '../common/event.ts'
import type { AgentSessions } from '../conversation/agent-sessions.ts'
import type { Session } from '../conversation/session.ts'
import type { AgentHost, RunningAgent } from './agent-host.ts'
import type {
  CreateSessionServices,
  SessionPlan,
  SessionPlanner,
  SessionRecords,
  SessionServices,
} from './ports.ts'

/** A session that is open in this window: the conversation, the agent it is with and what it was given. */
export interface OpenSession {
  readonly agentId: string
  readonly agentName: string
  readonly session: Session
  readonly plan: SessionPlan
}

/** A session to reopen, as a list or a record names it. */
export interface SessionReference {
  agentId: string
  sessionId: string
  cwd: string
  title?: string
}

export interface SessionManagerParts {
  host: (agentId: string) => AgentHost
  planner: SessionPlanner
  services: CreateSessionServices
  records: SessionRecords
}

/** What is told while a session is being opened. */
export interface OpenProgress {
  /** The agent runs; the session is being made. */
  onAgentReady?: (running: RunningAgent) => void
  /** The conversation can be shown: its history is about to replay. */
  onSession?: (open: OpenSession) => void
}

/** The sessions open in this window, by agent and id; what each may do in the editor lives and ends with it. */
export class SessionManager extends Owner {
  readonly #parts: SessionManagerParts
  readonly #open = new Map<string, OpenSession>()
  readonly #services = new Map<string, SessionServices>()
  readonly #change = this.register(new Emitter<void>())

  /** A session was opened or closed. */
  readonly onDidChange = this.#change.event

  constructor(parts: SessionManagerParts) {
    super()
    this.#parts = parts
  }

  list(): OpenSession[] {
    return [...this.#open.values()]
  }

  find(agentId: string, sessionId: string): OpenSession | undefined {
    return this.#open.get(keyOf(agentId, sessionId))
  }

  /** Begins a session. Rejects with `AgentStartError`, `AgentRequestError`, `AgentClosedError`, `CancelledError`. */
  async create(agentId: string, signal: AbortSignal, progress: OpenProgress = {}): Promise<OpenSession> {
    const host = this.#parts.host(agentId)
    const running = await host.ensure(signal)
    progress.onAgentReady?.(running)
    const plan = await this.#parts.planner.forNew(running.agent.capabilities)
    if (!plan || signal.aborted) throw new CancelledError()
    const session = await running.sessions.newSession(plan.setup, signal)
    const open: OpenSession = { agentId, agentName: host.name, session, plan }
    this.#admit(open)
    this.#record(open)
    progress.onSession?.(open)
    return open
  }

  /** Reopens a session the agent knows; `load` replays its history, `resume` does not. Rejects as `create` does. */
  async reopen(
    how: 'load' | 'resume',
    reference: SessionReference,
    signal: AbortSignal,
    progress: OpenProgress = {},
  ): Promise<OpenSession> {
    const { agentId, sessionId, cwd, title } = reference
    const host = this.#parts.host(agentId)
    const running = await host.ensure(signal)
    progress.onAgentReady?.(running)
    const plan = await this.#parts.planner.forExisting(cwd, running.agent.capabilities)
    if (signal.aborted) throw new CancelledError()
    // what the session may do in the editor stands ready before the agent hears of it
    let open: OpenSession | undefined
    const onSession = (session: Session) => {
      open = { agentId, agentName: host.name, session, plan }
      this.#admit(open)
      progress.onSession?.(open)
    }
    try {
      const session = await (how === 'load'
        ? running.sessions.loadSession(sessionId, plan.setup, { signal, onSession, title })
        : running.sessions.resumeSession(sessionId, plan.setup, { signal, onSession, title }))
      if (!open) throw new Error(`The session ${session.id} was opened without being announced`)
      this.#record(open)
      return open
    } catch (error) {
      if (open) this.#dismiss(open)
      throw error
    }
  }

  /** Closes the session here and, where the agent can, there. */
  async close(open: OpenSession): Promise<void> {
    this.#dismiss(open)
    await open.session.close()
  }

  /** What an agent may ask of this window, for the conversations of `sessions()`. */
  client(agentId: string, sessions: () => AgentSessions | undefined): AgentClient {
    const services = (sessionId: string): SessionServices => {
      const found = this.#services.get(keyOf(agentId, sessionId))
      if (!found) throw new Error(`No session ${sessionId} is open in this window.`)
      return found
    }
    return {
      requestPermission: (request, signal) =>
        sessions()?.requestPermission(request, signal) ?? Promise.resolve({ type: 'cancelled' }),
      readTextFile: async request => services(request.sessionId).readTextFile(request),
      writeTextFile: async request => services(request.sessionId).writeTextFile(request),
      createTerminal: async request => services(request.sessionId).createTerminal(request),
      terminalOutput: async (sessionId, id) => services(sessionId).terminalOutput(sessionId, id),
      waitForTerminalExit: async (sessionId, id) => services(sessionId).waitForTerminalExit(sessionId, id),
      killTerminal: async (sessionId, id) => services(sessionId).killTerminal(sessionId, id),
      releaseTerminal: async (sessionId, id) => services(sessionId).releaseTerminal(sessionId, id),
    }
  }

  /** An agent is gone: what its sessions ran ends, their conversations stay to be read. */
  agentEnded(agentId: string, _exit: AgentExit): void {
    for (const open of this.list()) {
      if (open.agentId === agentId) this.#dismiss(open)
    }
  }

  override dispose(): void {
    for (const services of this.#services.values()) services.dispose()
    this.#services.clear()
    this.#open.clear()
    super.dispose()
  }

  #admit(open: OpenSession): void {
    const { session, agentId, plan } = open
    const key = keyOf(agentId, session.id)
    this.#services.get(key)?.dispose()
    this.#services.set(
      key,
      this.#parts.services(session.id, plan.setup, {
        created: (terminalId, command, cwd) => session.upsertTerminal({ terminalId, command, cwd }),
        output: (terminalId, text) => session.appendTerminalOutput(terminalId, text),
        exited: (terminalId, exit) => session.upsertTerminal({ terminalId, exit }),
      }),
    )
    this.#open.set(key, open)
    this.#change.fire()
  }

  #dismiss(open: OpenSession): void {
    const key = keyOf(open.agentId, open.session.id)
    if (this.#open.get(key) !== open) return
    this.#services.get(key)?.dispose()
    this.#services.delete(key)
    this.#open.delete(key)
    this.#change.fire()
  }

  #record(open: OpenSession): void {
    this.#parts.records.opened({
      agentId: open.agentId,
      sessionId: open.session.id,
      cwd: open.plan.setup.cwd,
      additionalDirectories: open.plan.setup.additionalDirectories,
      title: open.session.state.title,
    })
  }
}

function keyOf(agentId: string, sessionId: string): string {
  return `${agentId}\0${sessionId}`
}

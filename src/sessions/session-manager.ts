import path from 'node:path'
import * as l10n from '@vscode/l10n'
import type { AgentClient } from '../acp/agent.ts'
import type { ElicitationOutcome, ElicitationRequest } from '../acp/model.ts'
import { DisposableStore, Owner } from '../common/disposable.ts'
import { CancelledError } from '../common/errors.ts'
import { Emitter } from '../common/event.ts'
import type { AgentSessions } from '../conversation/agent-sessions.ts'
import type { ReducingState } from '../conversation/books.ts'
import { forkState } from '../conversation/fork-state.ts'
import { restoreState } from '../conversation/restore-state.ts'
import { Session } from '../conversation/session.ts'
import type { Change } from '../conversation/state.ts'
import { ABSENT, AbsentAgent } from './absent-agent.ts'
import type { AgentHost } from './agent-host.ts'
import type { Reopening } from './failure.ts'
import type { NativeElicitation, SessionPlan, SessionPlanner, SessionRecords, Transcripts } from './ports.ts'
import { type ServicesShared, SessionServices, servicesClient } from './session-services.ts'
import { sessionTitle } from './session-title.ts'
import { TranscriptKeeper } from './transcript-keeper.ts'

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
  services: ServicesShared
  records: SessionRecords
  transcripts: Transcripts
  /** The conversation with the agent that the person works in, if one does. */
  activeSession: (agentId: string) => Session | undefined
  /** Asks what belongs to no conversation. */
  nativeElicitation: NativeElicitation
}

/** What is told while a session is being opened. */
export interface OpenProgress {
  /** The conversation can be shown: its history is about to replay. */
  onSession?: (open: OpenSession, replays: boolean) => void
}

/** The sessions open in this window, by agent and id; what each may do in the editor lives and ends with it. */
export class SessionManager extends Owner {
  readonly #parts: SessionManagerParts
  readonly #open = new Map<string, OpenSession>()
  readonly #services = new Map<string, SessionServices>()
  readonly #following = new Map<OpenSession, DisposableStore>()
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
    const { agent, sessions } = await host.ensure(signal)
    const plan = await this.#parts.planner.forNew(agent.capabilities)
    if (!plan || signal.aborted) throw new CancelledError()
    const session = await sessions.newSession(plan.setup, signal)
    const open: OpenSession = { agentId, agentName: host.name, session, plan }
    this.#admit(open)
    this.#record(open)
    progress.onSession?.(open, false)
    return open
  }

  /**
   * Reopens a session the agent knows; `load` replays its history, `resume` does not and goes on with the conversation
   * as it is known here (`previous`, of the same session in an agent that is gone, or what was kept). `restore` resumes
   * what is known, else loads, else resumes; it rejects with `CancelledError` when the agent can neither. Rejects as
   * `create` does.
   */
  async reopen(
    how: Reopening,
    reference: SessionReference,
    signal: AbortSignal,
    progress: OpenProgress = {},
    previous?: OpenSession,
  ): Promise<OpenSession> {
    const { agentId, sessionId, cwd } = reference
    const host = this.#parts.host(agentId)
    const { agent, sessions } = await host.ensure(signal)
    const plan = await this.#parts.planner.forExisting(cwd, agent.capabilities)
    if (signal.aborted) throw new CancelledError()
    const { load, resume } = agent.capabilities
    const before = previous?.session ?? (how === 'load' ? undefined : this.#keptState(reference))
    // what was kept knows more than a replay: times, answers, output
    const replays = how === 'load' || (how === 'restore' && load && !(before && resume))
    if (how === 'restore' && !replays && !resume) throw new CancelledError()
    const opening = replays
      ? sessions.loadSession(sessionId, plan.setup, signal)
      : sessions.resumeSession(sessionId, plan.setup, signal, before)
    const open: OpenSession = { agentId, agentName: host.name, session: opening.session, plan }
    // what the session may do in the editor stands ready before the agent's first question
    this.#admit(open)
    progress.onSession?.(open, replays)
    try {
      await opening.opened
    } catch (error) {
      this.#dismiss(open)
      throw error
    }
    this.#record(open)
    return open
  }

  /** Begins a session with the conversation of another. Rejects as `create` does. */
  async fork(
    reference: SessionReference,
    signal: AbortSignal,
    progress: OpenProgress = {},
  ): Promise<OpenSession> {
    const { agentId, sessionId, cwd } = reference
    const host = this.#parts.host(agentId)
    const { agent, sessions } = await host.ensure(signal)
    const plan = await this.#parts.planner.forExisting(cwd, agent.capabilities)
    if (signal.aborted) throw new CancelledError()
    const known = this.find(agentId, sessionId)?.session ?? this.#keptState(reference)
    const state = known && forkState(known.reducingState)
    const session = await sessions.forkSession(sessionId, plan.setup, signal, state)
    const open: OpenSession = { agentId, agentName: host.name, session, plan }
    this.#admit(open, true)
    this.#record(open)
    progress.onSession?.(open, false)
    return open
  }

  /** A session as it was kept on disk, to be read before its agent has started, or when it never does. */
  kept(reference: SessionReference): OpenSession | undefined {
    const state = this.#keptState(reference)?.reducingState
    if (!state) return undefined
    const { agentId, sessionId, cwd } = reference
    const agentName = this.#parts.host(agentId).name
    const setup = { cwd, additionalDirectories: [], mcpServers: [] }
    const agent = new AbsentAgent(agentName, this.#parts.records.capabilities(agentId))
    const session = new Session({ agent, sessionId, setup, phase: 'ready', state })
    session.agentEnded(ABSENT)
    const cwdLabel = path.basename(cwd) || cwd
    const roots = { cwd, cwdLabel, additional: [], unseen: [], scratch: false }
    return { agentId, agentName, session, plan: { setup, roots, mcpServers: [] } }
  }

  #keptState({ agentId, sessionId }: SessionReference): { reducingState: ReducingState } | undefined {
    const conversation = this.#parts.transcripts.read(agentId, sessionId)
    return conversation && { reducingState: restoreState(conversation) }
  }

  /** Closes the session here and, where the agent can, there. */
  async close(open: OpenSession): Promise<void> {
    this.#dismiss(open)
    await open.session.close()
  }

  /**
   * Deletes the session with its agent, which must run and be able to, and forgets what was kept of it. Rejects with the
   * agent's refusal; nothing is forgotten then.
   */
  async delete(agentId: string, sessionId: string): Promise<void> {
    const agent = this.#parts.host(agentId).running?.agent
    if (!agent?.capabilities.delete) throw new Error(l10n.t('The agent cannot delete sessions.'))
    const open = this.find(agentId, sessionId)
    if (open) await this.close(open)
    await agent.deleteSession(sessionId)
    this.#parts.records.forget(agentId, sessionId)
    this.#parts.transcripts.forget(agentId, sessionId)
    this.#change.fire()
  }

  /** Stops the turn, and the commands it left running: some agents never end theirs. */
  cancel(open: OpenSession): void {
    open.session.cancel()
    void this.#services.get(keyOf(open.agentId, open.session.sessionId))?.terminals.killAll()
  }

  /** What an agent may ask of this window, for the conversations of `sessions()`. */
  client(agentId: string, sessions: () => AgentSessions | undefined): AgentClient {
    return {
      ...servicesClient(sessionId => this.#services.get(keyOf(agentId, sessionId))),
      requestPermission: (request, signal) =>
        sessions()?.requestPermission(request, signal) ?? Promise.resolve({ type: 'cancelled' }),
      createElicitation: (request, signal) => this.#elicit(agentId, sessions(), request, signal),
      elicitationComplete: elicitationId => {
        sessions()?.elicitationComplete(elicitationId)
        this.#parts.nativeElicitation.complete(elicitationId)
      },
    }
  }

  /** A question about a request of ours, such as signing in, stands where the person works with the agent. */
  #elicit(
    agentId: string,
    sessions: AgentSessions | undefined,
    request: ElicitationRequest,
    signal: AbortSignal,
  ): Promise<ElicitationOutcome> {
    const { sessionId } = request
    if (sessionId !== undefined) {
      return sessions?.createElicitation(sessionId, request, signal) ?? Promise.resolve({ action: 'cancel' })
    }
    const active = this.#parts.activeSession(agentId)
    return active && sessions?.get(active.sessionId) === active
      ? active.createElicitation(request, signal)
      : this.#parts.nativeElicitation.ask(agentId, request, signal)
  }

  override dispose(): void {
    for (const services of this.#services.values()) services.dispose()
    this.#services.clear()
    this.#open.clear()
    super.dispose()
  }

  #admit(open: OpenSession, unkept = false): void {
    const { session, agentId, plan } = open
    const key = keyOf(agentId, session.sessionId)
    void this.#services.get(key)?.end()
    this.#services.set(key, new SessionServices(this.#parts.services, session, plan.setup))
    this.#open.set(key, open)
    // an agent that is gone ends its sessions: what they ran ends, their conversations stay to be read
    const following = this.register(new DisposableStore())
    following.add(session.onDidEnd(() => this.#dismiss(open)))
    following.add(session.onDidChange(changes => this.#noteChanges(open, changes)))
    following.add(new TranscriptKeeper(agentId, session, this.#parts.transcripts, unkept))
    this.#following.set(open, following)
    this.#change.fire()
  }

  #dismiss(open: OpenSession): void {
    const following = this.#following.get(open)
    if (following) this.owned.release(following)
    this.#following.delete(open)
    const key = keyOf(open.agentId, open.session.sessionId)
    if (this.#open.get(key) !== open) return
    void this.#services.get(key)?.end()
    this.#services.delete(key)
    this.#open.delete(key)
    this.#change.fire()
  }

  /** A turn that begins or ends, or a new title, is worth remembering; nothing else is looked at. */
  #noteChanges(open: OpenSession, changes: readonly Change[]): void {
    const worth = changes.some(
      change => change.type === 'head' && (change.key === 'title' || change.key === 'activity'),
    )
    if (!worth) return
    const { session, agentId } = open
    this.#parts.records.touched(agentId, session.sessionId, sessionTitle(session.state))
  }

  #record(open: OpenSession): void {
    this.#parts.records.opened(open.agentId, {
      sessionId: open.session.sessionId,
      cwd: open.plan.setup.cwd,
      additionalDirectories: open.plan.setup.additionalDirectories,
      title: sessionTitle(open.session.state),
    })
  }
}

function keyOf(agentId: string, sessionId: string): string {
  return `${agentId}\0${sessionId}`
}

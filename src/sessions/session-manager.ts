import path from 'node:path'
import * as l10n from '@vscode/l10n'
import { type Agent, type AgentClient, AgentRequestError } from '../acp/agent.ts'
import { DisposableStore, Owner } from '../common/disposable.ts'
import { CancelledError } from '../common/errors.ts'
import { Emitter } from '../common/event.ts'
import type { AgentSessions } from '../conversation/agent-sessions.ts'
import { forkState } from '../conversation/fork-state.ts'
import type { ReducingState } from '../conversation/reducer/books.ts'
import { restoreState } from '../conversation/restore-state.ts'
import { Session } from '../conversation/session.ts'
import type { Change } from '../conversation/state.ts'
import { ChangedFiles, type ChangesKeep } from '../editor/changes/changed-files.ts'
import { followChanges } from './changes/follow-changes.ts'
import { noticeChanges } from './changes/notice-changes.ts'
import { ABSENT, AbsentAgent } from './failures/absent-agent.ts'
import type { Reopening } from './failures/failure.ts'
import { agentClient } from './hosts/agent-client.ts'
import type { AgentHost } from './hosts/agent-host.ts'
import type { PermissionRules } from './permission-rules/permission-rules.ts'
import type { NativeElicitation, SessionPlan, SessionPlanner, SessionRecords, Transcripts } from './ports.ts'
import { QueueKeeper } from './queue-keeper.ts'
import { conversationKey } from './session-reference.ts'
import { type ServicesShared, SessionServices } from './session-services.ts'
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
  /** It was put away, as far as is known here. */
  archived?: boolean
}

export interface SessionManagerParts {
  host: (agentId: string) => AgentHost
  planner: SessionPlanner
  services: ServicesShared
  records: SessionRecords
  transcripts: Transcripts
  /** Keeps the prompts that wait in a queue. */
  drafts: ConstructorParameters<typeof QueueKeeper>[2]
  /** The conversation with the agent that the person works in and sees, if they do. */
  activeSession: (agentId: string) => Session | undefined
  /** Asks what belongs to no conversation. */
  nativeElicitation: NativeElicitation
  /** The person's rules for the questions of a session. */
  rules?: Pick<PermissionRules, 'answersFor'>
  /** Remembers the files that a session changed, through a reload. */
  changesKeep?: (agentId: string, sessionId: string) => ChangesKeep
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
  /** They outlive the agent's process: what it changed is there to be looked at. */
  readonly #changes = new Map<string, ChangedFiles>()
  readonly #following = new Map<OpenSession, DisposableStore>()
  readonly #queues = new WeakMap<OpenSession, QueueKeeper>()
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

  /** Begins a session, in `cwd` when one is named. Rejects with `AgentStartError`, `AgentRequestError`, `AgentClosedError`, `CancelledError`. */
  async create(
    agentId: string,
    signal: AbortSignal,
    progress: OpenProgress = {},
    cwd?: string,
  ): Promise<OpenSession> {
    const host = this.#parts.host(agentId)
    const { agent, sessions } = await host.ensure(signal)
    const { planner } = this.#parts
    const plan =
      cwd === undefined
        ? await planner.forNew(agentId, agent.capabilities)
        : await planner.forExisting(agentId, cwd, agent.capabilities)
    if (!plan || signal.aborted) throw new CancelledError()
    const session = await sessions.newSession(plan.setup, signal)
    return this.#begun({ agentId, agentName: host.name, session, plan }, progress)
  }

  /**
   * Reopens a session the agent knows; `load` replays its history, `resume` does not and goes on with the conversation
   * as it is known here (`previous`, of the same session in an agent that is gone, or what was kept). `restore` resumes
   * what is known, else loads, else resumes. It rejects with `CancelledError` when the agent can neither and there is
   * `previous`, or nothing was asked for but to restore; else as `create` does.
   */
  async reopen(
    how: Reopening,
    reference: SessionReference,
    signal: AbortSignal,
    progress: OpenProgress = {},
    previous?: OpenSession,
  ): Promise<OpenSession> {
    const { agentId, sessionId } = reference
    const { host, agent, sessions, plan } = await this.#reach(reference, signal)
    await this.#bringBack(agent, reference)
    if (signal.aborted) throw new CancelledError()
    const { load, resume } = agent.capabilities
    const before = previous?.session ?? (how === 'load' ? undefined : this.#keptState(reference))
    // what was kept knows more than a replay: times, answers, output
    const replays = how === 'load' || (how === 'restore' && load && !(before && resume))
    if (!load && !resume && (how === 'restore' || previous)) throw new CancelledError()
    const opening = replays
      ? sessions.loadSession(sessionId, plan.setup, signal, () => this.#known(reference, previous))
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

  /** The agent of a session that it knows, running, and where the session is to work. */
  async #reach({ agentId, cwd }: SessionReference, signal: AbortSignal) {
    const host = this.#parts.host(agentId)
    const { agent, sessions } = await host.ensure(signal)
    const plan = await this.#parts.planner.forExisting(agentId, cwd, agent.capabilities)
    if (signal.aborted) throw new CancelledError()
    return { host, agent, sessions, plan }
  }

  /** Who goes on with a session that was put away wants it back. An agent that refuses may open it all the same. */
  async #bringBack(agent: Agent, { agentId, sessionId, cwd, archived }: SessionReference): Promise<void> {
    const { records } = this.#parts
    if (!(archived ?? records.get(agentId, sessionId)?.archived) || !agent.capabilities.archive) return
    try {
      await agent.unarchiveSession?.(sessionId)
      records.noted(agentId, { sessionId, cwd }, { archived: false })
    } catch (error) {
      if (!(error instanceof AgentRequestError)) throw error
    }
  }

  /** Begins a session with the conversation of another. Rejects as `create` does. */
  async fork(
    reference: SessionReference,
    signal: AbortSignal,
    progress: OpenProgress = {},
  ): Promise<OpenSession> {
    const { agentId, sessionId } = reference
    const { host, sessions, plan } = await this.#reach(reference, signal)
    const known = this.find(agentId, sessionId)?.session ?? this.#keptState(reference)
    const state = known && forkState(known.reducingState)
    const session = await sessions.forkSession(sessionId, plan.setup, signal, state)
    return this.#begun({ agentId, agentName: host.name, session, plan }, progress, true)
  }

  /** A session as it was kept on disk, to be read before its agent has started, or when it never does. */
  kept(reference: SessionReference): OpenSession | undefined {
    const state = this.#keptState(reference)?.reducingState
    if (!state) return undefined
    const { agentId, sessionId, cwd } = reference
    const agentName = this.#parts.host(agentId).name
    const setup = { cwd, additionalDirectories: [], mcpServers: [] }
    const agent = new AbsentAgent(agentName, this.#parts.records.agent(agentId))
    const session = new Session({ agent, sessionId, setup, phase: 'ready', state })
    session.giveTitle(this.#parts.records.get(agentId, sessionId)?.givenTitle)
    session.agentEnded(ABSENT)
    const cwdLabel = path.basename(cwd) || cwd
    const roots = { cwd, cwdLabel, additional: [], unseen: [], scratch: false }
    return { agentId, agentName, session, plan: { setup, roots, mcpServers: [] } }
  }

  /** What there is of a conversation before its agent gives it back. */
  #known(reference: SessionReference, previous: OpenSession | undefined): ReducingState | undefined {
    return previous?.session.reducingState ?? this.#keptState(reference)?.reducingState
  }

  #keptState({ agentId, sessionId }: SessionReference): { reducingState: ReducingState } | undefined {
    const conversation = this.#parts.transcripts.read(agentId, sessionId)
    return conversation && { reducingState: restoreState(conversation) }
  }

  /** The files that the session's agent changed. */
  changesOf({ agentId, session, plan }: OpenSession): ChangedFiles {
    const key = keyOf(agentId, session.sessionId)
    let changes = this.#changes.get(key)
    if (!changes) {
      const keep = this.#parts.changesKeep?.(agentId, session.sessionId) ?? NOTHING_KEPT
      changes = this.register(new ChangedFiles(this.#parts.services.files, plan.setup, keep))
      this.#changes.set(key, changes)
    }
    return changes
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

  /** Takes a prompt from the queue to be written on; see `QueueKeeper`. */
  editQueued(open: OpenSession, prompt: string): ReturnType<QueueKeeper['takeToEdit']> {
    return this.#queues.get(open)?.takeToEdit(prompt)
  }

  /** Stops the turn, and the commands it left running: some agents never end theirs. */
  cancel(open: OpenSession): void {
    open.session.cancel()
    void this.#services.get(keyOf(open.agentId, open.session.sessionId))?.terminals.killAll()
  }

  /** What an agent may ask of this window, for the conversations of `sessions()`. */
  client(agentId: string, sessions: () => AgentSessions | undefined): AgentClient {
    const { activeSession, nativeElicitation } = this.#parts
    return agentClient({
      agentId,
      sessions,
      services: sessionId => this.#services.get(keyOf(agentId, sessionId)),
      activeSession: () => activeSession(agentId),
      nativeElicitation,
    })
  }

  override dispose(): void {
    for (const services of this.#services.values()) services.dispose()
    this.#services.clear()
    this.#open.clear()
    super.dispose()
  }

  /** A session that was not there before is open; `unkept`: what its conversation begins with is on no disk yet. */
  #begun(open: OpenSession, progress: OpenProgress, unkept = false): OpenSession {
    this.changesOf(open).clear()
    this.#admit(open, unkept)
    this.#record(open)
    progress.onSession?.(open, false)
    return open
  }

  #admit(open: OpenSession, unkept = false): void {
    const { session, agentId, plan } = open
    const key = keyOf(agentId, session.sessionId)
    session.giveTitle(this.#parts.records.get(agentId, session.sessionId)?.givenTitle)
    void this.#services.get(key)?.end()
    const changes = this.changesOf(open)
    changes.setRoots(plan.setup)
    this.#services.set(key, new SessionServices(this.#parts.services, session, plan.setup, changes))
    this.#open.set(key, open)
    session.answerByRule = this.#parts.rules?.answersFor(agentId, () => plan.setup)
    // an agent that is gone ends its sessions: what they ran ends, their conversations stay to be read
    const following = this.register(new DisposableStore())
    following.add(session.onDidEnd(() => this.#dismiss(open)))
    following.add(session.onDidChange(changes => this.#noteChanges(open, changes)))
    following.add(followChanges(session, changes))
    const { files, onDidSave } = this.#parts.services
    if (onDidSave) following.add(noticeChanges(session, changes, onDidSave, files.log))
    following.add(new TranscriptKeeper(agentId, session, this.#parts.transcripts, unkept))
    this.#following.set(open, following)
    // outlives the others: what is in the queue when the agent is gone may be given back
    const conversation = conversationKey({ agentId, sessionId: session.sessionId })
    this.#queues.set(open, new QueueKeeper(conversation, session, this.#parts.drafts))
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

const NOTHING_KEPT: ChangesKeep = { read: () => [], write() {} }

function keyOf(agentId: string, sessionId: string): string {
  return `${agentId}\0${sessionId}`
}

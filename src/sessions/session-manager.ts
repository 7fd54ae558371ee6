import path from 'node:path'
import { type Agent, type AgentClient, AgentRequestError } from '../acp/agent.ts'
import { deferred, delay, withTimeout } from '../common/async.ts'
import { type Disposable, Owner, toDisposable } from '../common/disposable.ts'
import { CancelledError, messageOf } from '../common/errors.ts'
import { Emitter } from '../common/event.ts'
import { sessionKey } from '../common/session-key.ts'
import type { AgentSessions } from '../conversation/agent-sessions.ts'
import type { ReducingState } from '../conversation/reducer/reducing-state.ts'
import { forkState, restoreState } from '../conversation/restore-state.ts'
import { Session } from '../conversation/session.ts'
import type { Change } from '../conversation/state.ts'
import type { ChangeTracker } from '../editor/changes/change-tracker.ts'
import { SessionChanges } from '../editor/changes/session-changes.ts'
import type { Reopening } from './failures.ts'
import { ABSENT, AbsentAgent, type AgentHost } from './hosts/agent-host.ts'
import { OpenSession, type SessionReference } from './open-session.ts'
import type { PermissionRules } from './permission-rules/permission-rules.ts'
import type { NativeElicitation, SessionPlan, SessionPlanner, SessionRecords, Transcripts } from './ports.ts'
import type { PromptQueues } from './prompt-queues.ts'
import { followElsewhere, SessionElsewhereError, type SessionLeases, takeOver } from './session-leases.ts'
import { agentClient, type ServicesShared, SessionServicesRegistry } from './session-services.ts'
import { sessionTitle } from './session-title.ts'
import { forkUsage, type UsageRecords } from './usage-meter.ts'

/** How long the window before a reload may take to close its sessions. Milliseconds. */
const RELOAD_MS = 3000
const LOOK_EVERY_MS = 100

/** How long an agent may take to stop a turn before the session is closed for another window. Milliseconds. */
const STOP_MS = 3000

export interface SessionManagerOptions {
  host: (agentId: string) => AgentHost
  planner: SessionPlanner
  services: ServicesShared
  records: SessionRecords
  transcripts: Transcripts
  /** Which sessions this window has; without it no other window is known of. */
  leases?: SessionLeases
  queues: PromptQueues
  /** The conversation with the agent that the person works in and sees, if they do. */
  activeSession: (agentId: string) => Session | undefined
  /** Asks what belongs to no conversation. */
  nativeElicitation: NativeElicitation
  /** The person's rules for the questions of a session. */
  rules?: Pick<PermissionRules, 'answersFor'>
  /** What agents change in this window's files. */
  tracker: ChangeTracker
  /** Where usage and cost are counted. */
  usage?: UsageRecords
}

/** What is told while a session is being opened. */
export interface OpenProgress {
  /** The conversation can be shown: its history is about to replay. */
  onSession?: (open: OpenSession, replays: boolean) => void
}

/** The sessions open in this window, by agent and id; what each may do in the editor lives and ends with it. */
export class SessionManager extends Owner {
  readonly #options: SessionManagerOptions
  readonly #open = new Map<string, OpenSession>()
  readonly #services = this.register(new SessionServicesRegistry())
  /** They outlive the agent's process: what it changed is there to be looked at. */
  readonly #changes = new Map<string, SessionChanges>()
  /** by agent and session: how many attempts to reopen it are under way */
  readonly #reopening = new Map<string, number>()
  readonly #takenOver = new WeakSet<OpenSession>()
  readonly #change = this.register(new Emitter<void>())

  /** A session was opened or closed. */
  readonly onDidChange = this.#change.event

  constructor(options: SessionManagerOptions) {
    super()
    this.#options = options
    const { leases } = options
    if (!leases) return
    this.register(leases.onDidRequest(session => void this.#giveUp(session)))
    this.register(leases.onDidLose(session => void this.#giveUp(session)))
  }

  list(): OpenSession[] {
    return [...this.#open.values()]
  }

  find(agentId: string, sessionId: string): OpenSession | undefined {
    return this.#open.get(sessionKey(agentId, sessionId))
  }

  /**
   * Begins a session, in `cwd` when one is named, and gives it the prompts of `queue`: the key under which they were
   * written. Rejects with `AgentStartError`, `AgentRequestError`, `AgentClosedError`,
   * `CancelledError`.
   */
  async create(
    agentId: string,
    signal: AbortSignal,
    progress: OpenProgress = {},
    { cwd, queue }: { cwd?: string; queue?: string } = {},
  ): Promise<OpenSession> {
    const host = this.#options.host(agentId)
    const { agent, sessions } = await host.ensure(signal)
    const { planner } = this.#options
    const plan = await planner.forNew(agentId, agent.capabilities, cwd)
    if (!plan || signal.aborted) throw new CancelledError()
    return this.#services.opening(agentId, async () => {
      const session = await sessions.newSession(plan.setup, signal)
      if (queue !== undefined) {
        this.#options.queues.rename(queue, sessionKey(agentId, session.sessionId))
      }
      return this.#begun(this.#opened(agentId, session, plan), progress)
    })
  }

  /**
   * Reopens a session the agent knows; `load` replays its history, `resume` does not and goes on with the conversation
   * as it is known here (`previous`, of the same session in an agent that is gone, or what was kept). `restore` resumes
   * what is known, else loads, else resumes. It rejects with `CancelledError` when the agent can neither and there is
   * `previous`, or nothing was asked for but to restore, and with `SessionElsewhereError` when another window has the
   * session; else as `create` does.
   */
  async reopen(
    how: Reopening,
    reference: SessionReference,
    signal: AbortSignal,
    progress: OpenProgress = {},
    previous?: OpenSession,
  ): Promise<OpenSession> {
    const { agentId, sessionId } = reference
    await this.#acquire(reference, signal, how === 'restore' ? RELOAD_MS : 0)
    const key = sessionKey(agentId, sessionId)
    this.#reopening.set(key, (this.#reopening.get(key) ?? 0) + 1)
    try {
      return await this.#reopen(how, reference, signal, progress, previous)
    } finally {
      const others = (this.#reopening.get(key) ?? 1) - 1
      if (others > 0) this.#reopening.set(key, others)
      else this.#reopening.delete(key)
      this.#release(agentId, sessionId)
    }
  }

  /** Takes the session for this window. The window that this one was before a reload may still be closing. */
  async #acquire(
    { agentId, sessionId }: SessionReference,
    signal: AbortSignal,
    waitMs: number,
  ): Promise<void> {
    const end = Date.now() + waitMs
    while (this.#options.leases?.acquire(agentId, sessionId) === false) {
      if (Date.now() >= end) throw new SessionElsewhereError()
      await delay(LOOK_EVERY_MS)
      if (signal.aborted) throw new CancelledError()
    }
  }

  async #reopen(
    how: Reopening,
    reference: SessionReference,
    signal: AbortSignal,
    progress: OpenProgress,
    previous: OpenSession | undefined,
  ): Promise<OpenSession> {
    const { agentId, sessionId } = reference
    const { agent, sessions, plan } = await this.#reach(reference, signal)
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
    const open = this.#opened(agentId, opening.session, plan)
    const replaced = this.find(agentId, sessionId)
    // what the session may do in the editor stands ready before the agent's first question
    this.#admit(open)
    progress.onSession?.(open, replays)
    try {
      await opening.opened
    } catch (error) {
      this.#dismiss(open)
      throw error
    }
    if (replaced) this.owned.release(replaced)
    this.#record(open)
    return open
  }

  /** The agent of a session that it knows, running, and where the session is to work. */
  async #reach(
    { agentId, sessionId, cwd, additionalDirectories = [] }: SessionReference,
    signal: AbortSignal,
  ) {
    const host = this.#options.host(agentId)
    const { agent, sessions } = await host.ensure(signal)
    const record = this.#options.records.get(agentId, sessionId)
    const known = new Set([...(record?.additionalDirectories ?? []), ...additionalDirectories])
    const own = { cwd, additionalDirectories: [...known], systemPrompt: record?.systemPrompt }
    const plan = await this.#options.planner.forExisting(own, agent.capabilities)
    if (signal.aborted) throw new CancelledError()
    return { agent, sessions, plan }
  }

  /** Who goes on with a session that was put away wants it back. An agent that refuses may open it all the same. */
  async #bringBack(agent: Agent, { agentId, sessionId, cwd, archived }: SessionReference): Promise<void> {
    const { records } = this.#options
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
    const { sessions, plan } = await this.#reach(reference, signal)
    const known = this.find(agentId, sessionId)?.session ?? this.#keptState(reference)
    const state = known && forkState(known.reducingState)
    return this.#services.opening(agentId, async () => {
      const session = await sessions.forkSession(sessionId, plan.setup, signal, state)
      const { usage } = this.#options
      // what a turn costs may not be reported yet: it would be counted for both
      const isSettled = !this.find(agentId, sessionId)?.session.isWorking
      if (usage && isSettled) forkUsage(usage, agentId, sessionId, session.sessionId)
      return this.#begun(this.#opened(agentId, session, plan), progress, 'fork')
    })
  }

  /** A session as it was kept on disk, to be read before its agent has started, or when it never does. */
  kept(reference: SessionReference): OpenSession | undefined {
    const state = this.#keptState(reference)?.reducingState
    if (!state) return undefined
    const { agentId, sessionId, cwd } = reference
    const agentName = this.#options.host(agentId).name
    const setup = { cwd, additionalDirectories: [], mcpServers: [] }
    const agent = new AbsentAgent(agentName, this.#options.records.agent(agentId))
    const session = new Session({ agent, sessionId, setup, phase: 'ready', state })
    session.giveTitle(this.#options.records.get(agentId, sessionId)?.givenTitle)
    session.agentEnded(ABSENT)
    const cwdLabel = path.basename(cwd) || cwd
    const roots = { cwd, cwdLabel, additional: [], unseen: [], scratch: false }
    return this.#opened(agentId, session, { setup, roots, mcpServers: [] })
  }

  /** What there is of a conversation before its agent gives it back. */
  #known(reference: SessionReference, previous: OpenSession | undefined): ReducingState | undefined {
    return previous?.session.reducingState ?? this.#keptState(reference)?.reducingState
  }

  #keptState({ agentId, sessionId }: SessionReference): { reducingState: ReducingState } | undefined {
    const conversation = this.#options.transcripts.read(agentId, sessionId)
    return conversation && { reducingState: restoreState(conversation) }
  }

  #opened(agentId: string, session: Session, plan: SessionPlan): OpenSession {
    const key = sessionKey(agentId, session.sessionId)
    let changes = this.#changes.get(key)
    if (!changes) {
      changes = new SessionChanges(this.#options.tracker, key, plan.setup)
      this.#changes.set(key, changes)
    }
    const agentName = this.#options.host(agentId).name
    return new OpenSession({ agentId, agentName, session, plan, changes })
  }

  /** Has the window that has the session close it. Rejects with `CancelledError` when `signal` aborts. */
  async takeOver(reference: SessionReference, signal: AbortSignal): Promise<void> {
    if (this.#options.leases) await takeOver(this.#options.leases, reference, signal)
  }

  /** Whether the session was closed here because another window took it over. */
  isTakenOver(open: OpenSession): boolean {
    return this.#takenOver.has(open)
  }

  /** The agent as it was when it last ran. */
  knownAgent(agentId: string): ReturnType<SessionRecords['agent']> {
    return this.#options.records.agent(agentId)
  }

  /** Shows in a saved conversation what another window writes of it. */
  follow(open: OpenSession): Disposable {
    return followElsewhere(open, this.#options.transcripts)
  }

  /** Another window takes the session over: the turn is stopped, all of it is written, and it is closed here. */
  async #giveUp({ agentId, sessionId }: Pick<SessionReference, 'agentId' | 'sessionId'>): Promise<void> {
    const open = this.find(agentId, sessionId)
    if (!open) return this.#release(agentId, sessionId)
    if (this.#takenOver.has(open)) return
    this.#takenOver.add(open)
    const { session } = open
    if (session.state.activity !== 'idle') {
      open.cancel()
      const idle = deferred()
      const watch = session.onDidChange(() => session.state.activity === 'idle' && idle.resolve())
      await withTimeout(idle.promise, STOP_MS)
      watch.dispose()
    }
    try {
      await this.close(open)
    } catch (error) {
      this.#options.services.files.log?.warn(`A session that another window took over: ${messageOf(error)}`)
    }
  }

  #release(agentId: string, sessionId: string): void {
    const key = sessionKey(agentId, sessionId)
    if (!this.#open.has(key) && !this.#reopening.has(key)) this.#options.leases?.release(agentId, sessionId)
  }

  /** Closes the session here and, where the agent can, there. */
  async close(open: OpenSession): Promise<void> {
    this.#dismiss(open)
    await open.session.close()
  }

  /**
   * Deletes the session with its agent, where that runs and can, and what Parley has saved of it. Rejects with the
   * agent's refusal, or where another window has the session; nothing is deleted then.
   */
  async delete(agentId: string, sessionId: string): Promise<void> {
    const { host, leases, records, transcripts } = this.#options
    if (leases?.acquire(agentId, sessionId) === false) throw new SessionElsewhereError()
    try {
      const agent = host(agentId).running?.agent
      const open = this.find(agentId, sessionId)
      if (open) await this.close(open)
      if (agent?.capabilities.delete) await agent.deleteSession(sessionId)
      records.forget(agentId, sessionId)
      transcripts.forget(agentId, sessionId)
    } finally {
      this.#release(agentId, sessionId)
    }
    this.#change.fire()
  }

  /** What an agent may ask of this window, for the conversations of `sessions()`. */
  client(agentId: string, sessions: () => AgentSessions | undefined): AgentClient {
    const { activeSession, nativeElicitation } = this.#options
    return agentClient({
      agentId,
      sessions,
      services: this.#services,
      activeSession: () => activeSession(agentId),
      nativeElicitation,
    })
  }

  override dispose(): void {
    this.#open.clear()
    super.dispose()
  }

  /** A session that was not there before is open. */
  #begun(open: OpenSession, progress: OpenProgress, origin: 'new' | 'fork' = 'new'): OpenSession {
    open.changes.clear()
    this.#admit(open, origin)
    this.#record(open)
    progress.onSession?.(open, false)
    return open
  }

  #admit(open: OpenSession, origin: 'new' | 'fork' | 'known' = 'known'): void {
    const { session, agentId, plan, key } = open
    const { records, queues, rules, services, transcripts, usage } = this.#options
    session.giveTitle(records.get(agentId, session.sessionId)?.givenTitle)
    session.answerByRule = rules?.answersFor(agentId, () => plan.setup)
    this.register(open)
    this.#open.set(key, open)
    this.#options.leases?.acquire(agentId, session.sessionId)
    open.begin({
      queue: queues.of(key),
      services,
      transcripts,
      usage,
      origin,
      onChange: changes => this.#noteChanges(open, changes),
      // an agent that is gone ends its sessions: what they ran ends, their conversations stay to be read
      onEnd: () => this.#dismiss(open),
    })
    if (open.services) this.#services.set(agentId, session.sessionId, open.services)
    this.#change.fire()
  }

  #dismiss(open: OpenSession): void {
    this.owned.release(open)
    if (this.#open.get(open.key) !== open) return
    this.#services.end(open.agentId, open.session.sessionId)
    this.#open.delete(open.key)
    this.#release(open.agentId, open.session.sessionId)
    this.#change.fire()
  }

  /** A turn that begins or ends, or a new title, is worth remembering; nothing else is looked at. */
  #noteChanges(open: OpenSession, changes: readonly Change[]): void {
    const worth = changes.some(
      change => change.type === 'head' && (change.key === 'title' || change.key === 'activity'),
    )
    if (!worth) return
    const { session, agentId } = open
    this.#options.records.touched(agentId, session.sessionId, this.#titleToRecord(open))
  }

  #record(open: OpenSession): void {
    this.#options.records.opened(open.agentId, {
      sessionId: open.session.sessionId,
      cwd: open.plan.setup.cwd,
      additionalDirectories: open.plan.setup.additionalDirectories,
      systemPrompt: open.plan.ownSystemPrompt,
      title: this.#titleToRecord(open),
    })
  }

  /** A title that the agent gave once is not replaced by the first words of a prompt. */
  #titleToRecord({ agentId, session }: OpenSession): string | undefined {
    if (session.state.title !== undefined) return session.state.title
    return this.#options.records.get(agentId, session.sessionId)?.title ?? sessionTitle(session.state)
  }
}

/**
 * Calls `watch` once for each session that is open, now and later. What it returns is disposed when the session is no
 * longer open, and with the whole.
 */
export function watchSessions(
  manager: Pick<SessionManager, 'list' | 'onDidChange'>,
  watch: (open: OpenSession) => Disposable,
): Disposable {
  const watched = new Map<OpenSession, Disposable>()
  const look = () => {
    const sessions = new Set(manager.list())
    for (const [open, watching] of watched) {
      if (sessions.has(open)) continue
      watched.delete(open)
      watching.dispose()
    }
    for (const open of sessions) if (!watched.has(open)) watched.set(open, watch(open))
  }
  const following = manager.onDidChange(look)
  look()
  return toDisposable(() => {
    following.dispose()
    for (const watching of watched.values()) watching.dispose()
    watched.clear()
  })
}

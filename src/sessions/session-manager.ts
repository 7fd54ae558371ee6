import path from 'node:path'
import * as l10n from '@vscode/l10n'
import { type Agent, type AgentClient, AgentRequestError, type SessionNote } from '../acp/agent.ts'
import type { ConfigOption } from '../acp/model.ts'
import type { ChangeTracker } from '../changes/change-tracker.ts'
import { SessionChanges } from '../changes/session-changes.ts'
import { deferred, delay, raceAbort, withTimeout } from '../common/async.ts'
import { type Disposable, Owner, toDisposable } from '../common/disposable.ts'
import { CancelledError, messageOf } from '../common/errors.ts'
import { Emitter } from '../common/event.ts'
import {
  ACQUIRE_SESSION_POLL_MS,
  RELEASE_POLL_MS,
  RELOAD_CLOSE_MS,
  STOP_TURN_MS,
  TAKE_OVER_MS,
} from '../common/limits.ts'
import { type SessionId, sessionKey } from '../common/session-key.ts'
import type { AgentSessions } from '../conversation/agent-sessions.ts'
import type { PromptQueue } from '../conversation/prompts/prompt-queue.ts'
import { createSessionState, type ReducingState } from '../conversation/reducer/reducing-state.ts'
import {
  type ConversationEnd,
  continueState,
  forkState,
  restoreEnd,
  restoreState,
} from '../conversation/replay/restore-state.ts'
import { originsOf } from '../conversation/rewinds.ts'
import { Session } from '../conversation/session.ts'
import type { Change } from '../conversation/state.ts'
import type { Reopening } from './failures.ts'
import { OpenSession, type SessionOrigin, type SessionReference } from './open-session.ts'
import type { PermissionRules } from './permission-rules/permission-rules.ts'
import type {
  HostedSessions,
  KeptServers,
  NativeElicitation,
  SavedConversations,
  SessionPlan,
  SessionPlanner,
  SessionRecords,
} from './ports.ts'
import type { PromptQueues } from './prompt-queues.ts'
import { ABSENT, AbsentAgent } from './runners/absent-agent.ts'
import type { AgentRunner, RunningAgent } from './runners/agent-runner.ts'
import { followElsewhere, SessionElsewhereError, type SessionLeases, takeOver } from './session-leases.ts'
import {
  addWrittenChange,
  agentClient,
  type ServicesShared,
  SessionArrivals,
  type SessionServices,
} from './session-services.ts'
import { keepListedTitle, titleToRecord } from './session-title.ts'
import { readUnsaved, withUnsaved } from './unsaved-conversation.ts'
import { forkUsage, type UsageRecords } from './usage-meter.ts'

export interface SessionManagerOptions {
  runner: (agentId: string) => AgentRunner
  planner: SessionPlanner
  services: ServicesShared
  records: SessionRecords
  transcripts: SavedConversations
  /** Which window has which session. Without it, this window has all. */
  leases?: SessionLeases
  /** How long another window may take to release a session, in milliseconds. */
  takeOverMs?: number
  queues: PromptQueues
  /** The agent's session in the visible conversation that was used last, if any. */
  activeSession: (agentId: string) => Session | undefined
  /** Asks the questions that belong to no session. */
  nativeElicitation: NativeElicitation
  /** The user's rules for permission requests. */
  rules?: Pick<PermissionRules, 'answersFor'>
  /** The agents that run in the agent host. Without it, none does. */
  hosted?: HostedSessions
  /** Tracks what agents change in the files of this window. */
  tracker: ChangeTracker
  /** Where usage and cost are counted. */
  usage?: UsageRecords
}

/** Reports progress while a session is being opened. */
export interface OpenProgress {
  /** The agent runs, and is asked to open the session now. */
  onPlan?: (plan: SessionPlan) => void
  /** The session can be displayed. `replays`: its history is loaded now. */
  onSession?: (open: OpenSession, replays: boolean) => void
}

/** Where a fork ends, in agents with `forkAtMessage`. */
export interface ForkPoint {
  /** of the agent's last message that belongs to it */
  messageId: string
  /** the first turn that doesn't */
  turn: number
  /** Without that, forks the whole conversation, or does nothing. */
  otherwise: 'whole' | 'stay'
}

/** The end of a saved conversation with more entries than this is shown before the others are read. */
const LONG = 400
/** The number of entries at the end that are shown first: more than a view can show. */
const LAST_ENTRIES = 50

/** When the editor's tools are served again in sessions of an earlier window: after a view shows what the agents said. Milliseconds. */
const REOPEN_TOOLS_MS = 100

/** The sessions that are open in this window. */
export class SessionManager extends Owner {
  readonly #options: SessionManagerOptions
  readonly #open = new Map<string, OpenSession>()
  readonly #arrivals = new SessionArrivals()
  /** by session key; kept when the session ends, since its changes can still be reviewed */
  readonly #changes = new Map<string, SessionChanges>()
  /** by session key: number of attempts to reopen it */
  readonly #reopening = new Map<string, number>()
  /** by session key: number of reservations */
  readonly #reserved = new Map<string, number>()
  readonly #takenOver = new WeakSet<OpenSession>()
  /** keys of sessions that this window left to another one with their agent */
  readonly #handedOver = new Set<string>()
  /** by session key: the window that had it and didn't release it */
  readonly #seized = new Map<string, string>()
  readonly #change = this.register(new Emitter<void>())

  readonly #yielded = this.register(new Emitter<SessionId>())

  /** A session was opened or closed. */
  readonly onDidChange = this.#change.event
  /** Another window requests a session that isn't open but reserved here, or has taken it. */
  readonly onDidYield = this.#yielded.event

  constructor(options: SessionManagerOptions) {
    super()
    this.#options = options
    const { leases } = options
    if (!leases) return
    this.register(leases.onDidRequest(session => void this.#giveUp(session)))
    this.register(leases.onDidLose(session => void this.#giveUp(session, true)))
  }

  list(): OpenSession[] {
    return [...this.#open.values()]
  }

  find(agentId: string, sessionId: string): OpenSession | undefined {
    return this.#open.get(sessionKey(agentId, sessionId))
  }

  /**
   * Starts a session, in `cwd` if given, and moves the prompts under the key `queue` to it. Rejects with
   * `AgentStartError`, `AgentRequestError`, `AgentClosedError` or `CancelledError`.
   */
  async create(
    agentId: string,
    signal: AbortSignal,
    progress: OpenProgress = {},
    { cwd, queue }: { cwd?: string; queue?: string } = {},
  ): Promise<OpenSession> {
    const runner = this.#options.runner(agentId)
    const { agent, sessions } = await runner.ensure(signal)
    const { planner } = this.#options
    const plan = await planner.forNew(agentId, agent.capabilities, cwd)
    if (!plan) throw new CancelledError()
    return withPlan(plan, async () => {
      if (signal.aborted) throw new CancelledError()
      progress.onPlan?.(plan)
      return this.#arrivals.track(agentId, async () => {
        const session = await sessions.newSession(plan.setup, signal)
        if (queue !== undefined) {
          this.#options.queues.rename(queue, sessionKey(agentId, session.sessionId))
        }
        return this.#begun(this.#opened(agentId, session, plan), progress)
      })
    })
  }

  /**
   * Reopens a session that the agent knows. `load` replays its history. `resume` continues the conversation known here:
   * that of `previous`, the same session of an ended agent, or the saved one. `restore` resumes a known conversation,
   * else loads the session, else resumes it. Rejects with `SessionElsewhereError` if another window has the session, with
   * `CancelledError` if the agent can neither load nor resume (for `restore`, or with `previous`), else as `create` does.
   */
  async reopen(
    how: Reopening,
    reference: SessionReference,
    signal: AbortSignal,
    progress: OpenProgress = {},
    previous?: OpenSession,
  ): Promise<OpenSession> {
    const { agentId, sessionId } = reference
    await this.#acquire(reference, signal, how === 'restore' ? RELOAD_CLOSE_MS : 0)
    const release = this.#keep(agentId, sessionId)
    try {
      return (
        (await this.#goOn(reference, signal, previous)) ??
        (await this.#reopen(how, reference, signal, progress, previous))
      )
    } finally {
      release()
    }
  }

  /**
   * Takes all sessions of an agent that this window is about to go on with, from now on: nobody else answers what they ask. `from`:
   * a window that doesn't respond, which loses them. If several windows do that at the same time, the one that has the first
   * session wins; in the others it resolves to `undefined`. Those that aren't open here when the returned function is called
   * are released then.
   */
  async acquireAll(
    agentId: string,
    sessionIds: readonly string[],
    from?: string,
  ): Promise<(() => void) | undefined> {
    const { leases, takeOverMs = TAKE_OVER_MS } = this.#options
    const end = performance.now() + takeOverMs
    const releases: Array<() => void> = []
    const release = () => {
      for (const one of releases) one()
    }
    for (const [position, sessionId] of [...sessionIds].sort().entries()) {
      while (leases?.acquire(agentId, sessionId, from) === false) {
        if (position === 0) return undefined
        // the window that has it gives it up, as it doesn't get the first one
        if (performance.now() >= end) leases.seize(agentId, sessionId)
        else await delay(ACQUIRE_SESSION_POLL_MS)
      }
      releases.push(this.#keep(agentId, sessionId))
    }
    return release
  }

  /** Whether this window still has the sessions, of which another one may have taken some. */
  hasAll(agentId: string, sessionIds: readonly string[]): boolean {
    return sessionIds.every(sessionId => this.#options.leases?.acquire(agentId, sessionId) !== false)
  }

  /** Keeps other windows from having the session, which this one has, until the returned function is called. */
  #keep(agentId: string, sessionId: string, counts = this.#reopening): () => void {
    const key = sessionKey(agentId, sessionId)
    counts.set(key, (counts.get(key) ?? 0) + 1)
    return () => {
      const others = (counts.get(key) ?? 1) - 1
      if (others > 0) counts.set(key, others)
      else counts.delete(key)
      if (counts !== this.#reserved || others <= 0) this.#release(agentId, sessionId)
    }
  }

  /**
   * The session with its agent, which another window left in the agent host; `undefined` if it isn't there. It may be open here
   * already, since it came with another session of the agent.
   */
  async #goOn(
    reference: SessionReference,
    signal: AbortSignal,
    previous: OpenSession | undefined,
  ): Promise<OpenSession | undefined> {
    const { agentId, sessionId } = reference
    const key = sessionKey(agentId, sessionId)
    const from = this.#seized.get(key)
    this.#seized.delete(key)
    const { hosted } = this.#options
    const open = this.find(agentId, sessionId)
    if (open) {
      const { phase, agent } = open.session
      return open !== previous && phase === 'ready' && agent.hosted?.isKept ? open : undefined
    }
    if (!hosted) return undefined
    this.#handedOver.delete(key)
    const isTaken = await hosted.takeOver(reference, from)
    if (signal.aborted) throw new CancelledError()
    const continued = this.find(agentId, sessionId)
    // what its agent said last, which has exited
    if (isTaken && !continued && previous) this.catchUp(previous)
    // another window may have taken it meanwhile
    if (!continued && (this.#handedOver.has(key) || !this.hasAll(agentId, [sessionId])))
      throw new SessionElsewhereError(true)
    return continued
  }

  /**
   * Goes on with the sessions that an earlier window had open with the same process, as if this were still that window.
   * Resolves when all that the agent said meanwhile has arrived. `onSession`: called for each one before its prompts are sent.
   */
  async reattach(
    agentId: string,
    { agent, sessions }: RunningAgent,
    onSession: (session: Session, note: SessionNote) => void,
  ): Promise<void> {
    const { attached, hosted } = agent
    if (!attached || !hosted) return
    const lost = new AbortController()
    const watching = hosted.onDidLose(() => lost.abort())
    const reattached: Session[] = []
    /** Another window may need what this one doesn't. */
    let isNeeded = !attached.isOver
    const failures: unknown[] = []
    for (const one of attached.sessions) {
      const { sessionId } = one
      const unsaved = readUnsaved(one.note.unsaved, hosted.id)
      const record = this.#options.records.get(agentId, sessionId) ?? (unsaved && { sessionId, ...unsaved })
      if (!record) continue
      if (attached.isOver && !unsaved && this.#goesOnElsewhere(agentId, sessionId, hosted.id)) continue
      try {
        await this.#acquire({ ...record, agentId }, lost.signal, RELOAD_CLOSE_MS)
      } catch (error) {
        // The window before has left the agent, but may take long to close. Without the session, this one would refuse what the
        // agent asks. Of an agent that has exited, another process may have gone on with the session.
        const isLeft = error instanceof SessionElsewhereError && !attached.isOver && !lost.signal.aborted
        if (isLeft) this.#options.leases?.seize(agentId, sessionId)
        else {
          isNeeded = true
          const isExpected = error instanceof SessionElsewhereError || error instanceof CancelledError
          if (!isExpected) failures.push(error)
          continue
        }
      }
      let plan: SessionPlan | undefined
      try {
        const kept = one.note as KeptServers
        plan = await this.#options.planner.forKept({ ...record, agentId }, agent.capabilities, kept)
        const stored = this.#options.transcripts.read(agentId, sessionId)
        const saved = unsaved ? withUnsaved(stored, unsaved.changes) : stored
        const said = saved?.said?.hostedId === hosted.id ? saved.said.frame : 0
        const state = saved ? continueState(saved) : createSessionState()
        const session = sessions.reattachSession(one, plan.setup, state, said)
        // whether the agent took such a prompt isn't known anymore, so the user decides whether to send it again
        const isUndecided = saved?.entries.some(
          entry => entry.kind === 'message' && entry.steering === 'sent',
        )
        onSession(session, isUndecided ? { ...one.note, isPaused: true } : one.note)
        const open = this.#opened(agentId, session, plan)
        this.#admit(open, saved === stored ? 'known' : 'unsaved')
        if (unsaved) this.#record(open)
        reattached.push(session)
      } catch (error) {
        isNeeded = true
        failures.push(error)
        if (plan) disposePlan(plan)
        this.#release(agentId, one.sessionId)
      }
    }
    watching.dispose()
    // also after a failure: the agent's other sessions go on
    await attached.begin()
    if (!isNeeded) hosted.confirm(hosted.handled)
    for (const session of reattached) session.reattached()
    // loads much, which would delay what the agent says
    setTimeout(() => {
      for (const { sessionId } of reattached)
        void this.find(agentId, sessionId)?.plan.editorTools?.reopen?.(port => hosted.serve(port))
    }, REOPEN_TOOLS_MS)
    if (failures.length > 0) throw failures[0]
  }

  /** Whether another process has gone on with a session since the one with this id has exited. */
  #goesOnElsewhere(agentId: string, sessionId: string, hostedId: string): boolean {
    if (this.find(agentId, sessionId)) return true
    const saved = this.#options.transcripts.read(agentId, sessionId)
    return saved !== undefined && saved.said?.hostedId !== hostedId
  }

  /** Acquires the session for this window. Before a reload, the same window may still be closing it. */
  async #acquire(
    { agentId, sessionId }: SessionReference,
    signal: AbortSignal,
    waitMs: number,
  ): Promise<void> {
    const end = performance.now() + waitMs
    while (this.#options.leases?.acquire(agentId, sessionId) === false) {
      if (performance.now() >= end)
        throw new SessionElsewhereError(await this.#options.hosted?.has({ agentId, sessionId }))
      await delay(RELEASE_POLL_MS)
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
    const reached = await this.#reach(reference, signal)
    return withPlan(reached.plan, () => this.#reopenAt(how, reference, signal, progress, previous, reached))
  }

  async #reopenAt(
    how: Reopening,
    reference: SessionReference,
    signal: AbortSignal,
    progress: OpenProgress,
    previous: OpenSession | undefined,
    { agent, sessions, plan }: Reached,
  ): Promise<OpenSession> {
    const { agentId, sessionId } = reference
    await this.#unarchive(agent, reference)
    if (signal.aborted) throw new CancelledError()
    progress.onPlan?.(plan)
    const { load, resume } = agent.capabilities
    const before = previous?.session ?? (how === 'load' ? undefined : this.#keptState(reference))
    // the saved conversation has more than a replay: times, answers, output
    const replays = how === 'load' || (how === 'restore' && load && !(before && resume))
    if (!load && !resume && (how === 'restore' || previous)) throw new CancelledError()
    // before the agent's answer replaces them
    const options = this.#lastOptions(reference, previous)
    const lastOptions = () => options
    const kept = () => this.#known(reference, previous)
    const opening = replays
      ? sessions.loadSession(sessionId, plan.setup, signal, kept, lastOptions)
      : sessions.resumeSession(sessionId, plan.setup, signal, before, lastOptions)
    const open = this.#opened(agentId, opening.session, plan)
    keepListedTitle(this.#options.records, open, reference)
    const replaced = this.find(agentId, sessionId)
    // the agent may request files before it answers
    this.#admit(open)
    progress.onSession?.(open, replays)
    try {
      await opening.opened
    } catch (error) {
      this.#dismiss(open)
      throw error
    }
    open.session.reopened(options ?? [])
    if (replaced) this.owned.release(replaced)
    this.#record(open)
    return open
  }

  /** The options of a session as they were known last. */
  #lastOptions({ agentId, sessionId }: SessionReference, open?: OpenSession): ConfigOption[] | undefined {
    const options = open?.session.state.configOptions ?? []
    return options.length > 0 ? [...options] : this.#options.transcripts.options(agentId, sessionId)
  }

  /** Starts the agent of an existing session and plans the session's folders. */
  async #reach(
    { agentId, sessionId, cwd, additionalDirectories = [] }: SessionReference,
    signal: AbortSignal,
  ): Promise<Reached> {
    const runner = this.#options.runner(agentId)
    const { agent, sessions } = await runner.ensure(signal)
    const record = this.#options.records.get(agentId, sessionId)
    const known = new Set([...(record?.additionalDirectories ?? []), ...additionalDirectories])
    const directories = { cwd, additionalDirectories: [...known] }
    const own = {
      ...{ agentId, sessionId, ...directories, systemPrompt: record?.systemPrompt },
      ...(record?.imported && record.cwd === cwd && { imported: true }),
    }
    const plan = await this.#options.planner.forExisting(own, agent.capabilities)
    return withPlan(plan, async () => {
      if (signal.aborted) throw new CancelledError()
      return { agent, sessions, plan }
    })
  }

  /** Unarchives a session that is being reopened. If the agent refuses, it may still open the session. */
  async #unarchive(agent: Agent, { agentId, sessionId, cwd, archived }: SessionReference): Promise<void> {
    const { records } = this.#options
    if (!(archived ?? records.get(agentId, sessionId)?.archived) || !agent.capabilities.archive) return
    try {
      await agent.unarchiveSession?.(sessionId)
      records.noted(agentId, { sessionId, cwd }, { archived: false })
    } catch (error) {
      if (!(error instanceof AgentRequestError)) throw error
    }
  }

  /**
   * Forks a session, at a point if one is given and its agent accepts it. Rejects as `create` does. Resolves with the session
   * itself if the agent doesn't accept a point without which there should be no fork.
   */
  async fork(
    reference: SessionReference,
    signal: AbortSignal,
    progress: OpenProgress = {},
    at?: ForkPoint,
  ): Promise<OpenSession> {
    const { agentId, sessionId } = reference
    const { sessions, plan } = await this.#reach(reference, signal)
    progress.onPlan?.(plan)
    const known = this.find(agentId, sessionId)?.session ?? this.#keptState(reference)
    const make = (point?: ForkPoint) => {
      const state = known && forkState(known.reducingState, sessionKey(agentId, sessionId), point?.turn)
      return sessions.forkSession(sessionId, plan.setup, signal, state, point?.messageId)
    }
    const fork = async () => {
      let session: Session
      try {
        session = await make(at)
      } catch (error) {
        if (!at || !(error instanceof AgentRequestError)) throw error
        const original = this.find(agentId, sessionId)
        if (at.otherwise === 'stay' && original) {
          disposePlan(plan)
          return original
        }
        session = await make()
      }
      const { records, usage } = this.#options
      const open = this.#opened(agentId, session, plan)
      session.reopened(this.#lastOptions(reference, this.find(agentId, sessionId)) ?? [])
      keepListedTitle(this.#options.records, open, reference)
      const givenTitle = records.get(agentId, sessionId)?.givenTitle
      if (givenTitle !== undefined)
        records.noted(agentId, { sessionId: session.sessionId, cwd: plan.setup.cwd }, { givenTitle })
      // the cost of a running turn may not be reported yet and would be counted twice
      const isSettled = !this.find(agentId, sessionId)?.session.isWorking
      if (usage && isSettled) forkUsage(usage, agentId, sessionId, session.sessionId)
      return this.#begun(open, progress, 'fork')
    }
    return withPlan(plan, () => this.#arrivals.track(agentId, fork))
  }

  /** The end of a saved conversation that takes a while to read; `undefined` for others. */
  savedEnd({ agentId, sessionId }: SessionReference): ConversationEnd | undefined {
    const end = this.#options.transcripts.readEnd(agentId, sessionId, LONG, LAST_ENTRIES)
    return end && restoreEnd(end.conversation, end.first)
  }

  /** The saved conversation of a session, readable without its agent. */
  saved(reference: SessionReference): OpenSession | undefined {
    const state = this.#keptState(reference)?.reducingState
    if (!state) return undefined
    const { agentId, sessionId, cwd } = reference
    const agentName = this.#options.runner(agentId).name
    const setup = { cwd, additionalDirectories: [], mcpServers: [] }
    const agent = new AbsentAgent(agentName, this.#options.records.agent(agentId))
    const session = new Session({ agent, sessionId, setup, phase: 'ready', state })
    session.giveTitle(this.#options.records.get(agentId, sessionId)?.givenTitle)
    session.agentEnded(ABSENT)
    const cwdLabel = path.basename(cwd) || cwd
    const roots = { cwd, cwdLabel, additional: [], unseen: [], scratch: false }
    return this.#opened(agentId, session, { setup, roots, mcpServers: [] })
  }

  /** The conversation as far as it is known before the agent replays it. */
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
    changes.origins = () => originsOf(session.state)
    const agentName = this.#options.runner(agentId).name
    return new OpenSession({ agentId, agentName, session, plan, changes })
  }

  /** Makes the window that has the session close it. Rejects with `CancelledError` when `signal` aborts. */
  async takeOver(reference: SessionReference, signal: AbortSignal): Promise<void> {
    const { leases, takeOverMs } = this.#options
    const from = leases && (await takeOver(leases, reference, signal, takeOverMs))
    if (from !== undefined) this.#seized.set(sessionKey(reference.agentId, reference.sessionId), from)
  }

  /**
   * Leaves an agent of the agent host to another window, with all of its sessions: nothing that happens here from now on
   * reaches the agent or what is stored. `isLost`: that window has it already, so that a prompt may not reach the agent anymore,
   * which goes back to the composer.
   */
  async handOver(agent: Agent, isLost: boolean): Promise<void> {
    const all = this.list().filter(({ session }) => session.agent === agent)
    const sent = all.map(({ session }) => ({ session, prompt: session.sentPrompt }))
    for (const open of all) {
      this.#takenOver.add(open)
      this.#handedOver.add(open.key)
    }
    const left = this.#options.hosted?.leave(agent, isLost)
    const releases = all.map(open => {
      const release = this.#keep(open.agentId, open.session.sessionId)
      this.#dismiss(open)
      return release
    })
    agent.dispose()
    const unsent = await left
    for (const { session, prompt } of sent) {
      if (!prompt || !unsent?.includes(session.sessionId)) continue
      const reason = l10n.t('Another window took over the session before the prompt was sent.')
      session.queue.addReturned([{ id: prompt.id, draft: prompt.draft }], reason)
    }
    for (const release of releases) release()
  }

  /** Whether the session was closed here because another window took it over. */
  isTakenOver(open: OpenSession): boolean {
    return this.#takenOver.has(open)
  }

  /** The session that has this queue, if one is open. */
  sessionOf(queue: PromptQueue): OpenSession | undefined {
    return this.list().find(({ session }) => session.queue === queue)
  }

  /** The agent's capabilities when it last ran. */
  knownAgent(agentId: string): ReturnType<SessionRecords['agent']> {
    return this.#options.records.agent(agentId)
  }

  /** Updates a saved conversation with what another window adds to it. */
  follow(open: OpenSession): Disposable {
    return followElsewhere(open, this.#options.transcripts)
  }

  /** Continues a saved conversation from what another window, which is gone or has closed it, saved last. */
  catchUp({ agentId, session }: OpenSession): void {
    const conversation = this.#options.transcripts.read(agentId, session.sessionId)
    if (conversation) session.catchUp(conversation)
  }

  /** Another window takes the session over: stops the turn unless it goes on there, saves the conversation and closes the session. */
  async #giveUp({ agentId, sessionId }: SessionId, isLost = false): Promise<void> {
    const open = this.find(agentId, sessionId)
    if (!open) {
      const isReserved = () => this.#reserved.has(sessionKey(agentId, sessionId))
      if (isReserved()) this.#yielded.fire({ agentId, sessionId })
      if (!isReserved()) this.#release(agentId, sessionId)
      return
    }
    if (this.#takenOver.has(open)) return
    const { session } = open
    if (session.agent.hosted?.isKept) return this.handOver(session.agent, isLost)
    this.#takenOver.add(open)
    if (session.state.activity !== 'idle') {
      open.cancel()
      const idle = deferred()
      const watch = session.onDidChange(() => session.state.activity === 'idle' && idle.resolve())
      await withTimeout(idle.promise, STOP_TURN_MS)
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

  /** Closes the session, also with the agent if it can. */
  async close(open: OpenSession): Promise<void> {
    this.#dismiss(open)
    await open.session.close()
  }

  /** Keeps other windows from opening the session until all results are disposed. Throws `SessionElsewhereError`. */
  reserve(agentId: string, sessionId: string): Disposable {
    if (this.#options.leases?.acquire(agentId, sessionId) === false) throw new SessionElsewhereError()
    return toDisposable(this.#keep(agentId, sessionId, this.#reserved))
  }

  /** Handles the requests of an agent; `sessions` are those of its process. */
  client(agentId: string, sessions: () => AgentSessions | undefined): AgentClient {
    const { activeSession, nativeElicitation } = this.#options
    return agentClient({
      agentId,
      sessions,
      services: (sessionId, signal) => this.#servicesOf(agentId, sessionId, signal),
      activeSession: () => activeSession(agentId),
      nativeElicitation,
    })
  }

  /** Waits for a session that is being opened; `undefined` if it isn't opened. */
  async #servicesOf(
    agentId: string,
    sessionId: () => string,
    signal?: AbortSignal,
  ): Promise<SessionServices | undefined> {
    for (;;) {
      const services = this.find(agentId, sessionId())?.services
      const arrival = services ? undefined : this.#arrivals.next(agentId)
      if (!arrival || signal?.aborted) return services
      await raceAbort(arrival, signal).catch(() => {})
    }
  }

  override dispose(): void {
    this.#open.clear()
    super.dispose()
  }

  /** Opens a new session. */
  #begun(open: OpenSession, progress: OpenProgress, origin: 'new' | 'fork' = 'new'): OpenSession {
    open.changes.clear()
    this.#admit(open, origin)
    this.#record(open)
    progress.onSession?.(open, false)
    return open
  }

  #admit(open: OpenSession, origin: SessionOrigin = 'known'): void {
    const { session, agentId, plan, key } = open
    const { records, queues, rules, services, transcripts, usage } = this.#options
    session.giveTitle(records.get(agentId, session.sessionId)?.givenTitle)
    session.answerByRule = rules?.answersFor(agentId, () => plan.setup)
    session.completePermission = addWrittenChange(session, () => plan.setup, services.files.rules)
    this.register(open)
    const replaced = this.#open.get(key)
    this.#open.set(key, open)
    this.#options.leases?.acquire(agentId, session.sessionId)
    open.begin({
      queue: queues.of(key),
      services,
      transcripts,
      usage,
      origin,
      onChange: changes => this.#noteChanges(open, changes),
      // the sessions of an ended agent are closed; their conversations stay readable
      onEnd: () => this.#dismiss(open),
    })
    replaced?.endServices()
    this.#change.fire()
    queues.arrive(key)
  }

  #dismiss(open: OpenSession): void {
    open.endServices()
    this.owned.release(open)
    if (this.#open.get(open.key) !== open) return
    this.#open.delete(open.key)
    this.#release(open.agentId, open.session.sessionId)
    this.#change.fire()
  }

  /** Records when a turn starts or ends and when the title changes. */
  #noteChanges(open: OpenSession, changes: readonly Change[]): void {
    const worth = changes.some(
      change => change.type === 'head' && (change.key === 'title' || change.key === 'activity'),
    )
    if (!worth) return
    const { session, agentId } = open
    this.#options.records.touched(agentId, session.sessionId, titleToRecord(this.#options.records, open))
  }

  #record(open: OpenSession): void {
    this.#options.records.opened(open.agentId, {
      sessionId: open.session.sessionId,
      cwd: open.plan.setup.cwd,
      additionalDirectories: open.plan.setup.additionalDirectories,
      systemPrompt: open.plan.ownSystemPrompt,
      title: titleToRecord(this.#options.records, open),
    })
  }
}

interface Reached {
  agent: Agent
  sessions: AgentSessions
  plan: SessionPlan
}

/** Does the work that opens the planned session. What was prepared for the session ends with a failure. */
async function withPlan<T>(plan: SessionPlan, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    disposePlan(plan)
    throw error
  }
}

function disposePlan({ editorTools, bridges = [] }: SessionPlan): void {
  editorTools?.dispose()
  for (const bridge of bridges) bridge.dispose()
}

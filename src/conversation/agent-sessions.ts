import * as l10n from '@vscode/l10n'
import type { Agent, AgentExit, AttachedSession } from '../acp/agent.ts'
import type {
  ElicitationOutcome,
  ElicitationRequest,
  LastOptions,
  PermissionOutcome,
  PermissionRequest,
  SessionSetup,
  SessionStart,
  SessionUpdate,
} from '../acp/model.ts'
import { type Disposable, DisposableStore } from '../common/disposable.ts'
import { CancelledError, messageOf } from '../common/errors.ts'
import { Emitter, type Event } from '../common/event.ts'
import { MAX_EARLY_BYTES } from '../common/limits.ts'
import { type Logger, silentLogger } from '../common/logger.ts'
import { sizeOf } from '../common/size-of.ts'
import { shortened, visible } from '../common/visible.ts'
import { TOOL_CALL } from './entries/tool-call.ts'
import type { ReducingState } from './reducer/reducing-state.ts'
import { toolCallIdOf } from './requests/shown-requests.ts'
import { Session, type SessionOptions } from './session.ts'
import { positionsOf, type ReducerState } from './step.ts'

export interface AgentSessionsOptions extends Pick<SessionOptions, 'now' | 'schedule' | 'cancelGraceMs'> {
  log?: Logger
  limits?: Partial<UpdateBufferLimits>
}

/** A session that the agent is loading or resuming. Its conversation can be displayed immediately. */
export interface OpeningSession {
  session: Session
  /**
   * Resolves when the agent has responded. Rejects with the agent's error; an open session is then restored, and a new session is removed.
   */
  opened: Promise<void>
}

type AgentRequest = (PermissionRequest | ElicitationRequest) & { sessionId: string }

/** A request of a session that isn't known yet, which waits until the session becomes known. */
interface AskingEarly {
  sessionId: string
  ask(session: Session): void
  /** Shows the request in another session, since its own session won't become known. */
  askElsewhere(): void
  cancel(): void
}

/** maximum length of the displayed id of an unknown session, in characters */
const MAX_ID = 100
/** maximum number of unknown sessions that are reported to the user */
const MAX_REPORTED = 20

/**
 * The sessions of one agent process: creates, loads and resumes them, and routes the agent's updates and requests to them. Updates and
 * requests of an unknown session wait while a response that may contain the session's id is pending. Afterward, the updates are dropped,
 * and the requests are shown in the only session that they can belong to: some agents don't announce the sessions of subagents.
 */
export class AgentSessions implements Disposable {
  readonly agent: Agent
  readonly #options: AgentSessionsOptions
  readonly #log: Logger
  readonly #now: () => number
  readonly #sessions = new Map<string, Session>()
  readonly #buffer: UpdateBuffer
  readonly #early = new Set<AskingEarly>()
  /** ids of sessions that were open in this window and have ended, and of their subagents */
  readonly #ended = new Set<string>()
  /** ids of unknown sessions whose requests were reported to the user */
  readonly #reported = new Set<string>()
  /** the session that contains a subagent, by the id of the subagent's session */
  readonly #parents = new Map<string, Session>()
  /** the last frame of the agent's output that a session already includes; a host sends the output up to that frame again */
  readonly #said = new WeakMap<Session, number>()
  readonly #owned = new DisposableStore()
  readonly #changed = new Emitter<void>()
  #creating = 0
  #exit: AgentExit | undefined

  constructor(agent: Agent, options: AgentSessionsOptions = {}) {
    this.agent = agent
    this.#options = options
    this.#log = options.log ?? silentLogger
    this.#now = options.now ?? Date.now
    this.#buffer = new UpdateBuffer({
      updates: 5000,
      bytes: MAX_EARLY_BYTES,
      ageMs: 600_000,
      ...options.limits,
    })
    this.#owned.add(agent.onUpdate(({ sessionId, update }) => this.#route(sessionId, update)))
    this.#owned.add(agent.onDidClose(exit => this.#agentClosed(exit)))
  }

  /** The open sessions by id. */
  get sessions(): ReadonlyMap<string, Session> {
    return this.#sessions
  }

  /** Fires when a session was opened or closed. */
  get onDidChangeSessions(): Event<void> {
    return this.#changed.event
  }

  get(sessionId: string): Session | undefined {
    return this.#sessions.get(sessionId)
  }

  /** Returns the open session with this id, or the open session that contains the subagent with this id. */
  of(sessionId: string): Session | undefined {
    return this.#sessions.get(sessionId) ?? this.#parents.get(sessionId)
  }

  /**
   * Creates a session. If the agent creates the session after `signal` was aborted, the session is closed again. `state`: an earlier
   * conversation that continues in the new session, and that the agent doesn't know.
   */
  newSession(
    setup: SessionSetup,
    signal?: AbortSignal,
    state?: () => ReducingState | undefined,
  ): Promise<Session> {
    return this.#create('ready', late => this.agent.newSession(setup, signal, late), setup, signal, state)
  }

  /**
   * Forks a session. `state`: the known part of the session's conversation. Agents may replay the conversation before or after their
   * response, so the replay is merged as in a load. `at`: the id of the agent's last message that belongs to the fork.
   */
  async forkSession(
    sessionId: string,
    setup: SessionSetup,
    signal?: AbortSignal,
    state?: ReducingState,
    at?: string,
  ): Promise<Session> {
    const fork = this.agent.forkSession?.bind(this.agent)
    if (!fork) throw new Error(l10n.t("The agent can't fork sessions."))
    return this.#create(
      'loading',
      late => fork(sessionId, setup, signal, late, at),
      setup,
      signal,
      () => state,
    )
  }

  async #create(
    phase: 'loading' | 'ready',
    make: (onLate: (start: SessionStart) => void) => Promise<SessionStart>,
    setup: SessionSetup,
    signal: AbortSignal | undefined,
    state?: () => ReducingState | undefined,
  ): Promise<Session> {
    signal?.throwIfAborted()
    this.#creating += 1
    try {
      const start = await make(late => this.#closeUnwanted(late.sessionId))
      if (signal?.aborted) {
        this.#closeUnwanted(start.sessionId)
        throw new CancelledError()
      }
      if (this.#sessions.has(start.sessionId)) {
        throw new Error(l10n.t('The agent returned the ID of a session that is already open.'))
      }
      const session = this.#open(start.sessionId, setup, phase, state?.())
      // The agent sent the early updates before its response, so they are applied before it.
      this.#deliverEarly(session)
      session.start(start)
      await session.loaded()
      return session
    } catch (error) {
      throw signal?.aborted ? new CancelledError() : error
    } finally {
      this.#creating -= 1
      if (this.#creating === 0) {
        this.#endEarly(asking => asking.askElsewhere())
        this.#buffer.clear()
      }
    }
  }

  /** Closes a session whose creation was canceled. Agents reuse ids, so an open session may have this id; it stays open. */
  #closeUnwanted(sessionId: string): void {
    if (this.#sessions.has(sessionId)) return
    this.#ended.add(sessionId)
    const { capabilities } = this.agent
    if (!capabilities.close) return
    this.agent.closeSession(sessionId).catch((error: unknown) => {
      this.#log.debug(`Session ${sessionId} wasn't closed: ${messageOf(error)}`)
    })
  }

  /**
   * Loads a session. The replay is shown as it arrives, even after the agent's response. The conversation of an open session is cleared
   * first (`reset`) and restored if the load fails. Throws if the open session is running. `saved`: the saved conversation, used if the
   * replay is empty. `lastOptions`: the last known config options.
   */
  loadSession(
    sessionId: string,
    setup: SessionSetup,
    signal?: AbortSignal,
    saved?: () => ReducingState | undefined,
    lastOptions?: LastOptions,
  ): OpeningSession {
    const known = this.#sessions.get(sessionId)
    if (known) {
      if (known.phase === 'loading') throw new Error(l10n.t('The session is already loading.'))
      if (known.state.activity !== 'idle') {
        throw new Error(l10n.t('The session is running. Stop the turn before you reload the session.'))
      }
      known.beginLoad(setup)
    }
    const session = known ?? this.#open(sessionId, setup, 'loading', undefined, saved)
    return this.#opening(session, known !== undefined, () =>
      this.agent.loadSession(sessionId, setup, signal, lastOptions),
    )
  }

  /**
   * Resumes a session without a replay. `state`: the conversation to continue: a saved one, or the one that the session had with an agent
   * that ended.
   */
  resumeSession(
    sessionId: string,
    setup: SessionSetup,
    signal?: AbortSignal,
    state?: ReducingState,
    lastOptions?: LastOptions,
  ): OpeningSession {
    if (this.#sessions.has(sessionId)) throw new Error(l10n.t('The session is already open.'))
    const session = this.#open(sessionId, setup, 'loading', state)
    return this.#opening(session, false, () =>
      this.agent.resumeSession(sessionId, setup, signal, lastOptions),
    )
  }

  /**
   * Continues a session that another window had opened with the same agent process. `state`: the stored conversation, which includes the
   * agent's output up to the frame `said`.
   */
  reattachSession(
    { sessionId, start, prompt }: AttachedSession,
    setup: SessionSetup,
    state: ReducingState,
    said: number,
  ): Session {
    const session = this.#open(sessionId, setup, 'ready', state)
    this.#said.set(session, said)
    const isAnswered = prompt?.frame !== undefined && prompt.frame <= said
    session.reattach(start, isAnswered ? undefined : prompt?.settle)
    return session
  }

  /**
   * Routes a permission request to its session. Resolves to `cancelled` if that session has ended or the right session can't be determined.
   */
  requestPermission(request: PermissionRequest, signal: AbortSignal): Promise<PermissionOutcome> {
    const cancelled: PermissionOutcome = { type: 'cancelled' }
    return this.#ask(request, signal, cancelled, (session, asked) =>
      session.requests.requestPermission(asked, signal),
    ).then(outcome => outcome ?? cancelled)
  }

  /** Routes a form or URL to its session, like `requestPermission`. Rejects if the right session can't be determined. */
  async createElicitation(
    sessionId: string,
    request: ElicitationRequest,
    signal: AbortSignal,
  ): Promise<ElicitationOutcome> {
    const cancelled: ElicitationOutcome = { action: 'cancel' }
    const outcome = await this.#ask({ ...request, sessionId }, signal, cancelled, (session, asked) =>
      session.requests.createElicitation(asked, signal),
    )
    if (!outcome) throw new Error(`No session ${JSON.stringify(sessionId)} is open in this window.`)
    return outcome
  }

  /** Marks an opened URL as completed, in every session: the notification doesn't name the session that sent the request. */
  elicitationComplete(elicitationId: string): void {
    for (const session of this.#sessions.values())
      session.conversation.applyLocal({ type: 'visit_done', elicitationId })
  }

  dispose(): void {
    this.#owned.dispose()
    for (const session of [...this.#sessions.values()]) session.dispose()
    this.#buffer.clear()
    this.#endEarly(asking => asking.cancel())
    this.#changed.dispose()
  }

  /**
   * Routes a request; holds it while its session may still become known. Resolves to `undefined` if the right session can't be determined.
   */
  #ask<Request extends AgentRequest, Outcome>(
    request: Request,
    signal: AbortSignal,
    cancelled: Outcome,
    ask: (session: Session, request: Request) => Promise<Outcome>,
  ): Promise<Outcome | undefined> {
    const { sessionId } = request
    const session = this.of(sessionId)
    if (session) return ask(session, request)
    if (signal.aborted) return Promise.resolve(cancelled)
    if (this.#ended.has(sessionId)) {
      this.#log.info(`A request of session ${sessionId} was canceled: the session isn't open anymore.`)
      return Promise.resolve(cancelled)
    }
    const askElsewhere = async () => {
      const place = this.#findPlace(request)
      if (!place) {
        this.#refused(request)
        return undefined
      }
      this.#log.info(`Session ${sessionId}, which isn't known, asks in session ${place.session.sessionId}.`)
      return ask(place.session, askedIn(place, request) as Request)
    }
    if (this.#creating === 0 || this.#findPlace(request)?.hasToolCall) return askElsewhere()
    return new Promise(resolve => {
      const asking: AskingEarly = {
        sessionId,
        ask: known => resolve(ask(known, request)),
        askElsewhere: () => resolve(askElsewhere()),
        cancel: () => resolve(cancelled),
      }
      this.#early.add(asking)
      signal.addEventListener('abort', () => this.#early.delete(asking) && asking.cancel(), { once: true })
    })
  }

  /**
   * Returns where to show a request of an unknown session: in the session that runs its tool call, or in the only session that is in a
   * turn.
   */
  #findPlace(request: AgentRequest): Place | undefined {
    const toolCallId = toolCallIdOf(request)
    const all = [...this.#sessions.values()].filter(({ phase, isHidden }) => phase === 'ready' && !isHidden)
    const running = all.flatMap(session => {
      const sessionId = toolCallId === undefined ? undefined : runsToolCall(session, toolCallId)
      return sessionId === undefined ? [] : [{ session, sessionId, hasToolCall: true }]
    })
    const working = all.filter(({ turns }) => turns.isWorking)
    const places =
      running.length > 0
        ? running
        : working.map(session => ({ session, sessionId: session.sessionId, hasToolCall: false }))
    return places.length === 1 ? places[0] : undefined
  }

  /** Tells the user about a refused request, in the conversations that the request may belong to. */
  #refused(request: AgentRequest): void {
    const { sessionId } = request
    this.#log.warn(
      `A request of session ${sessionId} was refused: it isn't known which session it belongs to.`,
    )
    if (this.#reported.has(sessionId) || this.#reported.size >= MAX_REPORTED) return
    this.#reported.add(sessionId)
    const all = [...this.#sessions.values()].filter(({ isHidden }) => !isHidden)
    const working = all.filter(({ turns }) => turns.isWorking)
    const asked = 'message' in request ? request.message : request.title
    const reason =
      working.length > 0
        ? l10n.t(
            "The agent asked in session {0}, which it hasn't announced, while several conversations are running. To answer such requests, run one conversation at a time.",
            shownId(sessionId),
          )
        : l10n.t(
            "The agent asked in session {0}, which it hasn't announced, while no conversation is running.",
            shownId(sessionId),
          )
    for (const session of working.length > 0 ? working : all) {
      session.notify({
        severity: 'warning',
        title: l10n.t("Parley refused a request, because it can't tell which conversation it belongs to"),
        description: asked === '' ? reason : `${asked}\n\n${reason}`,
      })
    }
  }

  #open(
    sessionId: string,
    setup: SessionSetup,
    phase: 'loading' | 'ready',
    state?: ReducingState,
    saved?: () => ReducingState | undefined,
  ): Session {
    const { now, schedule, cancelGraceMs } = this.#options
    const session = new Session({
      agent: this.agent,
      sessionId,
      setup,
      phase,
      ...(state && { state }),
      ...(saved && { saved }),
      ...(now && { now }),
      ...(schedule && { schedule }),
      ...(cancelGraceMs !== undefined && { cancelGraceMs }),
      onEnd: () => this.#sessionEnded(session),
    })
    this.#sessions.set(sessionId, session)
    this.#ended.delete(sessionId)
    this.#parents.delete(sessionId)
    // Subagents of a conversation that continues may send requests, too.
    for (const subagent of session.conversation.state.memory.subagentStates.keys()) {
      if (!this.of(subagent)) this.#parents.set(subagent, session)
    }
    this.#changed.fire()
    if (this.#exit) session.agentEnded(this.#exit)
    return session
  }

  #opening(session: Session, wasOpen: boolean, ask: () => Promise<SessionStart>): OpeningSession {
    const open = async () => {
      try {
        session.start(await ask())
        await session.loaded()
      } catch (error) {
        if (wasOpen) session.loadFailed()
        else session.dispose()
        throw error
      }
    }
    return { session, opened: open() }
  }

  #route(sessionId: string, update: SessionUpdate): void {
    const session = this.#sessions.get(sessionId)
    if (session) {
      this.#receive(session, update)
      return
    }
    const parent = this.#parents.get(sessionId)
    if (parent) {
      this.#receive(parent, update, sessionId)
      return
    }
    // Unless a session is being created, the agent will never announce the id.
    if (this.#creating === 0) {
      this.#log.debug(`An update of session ${sessionId} was dropped: the session isn't open.`)
      return
    }
    for (const dropped of this.#buffer.add(sessionId, update, this.#now(), this.#creating)) {
      this.#log.warn(`Updates of session ${dropped} were dropped: the session wasn't requested.`)
    }
  }

  /** Handles an update of a session, or of a subagent in it (`within`). */
  #receive(session: Session, update: SessionUpdate, within?: string): void {
    if ((this.agent.hosted?.arrived ?? 0) <= (this.#said.get(session) ?? -1)) return
    if (update.type === 'subagent') {
      const { sessionId } = update.subagent
      if (this.#sessions.has(sessionId)) {
        this.#log.warn(`Session ${sessionId} was opened by itself, so it can't be a subagent.`)
        return
      }
      if (!this.#parents.has(sessionId)) this.#parents.set(sessionId, session)
    }
    session.receive(update, within)
  }

  #deliverEarly(session: Session): void {
    for (const update of this.#buffer.take(session.sessionId)) this.#receive(session, update)
    // Also delivers the early updates of the session's subagents.
    for (const [sessionId, parent] of this.#parents) {
      if (parent !== session) continue
      for (const update of this.#buffer.take(sessionId)) this.#receive(session, update, sessionId)
    }
    for (const asking of [...this.#early]) {
      if (this.of(asking.sessionId) !== session) continue
      this.#early.delete(asking)
      asking.ask(session)
    }
  }

  #endEarly(end: (asking: AskingEarly) => void): void {
    for (const asking of [...this.#early]) {
      this.#early.delete(asking)
      end(asking)
    }
  }

  #sessionEnded(session: Session): void {
    if (this.#sessions.get(session.sessionId) !== session) return
    this.#sessions.delete(session.sessionId)
    this.#ended.add(session.sessionId)
    for (const [sessionId, parent] of this.#parents) {
      if (parent !== session) continue
      this.#parents.delete(sessionId)
      this.#ended.add(sessionId)
    }
    this.#changed.fire()
  }

  #agentClosed(exit: AgentExit): void {
    this.#exit = exit
    for (const session of [...this.#sessions.values()]) session.agentEnded(exit)
  }
}

/** Where a request of an unknown session is shown. `sessionId`: the id of `session`, or of a subagent in it. */
interface Place {
  session: Session
  sessionId: string
  hasToolCall: boolean
}

/** Returns a request as it appears in a session other than the session that the request names. */
function askedIn({ sessionId, hasToolCall }: Place, request: AgentRequest): AgentRequest {
  const note = l10n.t("Asked by session {0}, which the agent hasn't announced.", shownId(request.sessionId))
  // unless the tool call is known, another tool call there may have the same id, or get it later
  const own = (toolCallId: string) => (hasToolCall ? toolCallId : `${request.sessionId}/${toolCallId}`)
  if (!('subject' in request)) {
    const { toolCallId, message } = request
    const asked = { ...request, sessionId, message: `${message}\n\n${note}` }
    return toolCallId === undefined ? asked : { ...asked, toolCallId: own(toolCallId) }
  }
  const { description, subject } = request
  const asked = { ...request, sessionId, description: description ? `${description}\n\n${note}` : note }
  if (subject.type === 'tool_call') {
    const { toolCall } = subject
    return {
      ...asked,
      subject: { ...subject, toolCall: { ...toolCall, toolCallId: own(toolCall.toolCallId) } },
    }
  }
  if (subject.type !== 'command' || subject.toolCallId === undefined) return asked
  return { ...asked, subject: { ...subject, toolCallId: own(subject.toolCallId) } }
}

function shownId(sessionId: string): string {
  return visible(shortened(sessionId, MAX_ID))
}

interface UpdateBufferLimits {
  /** maximum number of held updates */
  updates: number
  /** maximum size of held updates, in bytes of memory */
  bytes: number
  /** maximum age of held updates, in milliseconds */
  ageMs: number
}

interface Waiting {
  since: number
  updates: SessionUpdate[]
  bytes: number
}

/** The share of a full buffer that is reserved for the sessions that sent the first updates (0 to 1). */
const FIRST_PART = 0.5
/**
 * The share to which the other sessions are reduced once they exceed the unreserved share of a full buffer (0 to 1). It's less than the
 * unreserved share, so that the sessions aren't sorted again for each update.
 */
const OTHERS_PART = 0.4

/**
 * Holds updates of unknown sessions, in order, since agents send some updates before the response with the session's id. Limited in number,
 * size and age. The first sessions, as many as were requested, are most likely the requested ones, so up to half of the buffer is reserved
 * for them. Sessions with the most updates are dropped first, so that a session with few updates keeps them.
 */
class UpdateBuffer {
  readonly #limits: UpdateBufferLimits
  readonly #bySession = new Map<string, Waiting>()
  #count = 0
  #bytes = 0

  constructor(limits: UpdateBufferLimits) {
    this.#limits = limits
  }

  get size(): number {
    return this.#count
  }

  /**
   * Adds an update. Returns the ids of sessions whose updates were dropped to make room. `requested`: number of sessions that are being
   * created.
   */
  add(sessionId: string, update: SessionUpdate, now: number, requested: number): string[] {
    const dropped = this.#dropOld(now)
    let waiting = this.#bySession.get(sessionId)
    if (!waiting) {
      waiting = { since: now, updates: [], bytes: 0 }
      this.#bySession.set(sessionId, waiting)
    }
    const size = sizeOf(update, this.#limits.bytes)
    waiting.updates.push(update)
    waiting.bytes += size
    this.#count += 1
    this.#bytes += size
    return [...dropped, ...this.#makeRoom(requested)]
  }

  /** Returns and removes the updates of a session. */
  take(sessionId: string): SessionUpdate[] {
    const updates = this.#bySession.get(sessionId)?.updates ?? []
    this.#drop(sessionId)
    return updates
  }

  clear(): void {
    this.#bySession.clear()
    this.#count = 0
    this.#bytes = 0
  }

  #makeRoom(requested: number): string[] {
    if (this.#partOf(this.#count, this.#bytes) <= 1) return []
    const largestFirst = (sessions: Array<[string, Waiting]>) =>
      sessions.sort(
        ([, a], [, b]) => this.#partOf(b.updates.length, b.bytes) - this.#partOf(a.updates.length, a.bytes),
      )
    const all = [...this.#bySession]
    const [first, others] = [largestFirst(all.slice(0, requested)), largestFirst(all.slice(requested))]
    let count = others.reduce((sum, [, waiting]) => sum + waiting.updates.length, 0)
    let bytes = others.reduce((sum, [, waiting]) => sum + waiting.bytes, 0)
    const dropped: string[] = []
    const most = this.#partOf(count, bytes) > 1 - FIRST_PART ? OTHERS_PART : 1
    for (const [sessionId, waiting] of others) {
      if (this.#partOf(count, bytes) <= most) break
      count -= waiting.updates.length
      bytes -= waiting.bytes
      this.#drop(sessionId)
      dropped.push(sessionId)
    }
    for (const [sessionId] of first) {
      if (this.#partOf(this.#count, this.#bytes) <= 1) break
      this.#drop(sessionId)
      dropped.push(sessionId)
    }
    return dropped
  }

  /** Returns how much of the limits these updates use; more than 1 exceeds a limit. */
  #partOf(count: number, bytes: number): number {
    return Math.max(count / this.#limits.updates, bytes / this.#limits.bytes)
  }

  /** Drops sessions whose first update is too old. Sessions are in the order of their first update, so the oldest come first. */
  #dropOld(now: number): string[] {
    const dropped: string[] = []
    for (const [sessionId, { since }] of this.#bySession) {
      if (now - since <= this.#limits.ageMs) break
      this.#drop(sessionId)
      dropped.push(sessionId)
    }
    return dropped
  }

  #drop(sessionId: string): void {
    const waiting = this.#bySession.get(sessionId)
    this.#count -= waiting?.updates.length ?? 0
    this.#bytes -= waiting?.bytes ?? 0
    this.#bySession.delete(sessionId)
  }
}

/**
 * Returns the id of the session in which the tool call runs: `session`'s id, or the id of a subagent in it. Returns `undefined` if the tool
 * call doesn't run there.
 */
function runsToolCall(
  { sessionId, conversation: { state } }: Session,
  toolCallId: string,
): string | undefined {
  const all: ReducerState[] = [state, ...state.memory.subagentStates.values()]
  for (const { memory, within } of all) {
    const position = positionsOf(memory, TOOL_CALL).get(toolCallId)
    if (position !== undefined && memory.openTools.has(position)) return within ?? sessionId
  }
  return undefined
}

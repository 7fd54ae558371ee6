import { deferred, withTimeout } from '../common/async.ts'
import type { Disposable } from '../common/disposable.ts'
import { CancelledError, isCancelled, messageOf } from '../common/errors.ts'
import type { KeyValueStore } from '../common/key-value-store.ts'
import type { Logger } from '../common/logger.ts'
import { LAST_SESSION, sessionKey } from '../common/session-key.ts'
import { type OpeningStep, type ViewPhase, viewPhase } from '../conversation/phases.ts'
import type { ConversationEnd } from '../conversation/replay/restore-state.ts'
import { whereNow } from './continuation.ts'
import type { DisplayedSession } from './displayed-session.ts'
import { type Attempt, type Failures, isCanceled, isSignInAsked, type Reopening } from './failures.ts'
import { type OpenSession, referenceOf, type SessionReference } from './open-session.ts'
import type { OpeningFailures } from './opening-failures.ts'
import {
  attemptOf,
  type CurrentAttempt,
  canBecome,
  type Opening,
  type ShownEnd,
  stepOf,
  type Task,
  taskOf,
} from './opening-states.ts'
import type { AgentDirectory, SessionRecords } from './ports.ts'
import type { AgentRunner } from './runners/agent-runner.ts'
import type { SavedSessions } from './saved-sessions.ts'
import type { HeldSessions } from './session-leases.ts'
import { SessionElsewhereError, type SessionPlace } from './session-leases.ts'
import type { ForkPoint, OpenProgress, SessionStarter } from './session-starter.ts'

export interface SessionOpenerOptions {
  starter: SessionStarter
  saved: SavedSessions
  held: Pick<HeldSessions, 'acquire' | 'isElsewhere' | 'release' | 'takeOver'>
  agents: AgentDirectory
  runner: (agentId: string) => AgentRunner
  trusted: () => boolean
  reports: OpeningFailures
  /** Whether prompts wait for the session that is being opened. */
  hasPrompts: () => boolean
  /** Called when a new session starts with the agent. */
  agentChosen: (agentId: string) => void
  /** Called when a conversation's key changes from `from` to `to`. */
  moved: (from: string, to: string) => void
  records: Pick<SessionRecords, 'get'>
  /** Called when a session starts while prompts wait for another agent that is being prepared. `agentName`: that agent. */
  agentReplaced: (agentName: string) => void
  store: KeyValueStore
  /** Returns a function that reveals the session in another view of this window; `undefined` if no view shows it. */
  elsewhere?: (reference: SessionReference) => (() => Promise<void>) | undefined
  /**
   * Resolves to the session that an earlier window left running, once this window has taken it over, or to `undefined` if no window left
   * this session. Returns `undefined` if no window left any session.
   */
  continued?: (reference: SessionReference) => Promise<OpenSession | undefined> | undefined
  log: Logger
}

type StartAttempt = Extract<Attempt, { type: 'new' }>
type ReopenAttempt = Extract<Attempt, { type: Reopening }>

/** How long the view may take to draw the end of a conversation before the whole conversation is read anyway, in milliseconds. */
const DRAW_END_MS = 300

/**
 * Starts, reopens, forks and restores the session of a view, one at a time: a new attempt cancels the previous one. Determines the view's
 * phase. `opening-states.ts` defines the states and transitions.
 */
export class SessionOpener implements Disposable {
  readonly #options: SessionOpenerOptions
  readonly #displayed: DisplayedSession
  readonly #failures: Failures
  readonly #reports: OpeningFailures
  readonly #changed: () => void
  #state: Opening = { type: 'idle' }

  constructor(
    options: SessionOpenerOptions,
    displayed: DisplayedSession,
    failures: Failures,
    changed: () => void,
  ) {
    this.#options = options
    this.#displayed = displayed
    this.#failures = failures
    this.#reports = options.reports
    this.#changed = changed
  }

  get state(): Opening {
    return this.#state
  }

  /** The attempt in progress. */
  get attempt(): Attempt | undefined {
    return this.#state.type === 'opening' ? this.#state.attempt : undefined
  }

  /** The displayed end of the conversation that is being reopened, until the whole conversation is displayed. */
  get end(): ShownEnd | undefined {
    return this.#state.type === 'opening' ? this.#state.end : undefined
  }

  /** The agent that is being started, else the displayed session's agent, else the agent of the failed attempt. */
  get agentId(): string | undefined {
    return this.attempt?.agentId ?? this.#displayed.current?.agentId ?? attemptOf(this.#state)?.agentId
  }

  /** The progress of opening a session; `undefined` if the view isn't opening one. */
  get step(): OpeningStep | undefined {
    return stepOf(this.#state)
  }

  get phase(): ViewPhase {
    return viewPhase(this.step, this.#displayed.current?.session)
  }

  get expected(): Attempt | SessionReference | undefined {
    return this.#state.type === 'restoring' ? this.#state.reference : attemptOf(this.#state)
  }

  /** Settles when the session is open, has failed to open, or another session is opened instead. Prompts wait for this promise. */
  get pending(): Promise<void> | undefined {
    return taskOf(this.#state)?.over.promise
  }

  /** The session to display again if the attempt, or the next one, fails or is canceled. */
  get #before(): OpenSession | undefined {
    if (this.#state.type === 'failed') return this.#state.before
    const task = taskOf(this.#state)
    return task ? task.before : this.#displayed.current
  }

  remember(open: OpenSession | undefined): void {
    this.#options.store.set(LAST_SESSION, open && referenceOf(open))
  }

  /**
   * Starts a session with the agent (by default the default agent), in `cwd` if given, and calls `begun` with it. The displayed session
   * stays open in this window, unless the new session continues its conversation.
   */
  start(wanted?: string, how: Pick<StartAttempt, 'cwd' | 'begun' | 'continues'> = {}): Promise<void> {
    if (this.#state.type === 'preparing') this.#options.agentReplaced(this.#state.agentName)
    return this.#open(async task => {
      const { agents, trusted, starter } = this.#options
      if (wanted === undefined && trusted()) {
        this.#enter({ type: 'searching', task })
        if (!(await this.#searchAgents(task))) return
      }
      const agentId = wanted ?? agents.defaultAgentId()
      // without a default agent, the empty view lists the agents to choose from
      if (agentId === undefined && trusted() && !agents.defaultProblem()) {
        task.before = undefined
        this.#stop(task)
        this.remember(undefined)
      }
      if (!this.#reports.isReady(agentId)) return
      const { cwd, begun } = how
      const { current } = this.#displayed
      // the agent may have been restarted since the first attempt, so continue from the session's current object
      const continues =
        how.continues && current?.key === how.continues.from.key
          ? { ...how.continues, from: current }
          : how.continues
      const attempt: Attempt = {
        ...{ type: 'new', agentId },
        ...(cwd !== undefined && { cwd }),
        ...(begun && { begun }),
        ...(continues && { continues }),
      }
      const queue = continues ? undefined : this.#displayed.newKey
      await this.#run(this.#enter(attemptIn(task, attempt)), (signal, progress) =>
        starter.create(agentId, signal, progress, { cwd, queue, continues }),
      )
    })
  }

  /**
   * Starts a session with an agent once it is `ready`, for example installed; prompts wait for it. Starts nothing if
   * `ready` resolves to `undefined` or the user has opened something else meanwhile.
   */
  startAfter(agentName: string, ready: Promise<{ agentId: string } | undefined>): Promise<void> {
    this.#failures.clear()
    return this.#open(async task => {
      this.#enter({ type: 'preparing', task, agentName })
      this.#changed()
      const prepared = await Promise.race([ready, task.over.promise])
      if (!this.#stop(task)) return
      this.#changed()
      if (prepared) await this.start(prepared.agentId)
    })
  }

  /** Reopens a session. `isWhole`: the view will scroll to a place other than the end, so it needs the whole conversation. */
  reopen(how: Reopening, reference: SessionReference, isWhole = false): Promise<void> {
    return this.#open(task => this.#reopen(task, { type: how, ...reference }, { isWhole }))
  }

  async #reopen(
    task: Task,
    attempt: ReopenAttempt,
    { keepFailures = false, isWhole = false } = {},
  ): Promise<void> {
    const { type: how, ...reference } = attempt
    const elsewhere = this.#options.elsewhere?.(reference)
    if (elsewhere) {
      if (!keepFailures) this.#failures.clear()
      this.#stop(task)
      this.#changed()
      await elsewhere()
      return
    }
    const { starter, saved, trusted } = this.#options
    const displayed = this.#displayed
    // the saved conversation is readable at once, even if the agent is gone or can't load the session
    const isWanted = !displayed.continues(attempt) && trusted()
    const end = isWanted && !isWhole ? saved.end(reference) : undefined
    const current = this.#enter(attemptIn(task, attempt))
    if (end && !keepFailures) this.#failures.clear()
    if (end && !(await this.#showEnd(current, end))) return
    const whole = isWanted ? saved.open(reference) : undefined
    endOver(current)
    if (whole) displayed.display(whole)
    const previous = displayed.continues(attempt) ? displayed.current : undefined
    if (!this.#reports.isReady(attempt.agentId, keepFailures)) {
      if (previous) task.before = previous
      if (previous || !trusted()) this.#stop(task)
      else this.#fail(current)
      this.#changed()
      return
    }
    await this.#run(current, (signal, progress) => starter.reopen(how, reference, signal, progress, previous))
  }

  /** Shows the end of a conversation. Resolves to false if the user has canceled or opened something else meanwhile. */
  async #showEnd(current: CurrentAttempt, conversation: ConversationEnd): Promise<boolean> {
    const end = { conversation, drawn: deferred(), over: deferred() }
    current.end = end
    this.#displayed.display(undefined)
    this.#changed()
    await withTimeout(end.drawn.promise, DRAW_END_MS)
    return this.#state === current
  }

  /** Forks a session, at a point if the agent accepts it, and displays the fork. */
  fork(reference: SessionReference, at?: ForkPoint): Promise<void> {
    return this.#open(async task => {
      if (!this.#reports.isReady(reference.agentId)) return
      await this.#run(this.#enter(attemptIn(task, { type: 'fork', ...reference })), (signal, progress) =>
        this.#options.starter.fork(reference, signal, progress, at),
      )
    })
  }

  /** Restores the session that the view displayed before the window was reloaded, if any. */
  async restore(stored = this.#options.store.get<SessionReference>(LAST_SESSION)): Promise<void> {
    // if starting a session failed before the view was shown, the view keeps showing that failure
    const isEmpty = this.#state.type === 'idle' && !this.#displayed.current && this.#failures.all.size === 0
    if (!stored || !isEmpty || !this.#options.trusted()) return
    const last = this.#moved(stored)
    if (this.#options.elsewhere?.(last)) return
    await this.#open(async task => {
      const { saved, agents, continued, log } = this.#options
      const restoring = this.#enter({
        type: 'restoring',
        task,
        reference: last,
        isSearching: false as boolean,
      })
      const continuing = continued?.(last)
      if (continuing) {
        this.#changed()
        const open = await Promise.race([continuing, task.over.promise])
        if (!this.#has(task)) return
        if (open) {
          this.#opened(open)
          return
        }
      }
      // show the saved conversation while the agent starts
      try {
        task.before = saved.open(last)
      } catch (error) {
        // no caller handles the error; the view stays empty, and the session is still in History
        log.error(`The session before the reload: ${messageOf(error)}`)
        return
      }
      if (task.before) this.#displayed.display(task.before)
      restoring.isSearching = true
      if (!(await this.#searchAgents(task))) return
      if (agents.get(last.agentId)) {
        await this.#reopen(task, { type: 'restore', ...last })
        return
      }
      this.#stop(task)
      if (task.before) this.#reports.unknownAgent(last.agentId)
      else this.#changed()
    })
  }

  async retry(attempt: Attempt): Promise<void> {
    if (attempt.type === 'new') await this.start(attempt.agentId, attempt)
    else if (attempt.type === 'fork') await this.fork(attempt)
    else await this.reopen(attempt.type, attempt)
  }

  /** Restarts the agent and then repeats the current attempt, or reopens the displayed session. */
  async restart(): Promise<void> {
    const agentId = this.agentId ?? this.#options.agents.defaultAgentId()
    if (agentId === undefined) return
    const again = attemptOf(this.#state) ?? this.#displayed.continuation()
    this.#giveUp()
    this.#enter({ type: 'restarting' })
    void this.#options.runner(agentId).renew(undefined, true)
    this.#enter({ type: 'idle' })
    this.#failures.clear()
    await this.retry(again ?? { type: 'new', agentId })
  }

  /** Restarts the agent. Its sessions continue with the new process: idle sessions at once, others when their work has finished. */
  async renew(): Promise<void> {
    const { agentId } = this
    if (agentId === undefined) return
    const runner = this.#options.runner(agentId)
    await runner.renew(() => runner.ensure())
  }

  /**
   * Reopens the displayed session with its agent's new process once the process is `ready`, unless the user opens something else
   * meanwhile. The conversation stays visible.
   */
  continueAfter(ready: Promise<void>, attempt: ReopenAttempt): void {
    if (!canBecome(this.#state, 'replacing')) return
    this.#open(async task => {
      this.#enter({ type: 'replacing', task })
      this.#changed()
      await Promise.race([ready, task.over.promise])
      if (this.#has(task)) await this.#reopen(task, attempt, { keepFailures: true })
    }).catch(error => this.#options.log.error(`The session of the ended process: ${messageOf(error)}`))
  }

  /** Cancels the attempt and displays the previous session again. Returns false if nothing was being opened. */
  cancel(): boolean {
    const isWaiting = this.step === 'searching' || this.#state.type === 'replacing'
    if (!this.attempt && !isWaiting) return false
    this.#giveUp()
    this.#reports.ended()
    this.#changed()
    return true
  }

  abort(): void {
    const task = taskOf(this.#state)
    this.#enter({ type: 'idle' })
    task?.abort.abort(new CancelledError())
  }

  #giveUp(): void {
    const before = this.#before
    this.abort()
    this.#displayed.display(before)
  }

  /** Ends a task without a result: the previous session is displayed again. Returns false if another task has replaced this one. */
  #stop(task: Task): boolean {
    if (!this.#has(task)) return false
    this.#enter({ type: 'idle' })
    this.#displayed.display(task.before)
    return true
  }

  #has(task: Task): boolean {
    return taskOf(this.#state) === task
  }

  /** Waits for the search for installed agents, which runs the login shell's profile. Resolves to false if the task was replaced. */
  async #searchAgents(task: Task): Promise<boolean> {
    this.#changed()
    await Promise.race([this.#options.agents.ready(), task.over.promise])
    return this.#has(task)
  }

  #open(work: (task: Task) => Promise<void>): Promise<void> {
    // if only the end of a conversation is displayed, first display the session from before again: the new task may return to it
    if (this.end) this.#giveUp()
    if (this.#state.type === 'preparing') this.abort()
    const task: Task = { abort: new AbortController(), before: this.#before, over: deferred() }
    task.over.promise.catch(() => {})
    return work(task)
      .catch(error => {
        task.over.reject(error)
        throw error
      })
      .finally(() => {
        if (!this.#stop(task)) return
        this.#reports.ended()
        this.#changed()
      })
  }

  /** Enters a state. The first state of a task cancels the previous task. */
  #enter<T extends Opening>(next: T): T {
    const before = this.#state
    if (!canBecome(before, next.type))
      throw new Error(`A view that is ${before.type} doesn't become ${next.type}.`)
    this.#state = next
    if (before.type === 'opening') {
      endOver(before)
      clearTimeout(before.slow)
      this.#failures.drop('slow')
    }
    const [task, following] = [taskOf(before), taskOf(next)]
    if (!task || task === following) return next
    task.over.resolve()
    if (!following) return next
    task.abort.abort(new CancelledError())
    // `#run` and `#reopen` decide what an attempt displays
    const isAbandoned = next.type !== 'opening' && this.#displayed.current !== following.before
    if (isAbandoned) this.#displayed.display(undefined)
    return next
  }

  async #run(
    current: CurrentAttempt,
    open: (signal: AbortSignal, progress: OpenProgress) => Promise<OpenSession>,
  ): Promise<void> {
    const { task, attempt } = current
    const displayed = this.#displayed
    const earlier = attempt.type === 'new' ? attempt.continues?.from : undefined
    const displayedFirst = displayed.continues(attempt) ? displayed.current : earlier
    let servers: string[] = []
    current.slow = setTimeout(() => this.#reports.slow(attempt, servers), this.#reports.slowAfterMs)
    if (!displayedFirst) displayed.display(undefined)
    else if (earlier) displayed.display(earlier)
    if (attempt.type === 'new' && !earlier) this.#options.agentChosen(attempt.agentId)
    // the earlier session must not send the queued prompts, which are for the session that continues it
    earlier?.session.hold(true)
    this.#changed()
    try {
      const opened = await open(task.abort.signal, {
        onPlan: ({ mcpServers }) => {
          servers = mcpServers.filter(({ passed }) => passed).map(({ name }) => name)
          if (this.#state === current && this.#failures.has('slow')) this.#reports.slow(attempt, servers)
        },
        onSession: (session, replays) => {
          if (this.#state !== current) return
          current.replays = replays
          // a reopened session replaces the displayed one only after its replay is complete
          if (!displayed.continues(attempt)) displayed.display(session)
          displayed.keyBefore = attempt.type === 'new' ? (earlier?.key ?? displayed.newKey) : undefined
          this.#changed()
        },
      })
      if (this.#state !== current) return
      this.#options.agents.used(attempt.agentId)
      this.#opened(opened)
      if (attempt.type === 'new') attempt.begun?.(opened)
    } catch (error) {
      if (this.#state !== current) return
      const isStopped = isCanceled(error) || ('begun' in attempt && attempt.begun !== undefined)
      // prompts written for this attempt must not reach another conversation or agent
      const isAwaited = isSignInAsked(error) || this.#options.hasPrompts()
      if (displayedFirst) task.before = displayedFirst
      // the failure of a fork, or of continuing with another agent, belongs to the original conversation
      if (displayedFirst || attempt.type === 'fork' || (isStopped && !isAwaited)) this.#stop(task)
      else this.#fail(current)
      // if the displayed session itself couldn't be reopened, don't also report that its agent has ended
      if (!displayed.continues(attempt)) this.#reports.ended()
      else if (isCancelled(error)) this.#reports.readOnly(attempt)
      if (error instanceof SessionElsewhereError && attempt.type !== 'new' && attempt.type !== 'fork')
        this.showElsewhere(attempt, error.place)
      else if (!this.#reports.failed(attempt, error)) this.#changed()
    } finally {
      // another attempt to continue the session may have begun
      const now = this.attempt
      if (now?.type !== 'new' || now.continues?.from !== earlier) earlier?.session.hold(false)
    }
  }

  /** Keeps the view on the session that couldn't be opened, so that its failure and its prompts don't move to another session. */
  #fail({ attempt, task: { before } }: CurrentAttempt): void {
    this.#enter({ type: 'failed', attempt, before })
    this.#displayed.display(undefined)
  }

  #opened(open: OpenSession): void {
    this.#enter({ type: 'idle' })
    this.#displayed.display(open)
    this.remember(open)
    this.#changed()
  }

  /** Reports that another window has the session. `taken`: the other window took the session from this window. */
  showElsewhere(attempt: ReopenAttempt, place: SessionPlace, taken = false): void {
    if (canBecome(this.#state, 'elsewhere')) this.#enter({ type: 'elsewhere', attempt })
    this.#reports.elsewhere(attempt, place, taken, (from, next) => void this.#followTo(from, next))
  }

  /** Whether another window still has the displayed session. Reports this failure again if the user has dismissed it. */
  async isStillElsewhere(): Promise<boolean> {
    const state = this.#state
    if (state.type !== 'elsewhere') return false
    const { held, starter } = this.#options
    if (!held.isElsewhere(state.attempt)) return false
    const place = await starter.placeOf(state.attempt)
    if (this.#state === state && !this.#failures.has('elsewhere')) this.showElsewhere(state.attempt, place)
    return true
  }

  /** Displays the session in which the other window has continued the conversation. */
  async #followTo(from: OpenSession, next: SessionReference): Promise<void> {
    const { saved, starter, moved } = this.#options
    const place = await starter.placeOf(next)
    if (this.#displayed.current !== from || taskOf(this.#state)) return
    const open = saved.open(next)
    if (!open) return
    this.abort()
    this.#failures.clear()
    moved(from.key, open.key)
    this.#displayed.display(open)
    this.#displayed.keyBefore = from.key
    this.showElsewhere({ type: 'restore', ...next }, place)
  }

  /**
   * Returns the current session of a conversation, and moves the unsent prompts to that session. It differs from the stored session if
   * another window has continued the conversation, or if this window crashed.
   */
  #moved(from: SessionReference): SessionReference {
    const { records, moved } = this.#options
    const now = whereNow(from, records)
    if (now) moved(sessionKey(from.agentId, from.sessionId), sessionKey(now.agentId, now.sessionId))
    return now ?? from
  }

  /** Makes the other window that a failure names close its session, and reopens the session here. */
  async takeOver(failureId: string): Promise<void> {
    const failure = this.#failures.all.get(failureId)
    if (failure?.type !== 'elsewhere') return
    // the conversation may have continued in another session since
    const attempt = { ...failure.attempt, ...whereNow(failure.attempt, this.#options.records) }
    await this.#open(async task => {
      this.#enter({ type: 'takingOver', task })
      this.#failures.remove(failureId)
      const { held, saved } = this.#options
      await held.takeOver(attempt, task.abort.signal)
      if (!this.#has(task)) return
      this.#moved(failure.attempt)
      this.#displayed.follow(undefined)
      // the session continues from the displayed conversation, updated with what the other window saved last
      const { current } = this.#displayed
      if (current && this.#displayed.continues(attempt)) saved.catchUp(current)
      await this.retry(attempt)
    })
  }

  dispose(): void {
    this.abort()
  }
}

function attemptIn(task: Task, attempt: Attempt): CurrentAttempt {
  return { type: 'opening', task, attempt, replays: false }
}

/** Marks that the view no longer shows only the end of the conversation. */
function endOver(current: CurrentAttempt): void {
  current.end?.drawn.resolve()
  current.end?.over.resolve()
  current.end = undefined
}

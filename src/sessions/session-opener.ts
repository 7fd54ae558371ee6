import { type Deferred, deferred, withTimeout } from '../common/async.ts'
import type { Disposable } from '../common/disposable.ts'
import { CancelledError, messageOf } from '../common/errors.ts'
import type { KeyValueStore } from '../common/key-value-store.ts'
import type { Logger } from '../common/logger.ts'
import { LAST_SESSION } from '../common/session-key.ts'
import { type OpeningStep, type ViewPhase, viewPhase } from '../conversation/phases.ts'
import type { ConversationEnd } from '../conversation/replay/restore-state.ts'
import type { DisplayedSession } from './displayed-session.ts'
import { type Attempt, type Failures, isSignInAsked, type Reopening } from './failures.ts'
import { type OpenSession, referenceOf, type SessionReference } from './open-session.ts'
import type { OpeningFailures } from './opening-failures.ts'
import type { AgentDirectory } from './ports.ts'
import type { AgentRunner } from './runners/agent-runner.ts'
import { SessionElsewhereError } from './session-leases.ts'
import type { ForkPoint, OpenProgress, SessionManager } from './session-manager.ts'

export interface SessionOpenerOptions {
  manager: SessionManager
  agents: AgentDirectory
  runner: (agentId: string) => AgentRunner
  trusted: () => boolean
  reports: OpeningFailures
  /** Whether prompts wait for the session that is being opened. */
  hasPrompts: () => boolean
  /** A new session starts with this agent. */
  agentChosen: (agentId: string) => void
  /** A session starts with another agent than the one that was being prepared, which prompts waited for. */
  agentReplaced: (agentName: string) => void
  store: KeyValueStore
  /** Reveals the session where another view of this window already shows it; `undefined` if none does. */
  elsewhere?: (reference: SessionReference) => (() => Promise<void>) | undefined
  /**
   * A session that an earlier window left running, once this window goes on with it; resolves to `undefined` for another one.
   * `undefined` if there is none.
   */
  continued?: (reference: SessionReference) => Promise<OpenSession | undefined> | undefined
  log: Logger
}

type StartAttempt = Extract<Attempt, { type: 'new' }>

interface CurrentAttempt {
  abort: AbortController
  attempt: Attempt
  before: OpenSession | undefined
  /** the agent replays the session's history */
  replays: boolean
  /** the end of its long conversation, shown until all of it was read */
  end?: ShownEnd | undefined
}

interface ShownEnd {
  conversation: ConversationEnd
  /** settles when a page has drawn it, or nobody waits for that anymore */
  drawn: Deferred<void>
  /** settles when all of the conversation, or something else, is displayed */
  over: Deferred<void>
}

/** How long a page may take to draw the end of a conversation until all of it is read anyway. Milliseconds. */
const DRAW_END_MS = 300

/**
 * Starts, reopens, forks and restores the session of a view, one at a time: a new attempt cancels the previous one.
 * Determines the view's phase.
 */
export class SessionOpener implements Disposable {
  readonly #options: SessionOpenerOptions
  readonly #displayed: DisplayedSession
  readonly #failures: Failures
  readonly #reports: OpeningFailures
  readonly #changed: () => void
  #current: CurrentAttempt | undefined
  /** the attempt that failed while prompts wait for it: the view stays empty, and the next prompt retries it */
  #failed: Attempt | undefined
  #slow: NodeJS.Timeout | undefined
  /** the action that waits until the available agents are known */
  #search: symbol | undefined
  /** settles when the process that continues the displayed session can start */
  #replacement: Promise<void> | undefined
  /** settles when the session that is being started or reopened is open or failed */
  #pending: Promise<void> | undefined
  #restarting = false
  /** the agent that is being prepared */
  #preparing: { agentName: string } | undefined
  #takingOver: AbortController | undefined
  /** the session that `restore` will reopen once the available agents are known */
  #restoring: SessionReference | undefined

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

  /** The attempt in progress. */
  get attempt(): Attempt | undefined {
    return this.#current?.attempt
  }

  /** The end of the conversation that is being reopened, until all of it is displayed. */
  get end(): ConversationEnd | undefined {
    return this.#current?.end?.conversation
  }

  /** Settles when all of the conversation is displayed of which `end` is the end, or something else. */
  get whole(): Promise<void> | undefined {
    return this.#current?.end?.over.promise
  }

  /** A page has drawn the end: there is time to read the rest. */
  endDrawn(): void {
    this.#current?.end?.drawn.resolve()
  }

  /** The failed attempt that the next prompt retries. */
  get failed(): Attempt | undefined {
    return this.#failed
  }

  /** The agent that is being started, else the displayed session's, else the one that the next prompt starts. */
  get agentId(): string | undefined {
    return this.attempt?.agentId ?? this.#displayed.current?.agentId ?? this.#failed?.agentId
  }

  /** `restart` is ending the process of the displayed session and reopens the session itself. */
  get isRestarting(): boolean {
    return this.#restarting
  }

  /** How far the view is in opening a session; `undefined` if it isn't opening one. */
  get step(): OpeningStep | undefined {
    if (this.#current?.replays) return 'loading'
    if (this.#search) return 'searching'
    return this.attempt || this.#restoring || this.#replacement ? 'starting' : undefined
  }

  get phase(): ViewPhase {
    return viewPhase(this.step, this.#displayed.current?.session)
  }

  get expected(): Attempt | SessionReference | undefined {
    return this.attempt ?? this.#failed ?? this.#restoring
  }

  /** Settles when the session that is being opened is open or failed; prompts wait for it. */
  get pending(): Promise<void> | undefined {
    return this.#pending
  }

  get #last(): SessionReference | undefined {
    return this.#options.store.get<SessionReference>(LAST_SESSION)
  }

  remember(open: OpenSession | undefined): void {
    this.#options.store.set(LAST_SESSION, open && referenceOf(open))
  }

  /**
   * Starts a session with the agent (by default the default agent), in `cwd` if given, and calls `begun` with it. The
   * displayed session stays open in this window.
   */
  start(wanted?: string, how: Pick<StartAttempt, 'cwd' | 'begun'> = {}): Promise<void> {
    if (this.#preparing) this.#options.agentReplaced(this.#preparing.agentName)
    return this.#open(async () => {
      if (wanted === undefined) {
        if (this.#restoring) {
          this.#restoring = undefined
        }
        if (!(await this.#searchAgents())) return
      }
      const agentId = wanted ?? this.#options.agents.defaultAgentId()
      // without a default agent, the empty view lists the agents to choose from
      if (agentId === undefined && this.#options.trusted() && !this.#options.agents.defaultProblem()) {
        this.#goBack(undefined)
        this.remember(undefined)
      }
      if (!this.#reports.isReady(agentId)) return
      const { cwd, begun } = how
      const attempt: Attempt = {
        ...{ type: 'new', agentId },
        ...(cwd !== undefined && { cwd }),
        ...(begun && { begun }),
      }
      await this.#run(this.#begin(attempt), (signal, progress) =>
        this.#options.manager.create(agentId, signal, progress, { cwd, queue: this.#displayed.newKey }),
      )
    })
  }

  /**
   * Starts a session with an agent once it is `ready`, for example installed; prompts wait for it. Starts nothing if
   * `ready` resolves to `undefined` or the user has opened something else meanwhile.
   */
  startAfter(agentName: string, ready: Promise<{ agentId: string } | undefined>): Promise<void> {
    this.#failures.clear()
    return this.#open(async () => {
      const preparing = { agentName }
      this.#preparing = preparing
      this.#changed()
      let isWanted = false
      const prepared = await ready.finally(() => {
        isWanted = this.#preparing === preparing
        if (isWanted) this.#preparing = undefined
        this.#changed()
      })
      if (prepared && isWanted) await this.start(prepared.agentId)
    })
  }

  /** The name of the agent that is being prepared. */
  get preparing(): string | undefined {
    return this.#preparing?.agentName
  }

  /** `isWhole`: another place than the end of its conversation will be shown. */
  reopen(how: Reopening, reference: SessionReference, isWhole = false): Promise<void> {
    return this.#open(() => this.#reopen(how, reference, { isWhole }))
  }

  async #reopen(
    how: Reopening,
    reference: SessionReference,
    { keepFailures = false, isWhole = false } = {},
  ): Promise<void> {
    const elsewhere = this.#options.elsewhere?.(reference)
    if (elsewhere) {
      if (!keepFailures) this.#failures.clear()
      this.#restoring = undefined
      this.#goBack(this.#displayed.current)
      this.#changed()
      await elsewhere()
      return
    }
    const { manager, trusted } = this.#options
    const displayed = this.#displayed
    const attempt: Attempt = { type: how, ...reference }
    // the saved conversation is readable at once, even if the agent is gone or can't load the session
    const isWanted = !displayed.continues(attempt) && trusted()
    const end = isWanted && !isWhole ? manager.savedEnd(reference) : undefined
    const current = this.#begin(attempt)
    if (end && !keepFailures) this.#failures.clear()
    if (end && !(await this.#showEnd(current, end))) return
    let kept: OpenSession | undefined
    try {
      kept = isWanted ? manager.saved(reference) : undefined
    } catch (error) {
      this.#giveUp()
      this.#changed()
      throw error
    }
    endOver(current)
    if (kept) displayed.display(kept)
    if (!this.#reports.isReady(reference.agentId, keepFailures)) {
      this.#finish()
      this.#changed()
      return
    }
    const previous = displayed.continues(attempt) ? displayed.current : undefined
    await this.#run(current, (signal, progress) => manager.reopen(how, reference, signal, progress, previous))
  }

  /** Shows the end of a conversation. Resolves to false if the user has canceled or opened something else meanwhile. */
  async #showEnd(current: CurrentAttempt, conversation: ConversationEnd): Promise<boolean> {
    const end = { conversation, drawn: deferred(), over: deferred() }
    current.end = end
    this.#displayed.display(undefined)
    this.#changed()
    await withTimeout(end.drawn.promise, DRAW_END_MS)
    return this.#current === current
  }

  /** Cancels the attempt, and displays again what was there before. */
  #giveUp(): void {
    const before = this.#before
    this.abort()
    this.#displayed.display(before)
  }

  /** What is displayed again if the attempt, or the next one, fails or is canceled. */
  get #before(): OpenSession | undefined {
    return this.#current ? this.#current.before : this.#displayed.current
  }

  /** Forks a session, at a point if the agent accepts it, and displays the fork. */
  fork(reference: SessionReference, at?: ForkPoint): Promise<void> {
    return this.#open(async () => {
      if (!this.#reports.isReady(reference.agentId)) return
      await this.#run(this.#begin({ type: 'fork', ...reference }), (signal, progress) =>
        this.#options.manager.fork(reference, signal, progress, at),
      )
    })
  }

  /** Restores the session from before a reload of the window, if there was one. */
  async restore(last = this.#last): Promise<void> {
    // a session that couldn't be started before the view was shown has left the reason
    const isEmpty = !this.#displayed.current && !this.#pending && this.#failures.all.size === 0
    if (!last || !isEmpty || !this.#options.trusted()) return
    if (this.#options.elsewhere?.(last)) return
    this.#restoring = last
    const continued = this.#options.continued?.(last)
    if (continued) {
      this.#changed()
      await this.#open(async () => this.#continue(last, await continued))
      if (this.#restoring !== last) return
    }
    // show the saved conversation while the agent starts
    let kept: OpenSession | undefined
    try {
      kept = this.#options.manager.saved(last)
    } catch (error) {
      // nobody waits for this; the view is empty, and History has the session
      this.#options.log.error(`The session before the reload: ${messageOf(error)}`)
      this.#restoring = undefined
      this.#changed()
      return
    }
    if (kept) this.#displayed.display(kept)
    await this.#open(async () => {
      if (!(await this.#searchAgents())) return
      const isRestoring = this.#restoring === last && this.#displayed.current === kept
      this.#restoring = undefined
      if (!isRestoring) return
      if (this.#options.agents.get(last.agentId)) {
        await this.#reopen('restore', last)
        return
      }
      if (kept) this.#reports.unknownAgent(last.agentId)
      else this.#changed()
    })
  }

  /** Displays a session that an earlier window left running, unless the user has opened something else meanwhile. */
  #continue(last: SessionReference, open: OpenSession | undefined): void {
    if (!open || this.#restoring !== last || this.#displayed.current) return
    this.#restoring = undefined
    this.#displayed.display(open)
    this.remember(open)
    this.#changed()
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
    const again = this.attempt ?? this.#failed ?? this.#displayed.continuation()
    this.#giveUp()
    this.#restarting = true
    void this.#options.runner(agentId).renew(undefined, true)
    this.#restarting = false
    this.#failures.clear()
    await this.retry(again ?? { type: 'new', agentId })
  }

  /**
   * Reopens the displayed session with the process that replaces its agent's, once that is `ready`, unless the user opens
   * something else meanwhile. The conversation stays visible.
   */
  continueAfter(ready: Promise<void>, attempt: Extract<Attempt, { type: Reopening }>): void {
    const displayed = this.#displayed
    const open = displayed.current
    this.#replacement = ready
    this.#changed()
    void this.#open(async () => {
      await ready
      if (this.#replacement !== ready) return
      this.#replacement = undefined
      if (displayed.current !== open) return
      await this.#reopen(attempt.type, attempt, { keepFailures: true })
    })
  }

  /** Cancels the attempt and displays the previous session again. Returns false if nothing was being opened. */
  cancel(): boolean {
    if (!this.attempt && !this.#search) return false
    this.#giveUp()
    this.#reports.ended()
    this.#changed()
    return true
  }

  abort(): void {
    const current = this.#current
    this.#failed = undefined
    this.#search = undefined
    this.#restoring = undefined
    this.#replacement = undefined
    this.#preparing = undefined
    this.#finish()
    this.#takingOver?.abort()
    current?.abort.abort(new CancelledError())
  }

  /** Displays the previous session again after an attempt failed or was canceled. */
  #goBack(before: OpenSession | undefined): void {
    this.#replacement = undefined
    this.#displayed.display(before)
  }

  /** The attempt is over, whether it succeeded or not. */
  #finish(): void {
    if (this.#current) endOver(this.#current)
    this.#current = undefined
    clearTimeout(this.#slow)
    this.#failures.drop('slow')
  }

  /**
   * Waits until the agents on this machine are known. The search takes as long as the login shell's profile. Resolves to
   * false if the user has canceled or started something else meanwhile.
   */
  async #searchAgents(): Promise<boolean> {
    if (!this.#options.trusted()) return true
    const search = Symbol('search')
    this.#search = search
    this.#changed()
    try {
      await this.#options.agents.ready()
      return this.#search === search
    } finally {
      if (this.#search === search) {
        this.#search = undefined
        this.#changed()
      }
    }
  }

  #open(work: () => Promise<void>): Promise<void> {
    // something else is opened: its attempt begins from what was displayed before the end of a conversation
    if (this.#current?.end) this.#giveUp()
    this.#preparing = undefined
    const opening = work().finally(() => {
      if (this.#pending === opening) this.#pending = undefined
    })
    this.#pending = opening
    return opening
  }

  /** Begins an attempt, which cancels the previous one. */
  #begin(attempt: Attempt): CurrentAttempt {
    const before = this.#before
    this.abort()
    const current: CurrentAttempt = { abort: new AbortController(), attempt, before, replays: false }
    this.#current = current
    return current
  }

  async #run(
    current: CurrentAttempt,
    open: (signal: AbortSignal, progress: OpenProgress) => Promise<OpenSession>,
  ): Promise<void> {
    const { abort, attempt, before } = current
    const displayed = this.#displayed
    const kept = displayed.continues(attempt) ? displayed.current : undefined
    let servers: string[] = []
    this.#slow = setTimeout(() => this.#reports.slow(attempt, servers), this.#reports.slowAfterMs)
    if (!displayed.continues(attempt)) displayed.display(undefined)
    if (attempt.type === 'new') this.#options.agentChosen(attempt.agentId)
    this.#changed()
    try {
      const opened = await open(abort.signal, {
        onPlan: ({ mcpServers }) => {
          servers = mcpServers.filter(({ passed }) => passed).map(({ name }) => name)
          if (this.#current === current && this.#failures.has('slow')) this.#reports.slow(attempt, servers)
        },
        onSession: (session, replays) => {
          if (this.#current !== current) return
          current.replays = replays
          // a reopened session replaces the displayed one only after its replay is complete
          if (!displayed.continues(attempt)) displayed.display(session)
          displayed.isNew = attempt.type === 'new'
          this.#changed()
        },
      })
      if (this.#current !== current) return
      this.#finish()
      displayed.display(opened)
      this.#options.agents.used(attempt.agentId)
      this.remember(opened)
      this.#changed()
      if (attempt.type === 'new') attempt.begun?.(opened)
    } catch (error) {
      if (this.#current !== current) return
      // prompts written for this attempt must not reach another conversation or agent
      const stays = !kept && attempt.type !== 'fork' && (isSignInAsked(error) || this.#options.hasPrompts())
      this.#finish()
      if (stays) this.#failed = attempt
      this.#goBack(stays ? undefined : (kept ?? before))
      // if the displayed session itself couldn't be reopened, that failure is enough
      if (!displayed.continues(attempt)) this.#reports.ended()
      else if (error instanceof CancelledError) this.#reports.readOnly(attempt)
      if (error instanceof SessionElsewhereError && attempt.type !== 'new' && attempt.type !== 'fork')
        this.showElsewhere(attempt, error)
      else if (!this.#reports.failed(attempt, error)) this.#changed()
    }
  }

  /** Another window has the session. */
  showElsewhere(
    attempt: Extract<Attempt, { type: Reopening }>,
    how: { taken?: boolean; isHosted?: boolean } = {},
  ): void {
    this.#reports.elsewhere(attempt, how)
  }

  /** Makes the other window of this failure close its session, and reopens it here. */
  async takeOver(failureId: string): Promise<void> {
    const failure = this.#failures.all.get(failureId)
    if (failure?.type !== 'elsewhere') return
    const { attempt } = failure
    this.#failures.remove(failureId)
    const abort = new AbortController()
    this.#takingOver?.abort()
    this.#takingOver = abort
    const { manager } = this.#options
    await manager.takeOver(attempt, abort.signal)
    this.#displayed.follow(undefined)
    // what the other window saved last: the session continues from what is displayed
    const { current } = this.#displayed
    if (current && this.#displayed.continues(attempt)) manager.catchUp(current)
    await this.retry(attempt)
  }

  dispose(): void {
    this.abort()
  }
}

/** The end of its conversation is no longer shown. */
function endOver(current: CurrentAttempt): void {
  current.end?.drawn.resolve()
  current.end?.over.resolve()
  current.end = undefined
}

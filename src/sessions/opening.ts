import { DisposableStore } from '../common/disposable.ts'
import { CancelledError, messageOf } from '../common/errors.ts'
import { SLOW_ANSWER_MS } from '../common/limits.ts'
import type { Logger } from '../common/logger.ts'
import { type Attempt, type Failures, failureOf, isSignInAsked, type Reopening } from './failures.ts'
import type { AgentHost } from './hosts/agent-host.ts'
import { type OpenSession, referenceOf, type SessionReference } from './open-session.ts'
import type { AgentDirectory, Keep } from './ports.ts'
import { SessionElsewhereError } from './session-leases.ts'
import type { OpenProgress, SessionManager } from './session-manager.ts'
import { type ShownSession, STOPPED } from './shown-session.ts'

/** The last session shown, remembered for after a reload. */
export const LAST_SESSION = 'parley.lastSession'

export interface OpeningOptions {
  manager: SessionManager
  agents: AgentDirectory
  host: (agentId: string) => AgentHost
  trusted: () => boolean
  /** Whether something was written for what is being opened. */
  hasPrompts: () => boolean
  keep: Keep
  /** Leads to the other place of the window that shows the session; `undefined` where none does. */
  elsewhere?: (reference: SessionReference) => (() => Promise<void>) | undefined
  log: Logger
  /** How long an agent may take to answer before the person is told that it does. Milliseconds. */
  slowAfterMs?: number
}

interface Under {
  abort: AbortController
  agentId: string
  attempt: Attempt
  before: OpenSession | undefined
}

/** Starts, reopens, forks and restores the session that a view shows: one at a time; a newer attempt cancels an older one. */
export class Opening {
  readonly #options: OpeningOptions
  readonly #shown: ShownSession
  readonly #failures: Failures
  readonly #changed: () => void
  #under: Under | undefined
  /** what failed, in place of which nothing else is shown: the composer stays with it */
  #failed: Attempt | undefined
  #slow: NodeJS.Timeout | undefined
  /** how many actions wait until it is known which agents there are */
  #looking = 0
  /** the session that is being begun or reopened, until it is there or failed */
  #pending: Promise<void> | undefined
  #restarting = false
  #preparing: string | undefined
  /** what another window writes of the conversation on the screen */
  #following: DisposableStore | undefined
  #takingOver: AbortController | undefined
  /** what `restore` will bring back, while it is not known yet which agents there are */
  #restoring: SessionReference | undefined

  constructor(options: OpeningOptions, shown: ShownSession, failures: Failures, changed: () => void) {
    this.#options = options
    this.#shown = shown
    this.#failures = failures
    this.#changed = changed
  }

  /** What is being attempted, until it is there or failed. */
  get attempt(): Attempt | undefined {
    return this.#under?.attempt
  }

  /** The attempt that the composer is for, after it failed: what is written next does it again. */
  get failed(): Attempt | undefined {
    return this.#failed
  }

  /** The process is ended for the conversation on the screen, which goes on by what ended it. */
  get isRestarting(): boolean {
    return this.#restarting
  }

  get isLooking(): boolean {
    return this.#looking > 0
  }

  get awaited(): Attempt | SessionReference | undefined {
    return this.#under?.attempt ?? this.#failed ?? this.#restoring
  }

  /** A prompt that comes while a session is being opened waits for it. */
  get pending(): Promise<void> | undefined {
    return this.#pending
  }

  /** The session to come back to after a reload, when this window had one. */
  get last(): SessionReference | undefined {
    return this.#options.keep.get<SessionReference>(LAST_SESSION)
  }

  remember(open: OpenSession | undefined): void {
    this.#options.keep.set(LAST_SESSION, open && referenceOf(open))
  }

  /** Begins a session with the agent, or the default one; in `cwd` when one is named. */
  start(wanted?: string, cwd?: string): Promise<void> {
    return this.#open(async () => {
      if (wanted === undefined) await this.#lookForAgents()
      const agentId = wanted ?? this.#options.agents.defaultAgentId()
      // what there is to choose from is shown where a new session would be
      if (agentId === undefined && this.#options.trusted() && !this.#options.agents.defaultProblem()) {
        this.#shown.goBack(undefined)
        this.remember(undefined)
      }
      if (!this.isReady(agentId)) return
      const attempt: Attempt = cwd === undefined ? { type: 'new', agentId } : { type: 'new', agentId, cwd }
      await this.#run(attempt, (signal, progress) =>
        this.#options.manager.create(agentId, signal, progress, { cwd, queue: this.#shown.newKey }),
      )
    })
  }

  /**
   * Begins a session with an agent that is being made ready, such as installed: prompts wait for it. Nothing begins when
   * `ready` resolves to nothing, or when the user has opened something else meanwhile.
   */
  startAfter(agentName: string, ready: Promise<{ agentId: string } | undefined>): Promise<void> {
    this.#preparing = agentName
    this.#failures.clear()
    const opening: Promise<void> = this.#open(async () => {
      let prepared: { agentId: string } | undefined
      try {
        prepared = await ready
      } finally {
        if (this.#pending === opening) this.#preparing = undefined
        this.#changed()
      }
      if (prepared && this.#pending === opening) await this.start(prepared.agentId)
    })
    this.#changed()
    return opening
  }

  /** The name of the agent that is being made ready. */
  get preparing(): string | undefined {
    return this.#preparing
  }

  reopen(how: Reopening, reference: SessionReference): Promise<void> {
    return this.#open(() => this.#reopen(how, reference))
  }

  async #reopen(how: Reopening, reference: SessionReference, keepFailures = false): Promise<void> {
    const elsewhere = this.#options.elsewhere?.(reference)
    if (elsewhere) {
      if (!keepFailures) this.#failures.clear()
      this.#shown.goBack(this.#shown.current)
      this.#changed()
      await elsewhere()
      return
    }
    const { manager, trusted } = this.#options
    const shown = this.#shown
    const before = shown.current
    const attempt: Attempt = { type: how, ...reference }
    // what was kept can be read at once, and also when its agent is gone or cannot give it back
    const kept = shown.continues(attempt) || !trusted() ? undefined : manager.kept(reference)
    if (kept) shown.display(kept)
    if (!this.isReady(reference.agentId, keepFailures)) {
      if (kept) shown.goBack(kept)
      return
    }
    const previous = shown.continues(attempt) ? shown.current : undefined
    await this.#run(
      attempt,
      (signal, progress) => manager.reopen(how, reference, signal, progress, previous),
      { before },
    )
  }

  fork(reference: SessionReference): Promise<void> {
    return this.#open(async () => {
      if (!this.isReady(reference.agentId)) return
      await this.#run({ type: 'fork', ...reference }, (signal, progress) =>
        this.#options.manager.fork(reference, signal, progress),
      )
    })
  }

  async restore(last: SessionReference | undefined): Promise<void> {
    if (!last || this.#shown.phase !== 'empty' || !this.#options.trusted()) return
    if (this.#options.elsewhere?.(last)) return
    this.#restoring = last
    // what was kept is on the screen before the agent is
    const kept = this.#options.manager.kept(last)
    if (kept) this.#shown.display(kept)
    await this.#open(async () => {
      await this.#lookForAgents()
      this.#restoring = undefined
      if (this.#shown.phase !== 'empty') return
      if (this.#options.agents.get(last.agentId)) {
        await this.#reopen('restore', last)
        return
      }
      this.#shown.goBack(kept)
      if (kept) this.#sayUnknown(last.agentId)
      else this.#changed()
    })
  }

  async retry(attempt: Attempt): Promise<void> {
    if (attempt.type === 'new') await this.start(attempt.agentId, attempt.cwd)
    else if (attempt.type === 'fork') await this.fork(attempt)
    else await this.reopen(attempt.type, attempt)
  }

  /** Ends the agent's process and does on a new one what it was about, or brings the conversation back. */
  async restart(agentId: string): Promise<void> {
    const again = this.attempt ?? this.#failed ?? this.#shown.continuation()
    this.abort()
    this.#restarting = true
    void this.#options.host(agentId).renew(undefined, true)
    this.#restarting = false
    this.#failures.clear()
    await this.retry(again ?? { type: 'new', agentId })
  }

  /**
   * The process of the conversation on the screen was replaced: it goes on with the new one as soon as that is `ready`,
   * unless the person does something else meanwhile. What is to be read on the screen stays there.
   */
  goOnAfter(ready: Promise<void>, attempt: Extract<Attempt, { type: Reopening }>): void {
    const shown = this.#shown
    const open = shown.current
    shown.phase = 'starting'
    this.#changed()
    void this.#open(async () => {
      await ready
      if (shown.current !== open || this.#under || shown.phase !== 'starting') return
      await this.#reopen(attempt.type, attempt, true)
    })
  }

  /** Gives up what is being opened and shows again what was there before; false when nothing is. */
  giveUp(): boolean {
    if (!this.#under) return false
    const { before } = this.#under
    this.abort()
    this.#shown.goBack(before)
    this.#sayEnded()
    this.#changed()
    return true
  }

  abort(): void {
    const under = this.#under
    this.#failed = undefined
    this.#over()
    under?.abort.abort(new CancelledError())
  }

  /** Nothing is being opened any more. */
  #over(): void {
    this.#under = undefined
    clearTimeout(this.#slow)
    this.#failures.drop('slow')
  }

  /** Whether an agent may be started at all; says why not. Whatever else failed is over, unless it is kept. */
  isReady(agentId: string | undefined, keepFailures = false): agentId is string {
    if (!keepFailures) this.#failures.clear()
    const { trusted, agents } = this.#options
    const problem = agentId === undefined ? agents.defaultProblem() : undefined
    if (!trusted()) this.#failures.add({ type: 'untrusted' })
    else if (problem) this.#failures.add({ type: 'default-agent', problem })
    else if (agentId === undefined) this.#failures.add({ type: 'no-agent' })
    else if (!this.#options.agents.get(agentId)) this.#sayUnknown(agentId)
    else return true
    return false
  }

  /** The agents of this machine are known once it was searched, which takes as long as the login shell's profile. */
  async #lookForAgents(): Promise<void> {
    if (!this.#options.trusted()) return
    this.#looking += 1
    this.#changed()
    try {
      await this.#options.agents.ready()
    } finally {
      this.#looking -= 1
      this.#changed()
    }
  }

  #open(work: () => Promise<void>): Promise<void> {
    const opening = work().finally(() => {
      if (this.#pending === opening) this.#pending = undefined
    })
    this.#pending = opening
    return opening
  }

  async #run(
    attempt: Attempt,
    open: (signal: AbortSignal, progress: OpenProgress) => Promise<OpenSession>,
    { before }: { before: OpenSession | undefined } = { before: this.#shown.current },
  ): Promise<void> {
    this.abort()
    const abort = new AbortController()
    const shown = this.#shown
    const kept = shown.continues(attempt) ? shown.current : undefined
    const under = { abort, agentId: attempt.agentId, attempt, before }
    this.#under = under
    this.#slow = setTimeout(() => this.#tellSlow(attempt), this.#options.slowAfterMs ?? SLOW_ANSWER_MS)
    shown.phase = 'starting'
    if (!shown.continues(attempt)) shown.display(undefined)
    this.#changed()
    try {
      const opened = await open(abort.signal, {
        onSession: (session, replays) => {
          if (this.#under !== under) return
          // what is on the screen stays until its replay is whole
          if (!shown.continues(attempt)) shown.display(session)
          shown.begun = attempt.type === 'new'
          if (replays) shown.phase = 'loading'
          this.#changed()
        },
      })
      if (this.#under !== under) return
      this.#over()
      shown.phase = 'ready'
      shown.display(opened)
      this.#options.agents.used(attempt.agentId)
      this.remember(opened)
      this.#changed()
    } catch (error) {
      if (this.#under !== under) return
      // prompts that were written for this attempt must not go to another conversation, nor to another agent
      const stays = !kept && attempt.type !== 'fork' && (isSignInAsked(error) || this.#options.hasPrompts())
      this.#over()
      if (stays) this.#failed = attempt
      shown.goBack(stays ? undefined : (kept ?? before))
      // an attempt to bring it back says itself how that failed
      if (!shown.continues(attempt)) this.#sayEnded()
      else if (error instanceof CancelledError) this.#sayReadOnly(attempt)
      this.#fail(attempt, error)
    }
  }

  /** Another window has the session: what it writes is shown here as long as the conversation is on the screen. */
  sayElsewhere(attempt: Extract<Attempt, { type: Reopening }>, taken = false): void {
    const { agentId } = attempt
    const host = this.#options.host(agentId)
    const canFork =
      host.running?.agent.capabilities.fork ?? this.#options.manager.knownAgent(agentId)?.fork ?? false
    const { current } = this.#shown
    if (current && this.#shown.continues(attempt)) {
      this.#following?.dispose()
      const following = new DisposableStore()
      this.#following = following
      following.add(this.#options.manager.follow(current))
      following.add(
        this.#shown.onDidSwitch(open => {
          if (open !== current) following.dispose()
        }),
      )
    }
    this.#failures.add({
      type: 'elsewhere',
      agentId,
      agentName: host.name,
      attempt,
      canFork,
      ...(taken && { taken }),
    })
  }

  /** Has the other window close the session, and continues it here. */
  async takeOver(attempt: Extract<Attempt, { type: Reopening }>): Promise<void> {
    const abort = new AbortController()
    this.#takingOver?.abort()
    this.#takingOver = abort
    await this.#options.manager.takeOver(attempt, abort.signal)
    this.#following?.dispose()
    await this.retry(attempt)
  }

  dispose(): void {
    this.abort()
    this.#takingOver?.abort()
    this.#following?.dispose()
  }

  #sayUnknown(agentId: string): void {
    this.#failures.add({ type: 'unknown-agent', agentId, agentName: this.#options.host(agentId).name })
  }

  /** The agent can neither load nor resume. */
  #sayReadOnly({ agentId }: Attempt): void {
    if (this.#shown.phase !== 'ended') return
    this.#failures.add({ type: 'read-only', agentId, agentName: this.#options.host(agentId).name })
  }

  /** Some agents never answer: nobody is to look at what moves without knowing what can be done. */
  #tellSlow({ agentId }: Attempt): void {
    const seconds = Math.round((this.#options.slowAfterMs ?? SLOW_ANSWER_MS) / 1000)
    const agentName = this.#options.host(agentId).name
    this.#failures.add({ type: 'slow', agentId, agentName, seconds })
  }

  /** A conversation that is back on the screen, and whose agent is gone, goes on by its card alone. */
  #sayEnded(): void {
    const { current, phase } = this.#shown
    if (phase !== 'ended' || !current || this.#failures.has('ended')) return
    const { agentId, agentName, session } = current
    const attempt = this.#shown.continuation()
    this.#failures.add({ type: 'ended', agentId, agentName, exit: session.exit ?? STOPPED, attempt })
  }

  #fail(attempt: Attempt, error: unknown): void {
    const host = this.#options.host(attempt.agentId)
    this.#options.log.warn(`${host.name}: ${attempt.type} failed: ${messageOf(error)}`)
    if (error instanceof SessionElsewhereError && attempt.type !== 'new' && attempt.type !== 'fork') {
      this.sayElsewhere(attempt)
      return
    }
    const failure = failureOf(attempt, error, host.name, host.running?.agent.authMethods ?? [])
    if (failure) this.#failures.add(failure)
    else this.#changed()
  }
}

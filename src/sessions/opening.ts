import { CancelledError, messageOf } from '../common/errors.ts'
import type { Logger } from '../common/logger.ts'
import { PATIENCE_MS } from '../common/patience.ts'
import type { Attempt, Reopening } from './failures/failure.ts'
import { failureOf } from './failures/failure-of.ts'
import type { Failures } from './failures/failures.ts'
import type { AgentHost } from './hosts/agent-host.ts'
import type { AgentDirectory, Keep } from './ports.ts'
import type { OpenProgress, OpenSession, SessionManager, SessionReference } from './session-manager.ts'
import { referenceOf } from './session-reference.ts'
import { STOPPED, type Stage } from './stage.ts'

/** The last session shown, remembered for after a reload. */
export const LAST_SESSION = 'parley.lastSession'

export interface OpeningParts {
  manager: SessionManager
  agents: AgentDirectory
  host: (agentId: string) => AgentHost
  trusted: () => boolean
  keep: Keep
  /** Leads to the other place of the window that shows the session; `undefined` where none does. */
  elsewhere?: (reference: SessionReference) => (() => Promise<void>) | undefined
  log: Logger
  /** How long an agent may take to answer before the person is told that it does. Milliseconds. */
  patienceMs?: number
}

interface Under {
  abort: AbortController
  agentId: string
  attempt: Attempt
  before: OpenSession | undefined
}

/** Begins, reopens, forks and restores sessions onto one stage: one at a time, and a newer one ends an older one. */
export class Opening {
  readonly #parts: OpeningParts
  readonly #stage: Stage
  readonly #failures: Failures
  readonly #changed: () => void
  #under: Under | undefined
  #slow: NodeJS.Timeout | undefined
  /** how many actions wait until it is known which agents there are */
  #looking = 0
  /** the session that is being begun or reopened, until it is there or failed */
  #pending: Promise<void> | undefined
  #restarting = false
  /** what `restore` will bring back, while it is not known yet which agents there are */
  #restoring: SessionReference | undefined

  constructor(parts: OpeningParts, stage: Stage, failures: Failures, changed: () => void) {
    this.#parts = parts
    this.#stage = stage
    this.#failures = failures
    this.#changed = changed
  }

  /** What is being attempted, until it is there or failed. */
  get attempt(): Attempt | undefined {
    return this.#under?.attempt
  }

  /** The process is ended for the conversation on the screen, which goes on by what ended it. */
  get isRestarting(): boolean {
    return this.#restarting
  }

  get isLooking(): boolean {
    return this.#looking > 0
  }

  get awaited(): Attempt | SessionReference | undefined {
    return this.#under?.attempt ?? this.#restoring
  }

  /** A prompt that comes while a session is being opened waits for it. */
  get pending(): Promise<void> | undefined {
    return this.#pending
  }

  /** The session to come back to after a reload, when this window had one. */
  get last(): SessionReference | undefined {
    return this.#parts.keep.get<SessionReference>(LAST_SESSION)
  }

  remember(open: OpenSession | undefined): void {
    this.#parts.keep.set(LAST_SESSION, open && referenceOf(open))
  }

  /** Begins a session with the agent, or the default one; in `cwd` when one is named. */
  start(wanted?: string, cwd?: string): Promise<void> {
    return this.#open(async () => {
      if (wanted === undefined) await this.#lookForAgents()
      const agentId = wanted ?? this.#parts.agents.defaultAgentId()
      if (!this.isReady(agentId)) return
      const attempt: Attempt = cwd === undefined ? { type: 'new', agentId } : { type: 'new', agentId, cwd }
      await this.#run(attempt, (signal, progress) =>
        this.#parts.manager.create(agentId, signal, progress, cwd),
      )
    })
  }

  reopen(how: Reopening, reference: SessionReference): Promise<void> {
    return this.#open(() => this.#reopen(how, reference))
  }

  async #reopen(how: Reopening, reference: SessionReference, keepFailures = false): Promise<void> {
    const elsewhere = this.#parts.elsewhere?.(reference)
    if (elsewhere) {
      if (!keepFailures) this.#failures.clear()
      this.#stage.goBack(this.#stage.current)
      this.#changed()
      await elsewhere()
      return
    }
    const { manager, trusted } = this.#parts
    const stage = this.#stage
    const before = stage.current
    const attempt: Attempt = { type: how, ...reference }
    // what was kept can be read at once, and also when its agent is gone or cannot give it back
    const kept = stage.continues(attempt) || !trusted() ? undefined : manager.kept(reference)
    if (kept) stage.display(kept)
    if (!this.isReady(reference.agentId, keepFailures)) {
      if (kept) stage.goBack(kept)
      return
    }
    const previous = stage.continues(attempt) ? stage.current : undefined
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
        this.#parts.manager.fork(reference, signal, progress),
      )
    })
  }

  async restore(last: SessionReference | undefined): Promise<void> {
    if (!last || this.#stage.phase !== 'empty' || !this.#parts.trusted()) return
    if (this.#parts.elsewhere?.(last)) return
    this.#restoring = last
    // what was kept is on the screen before the agent is
    const kept = this.#parts.manager.kept(last)
    if (kept) this.#stage.display(kept)
    await this.#open(async () => {
      await this.#lookForAgents()
      this.#restoring = undefined
      if (this.#stage.phase !== 'empty') return
      if (this.#parts.agents.get(last.agentId)) {
        await this.#reopen('restore', last)
        return
      }
      this.#stage.goBack(kept)
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
    const again = this.attempt ?? this.#stage.continuation()
    this.abort()
    this.#restarting = true
    void this.#parts.host(agentId).renew(undefined, true)
    this.#restarting = false
    this.#failures.clear()
    await this.retry(again ?? { type: 'new', agentId })
  }

  /**
   * The process of the conversation on the screen was replaced: it goes on with the new one as soon as that is `ready`,
   * unless the person does something else meanwhile. What is to be read on the screen stays there.
   */
  goOnAfter(ready: Promise<void>, attempt: Extract<Attempt, { type: Reopening }>): void {
    const stage = this.#stage
    const open = stage.current
    stage.phase = 'starting'
    this.#changed()
    void this.#open(async () => {
      await ready
      if (stage.current !== open || this.#under || stage.phase !== 'starting') return
      await this.#reopen(attempt.type, attempt, true)
    })
  }

  /** Gives up what is being opened and shows again what was there before; false when nothing is. */
  giveUp(): boolean {
    if (!this.#under) return false
    const { before } = this.#under
    this.abort()
    this.#stage.goBack(before)
    this.#sayEnded()
    this.#changed()
    return true
  }

  abort(): void {
    const under = this.#under
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
    if (!this.#parts.trusted()) this.#failures.add({ type: 'untrusted' })
    else if (agentId === undefined) this.#failures.add({ type: 'no-agent' })
    else if (!this.#parts.agents.get(agentId)) this.#sayUnknown(agentId)
    else return true
    return false
  }

  /** The agents of this machine are known once it was searched, which takes as long as the login shell's profile. */
  async #lookForAgents(): Promise<void> {
    if (!this.#parts.trusted()) return
    this.#looking += 1
    this.#changed()
    try {
      await this.#parts.agents.ready()
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
    { before }: { before: OpenSession | undefined } = { before: this.#stage.current },
  ): Promise<void> {
    this.abort()
    const abort = new AbortController()
    const stage = this.#stage
    const kept = stage.continues(attempt) ? stage.current : undefined
    const under = { abort, agentId: attempt.agentId, attempt, before }
    this.#under = under
    this.#slow = setTimeout(() => this.#tellSlow(attempt), this.#parts.patienceMs ?? PATIENCE_MS)
    stage.phase = 'starting'
    if (!stage.continues(attempt)) stage.display(undefined)
    this.#changed()
    try {
      const opened = await open(abort.signal, {
        onSession: (session, replays) => {
          if (this.#under !== under) return
          // what is on the screen stays until its replay is whole
          if (!stage.continues(attempt)) stage.display(session)
          stage.begun = attempt.type === 'new'
          if (replays) stage.phase = 'loading'
          this.#changed()
        },
      })
      if (this.#under !== under) return
      this.#over()
      stage.phase = 'ready'
      stage.display(opened)
      this.#parts.agents.used(attempt.agentId)
      this.remember(opened)
      this.#changed()
    } catch (error) {
      if (this.#under !== under) return
      this.#over()
      stage.goBack(kept ?? before)
      // an attempt to bring it back says itself how that failed
      if (!stage.continues(attempt)) this.#sayEnded()
      else if (error instanceof CancelledError) this.#sayReadOnly(attempt)
      this.#fail(attempt, error)
    }
  }

  #sayUnknown(agentId: string): void {
    this.#failures.add({ type: 'unknown-agent', agentId, agentName: this.#parts.host(agentId).name })
  }

  /** The agent can neither load nor resume. */
  #sayReadOnly({ agentId }: Attempt): void {
    if (this.#stage.phase !== 'ended') return
    this.#failures.add({ type: 'read-only', agentId, agentName: this.#parts.host(agentId).name })
  }

  /** Some agents never answer: nobody is to look at what moves without knowing what can be done. */
  #tellSlow({ agentId }: Attempt): void {
    const seconds = Math.round((this.#parts.patienceMs ?? PATIENCE_MS) / 1000)
    const agentName = this.#parts.host(agentId).name
    this.#failures.add({ type: 'slow', agentId, agentName, seconds })
  }

  /** A conversation that is back on the screen, and whose agent is gone, goes on by its card alone. */
  #sayEnded(): void {
    const { current, phase } = this.#stage
    if (phase !== 'ended' || !current || this.#failures.has('ended')) return
    const { agentId, agentName, session } = current
    const attempt = this.#stage.continuation()
    this.#failures.add({ type: 'ended', agentId, agentName, exit: session.exit ?? STOPPED, attempt })
  }

  #fail(attempt: Attempt, error: unknown): void {
    const host = this.#parts.host(attempt.agentId)
    this.#parts.log.warn(`${host.name}: ${attempt.type} failed: ${messageOf(error)}`)
    const failure = failureOf(attempt, error, host.name, host.running?.agent.authMethods ?? [])
    if (failure) this.#failures.add(failure)
    else this.#changed()
  }
}

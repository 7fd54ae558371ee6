import { messageOf } from '../common/errors.ts'
import { SLOW_ANSWER_MS } from '../common/limits.ts'
import type { Logger } from '../common/logger.ts'
import { type DisplayedSession, STOPPED } from './displayed-session.ts'
import { type Attempt, type Failures, failureOf, type Reopening } from './failures.ts'
import type { OpenSession, SessionReference } from './open-session.ts'
import type { AgentDirectory, SessionRecords } from './ports.ts'
import type { AgentRunner } from './runners/agent-runner.ts'
import type { SavedSessions } from './saved-sessions.ts'
import type { SessionPlace } from './session-leases.ts'

interface OpeningFailuresOptions {
  saved: Pick<SavedSessions, 'follow'>
  records: Pick<SessionRecords, 'agent'>
  agents: AgentDirectory
  runner: (agentId: string) => AgentRunner
  trusted: () => boolean
  log: Logger
  /** How long the agent may take to answer before a notice says that it's slow, in milliseconds. */
  slowAfterMs?: number
}

/** Reports why a session isn't opened, can't continue, or takes long. */
export class OpeningFailures {
  readonly #options: OpeningFailuresOptions
  readonly #displayed: DisplayedSession
  readonly #failures: Failures

  constructor(options: OpeningFailuresOptions, displayed: DisplayedSession, failures: Failures) {
    this.#options = options
    this.#displayed = displayed
    this.#failures = failures
  }

  /** Whether the agent can be started; if not, adds a failure that says why. Clears earlier failures unless `keepFailures`. */
  isReady(agentId: string | undefined, keepFailures = false): agentId is string {
    if (!keepFailures) this.#failures.clear()
    const { trusted, agents } = this.#options
    const problem = agentId === undefined ? agents.defaultProblem() : undefined
    if (!trusted()) this.#failures.add({ type: 'untrusted' })
    else if (problem) this.#failures.add({ type: 'default-agent', problem })
    else if (agentId === undefined) this.#failures.add({ type: 'no-agent' })
    else if (!agents.get(agentId)) this.unknownAgent(agentId)
    else return true
    return false
  }

  unknownAgent(agentId: string): void {
    this.#failures.add({ type: 'unknown-agent', ...this.#named(agentId) })
  }

  /** Reports that an agent is slow, so that the user can cancel: some agents never answer. */
  slow({ agentId }: Attempt, servers: string[]): void {
    const seconds = Math.round(this.slowAfterMs / 1000)
    this.#failures.drop('slow')
    this.#failures.add({ type: 'slow', ...this.#named(agentId), seconds, servers })
  }

  get slowAfterMs(): number {
    return this.#options.slowAfterMs ?? SLOW_ANSWER_MS
  }

  /** Reports that the displayed session's agent has ended: the user can continue the session only from this failure's card. */
  ended(): void {
    const { current } = this.#displayed
    if (!current || current.session.phase === 'ready' || this.#failures.has('ended')) return
    const { agentId, agentName, session } = current
    const attempt = this.#displayed.continuation()
    this.#failures.add({ type: 'ended', agentId, agentName, exit: session.exit ?? STOPPED, attempt })
  }

  /** Reports that the agent can neither load nor resume the displayed session. */
  readOnly({ agentId }: Attempt): void {
    if (this.#displayed.current?.session.phase === 'ready') return
    this.#failures.add({ type: 'read-only', ...this.#named(agentId) })
  }

  /**
   * Reports that another window has the session, and shows that window's changes while the session is displayed here. `goesOn` is called
   * when the conversation continued in another session there.
   */
  elsewhere(
    attempt: Extract<Attempt, { type: Reopening }>,
    place: SessionPlace,
    taken: boolean,
    goesOn: (from: OpenSession, next: SessionReference) => void,
  ): void {
    const { agentId } = attempt
    const { saved, records, runner } = this.#options
    const { current } = this.#displayed
    if (current && this.#displayed.continues(attempt))
      this.#displayed.follow(saved.follow(current, next => goesOn(current, next)))
    this.#failures.add({
      type: 'elsewhere',
      ...this.#named(agentId),
      attempt,
      place,
      canFork: runner(agentId).running?.agent.capabilities.fork ?? records.agent(agentId)?.fork ?? false,
      ...(taken && { taken }),
    })
  }

  /** Reports that the attempt was rejected with `error`. Returns false if the user stopped the attempt. */
  failed(attempt: Attempt, error: unknown): boolean {
    const runner = this.#options.runner(attempt.agentId)
    this.#options.log.warn(`${runner.name}: ${attempt.type} failed: ${messageOf(error)}`)
    const failure = failureOf(attempt, error, runner.name, runner.running?.agent.authMethods ?? [])
    if (!failure) return false
    if (failure.type === 'request' && this.#displayed.continues(attempt))
      this.#failures.add({ ...failure, isShown: true })
    else this.#failures.add(failure)
    return true
  }

  #named(agentId: string): { agentId: string; agentName: string } {
    return { agentId, agentName: this.#options.runner(agentId).name }
  }
}

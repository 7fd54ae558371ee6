import {
  AgentClosedError,
  type AgentExit,
  AgentRequestError,
  AgentStartError,
  type AgentStartFailure,
} from '../acp/agent.ts'
import { RpcCode } from '../acp/errors.ts'
import type { AuthMethod, AuthStatus, ContentBlock } from '../acp/model.ts'
import { CancelledError, messageOf } from '../common/errors.ts'
import { SLOW_ANSWER_MS } from '../common/limits.ts'
import type { TurnOutcome } from '../conversation/prompt-queue.ts'
import type { OpenSession } from './open-session.ts'
import type { DefaultAgentProblem } from './ports.ts'

export type Reopening = 'load' | 'resume' | 'restore'

/** What the user had asked for when it failed; Retry does it again. */
export type Attempt =
  /** in `cwd`, or wherever new sessions begin */
  | { type: 'new'; agentId: string; cwd?: string }
  /** a new session that begins with the conversation of this one */
  | { type: 'fork'; agentId: string; sessionId: string; cwd: string; title?: string }
  /** restore: loaded, or resumed if the agent can't load */
  | { type: Reopening; agentId: string; sessionId: string; cwd: string; title?: string }

/**
 * Everything that can stop a conversation, each its own kind so that each gets its own card and its own way on.
 * The conversation on the screen stays in every case.
 */
export type Failure =
  | { type: 'no-agent' }
  | { type: 'untrusted' }
  /** the default agent of the settings; no other one is started in its place */
  | { type: 'default-agent'; problem: DefaultAgentProblem }
  | { type: 'unknown-agent'; agentId: string; agentName: string }
  | { type: 'start'; agentId: string; agentName: string; failure: AgentStartFailure; attempt: Attempt }
  | {
      type: 'sign-in'
      agentId: string
      agentName: string
      methods: readonly AuthMethod[]
      message: string
      detail?: string
      /** what to do once signed in */
      attempt?: Attempt
      /** the prompt that was refused, to be sent again once signed in */
      again?: ContentBlock[]
      /** the option that was to be changed */
      option?: { optionId: string; value: string | boolean }
      /** the action that was refused outside of the conversation, repeated after the sign-in */
      then?: () => Promise<void>
      /** the user asked for it: the agent refused nothing */
      asked?: boolean
      /** who is signed in already, where the agent tells */
      account?: AuthStatus
      /** the method under way, when one is */
      running?: string
      /** the method that was tried last and came to nothing; `message` says why */
      tried?: string
      /** it can't be used from here: `message` says why */
      unavailable?: boolean
    }
  | { type: 'request'; agentId: string; agentName: string; error: AgentRequestError; attempt: Attempt }
  | { type: 'ended'; agentId: string; agentName: string; exit: AgentExit; attempt?: Attempt }
  /** it can neither load nor resume: only the saved conversation is available */
  | { type: 'read-only'; agentId: string; agentName: string }
  /** another window has the session; `taken`: it took it from this one */
  | {
      type: 'elsewhere'
      agentId: string
      agentName: string
      attempt: Extract<Attempt, { type: Reopening }>
      canFork: boolean
      taken?: boolean
    }
  | { type: 'unresponsive'; agentName: string }
  /** the session has been opening for this many seconds */
  | { type: 'slow'; agentId: string; agentName: string; seconds: number }
  /** the agent hasn't answered a change of an option for this many seconds */
  | {
      type: 'slow-option'
      agentId: string
      agentName: string
      optionId: string
      optionName: string
      seconds: number
    }
  | { type: 'option'; agentName: string; optionName: string; message: string; detail?: string }
  | { type: 'problem'; title: string; message: string; attempt?: Attempt }

/** What an attempt that was rejected with `error` leaves on the screen; `undefined` when the user stopped it. */
export function failureOf(
  attempt: Attempt,
  error: unknown,
  agentName: string,
  methods: readonly AuthMethod[],
): Failure | undefined {
  const { agentId } = attempt
  if (error instanceof CancelledError) return undefined
  if (isSignInAsked(error)) {
    const known = error instanceof AgentStartError ? methodsIn(error.failure) : methods
    return { type: 'sign-in', agentId, agentName, methods: known, ...wordsOf(error), attempt }
  }
  if (error instanceof AgentStartError) {
    const { failure } = error
    return failure.kind === 'cancelled' ? undefined : { type: 'start', agentId, agentName, failure, attempt }
  }
  if (error instanceof AgentRequestError) return { type: 'request', agentId, agentName, error, attempt }
  if (error instanceof AgentClosedError)
    return { type: 'ended', agentId, agentName, exit: error.exit, attempt }
  return { type: 'problem', title: agentName, message: messageOf(error), attempt }
}

/** The agent refused until the user has signed in. */
export function isSignInAsked(error: unknown): boolean {
  if (error instanceof AgentRequestError) return error.kind === 'auth-required'
  if (!(error instanceof AgentStartError)) return false
  return error.failure.kind === 'initialize-error' && error.failure.error.code === RpcCode.authRequired
}

/** The ways to sign in that an agent named when it refused to start. */
export function methodsIn(failure: AgentStartFailure): readonly AuthMethod[] {
  return failure.kind === 'initialize-error' ? (failure.authMethods ?? []) : []
}

/** In what words a turn was refused until the user has signed in: the prompt was, or the turn it began (v2). */
export function signInAskedBy(outcome: TurnOutcome): { message: string; detail?: string } | undefined {
  if (outcome.type === 'failed') return isSignInAsked(outcome.error) ? wordsOf(outcome.error) : undefined
  const error = outcome.type === 'ended' ? outcome.error : undefined
  return error?.code === RpcCode.authRequired ? { message: error.message, detail: error.detail } : undefined
}

export function wordsOf(error: unknown): { message: string; detail?: string } {
  return {
    message: messageOf(error),
    detail: detailOf(error),
  }
}

function detailOf(error: unknown): string | undefined {
  if (error instanceof AgentRequestError) return error.detail
  if (!(error instanceof AgentStartError)) return undefined
  return error.failure.kind === 'initialize-error' ? error.failure.error.detail : undefined
}

/** The failures that a conversation shows, by id. */
export class Failures {
  readonly #failures = new Map<string, Failure>()
  readonly #changed: () => void
  readonly #added: (failure: Failure) => void
  #next = 1

  constructor(changed: () => void, added: (failure: Failure) => void = () => {}) {
    this.#changed = changed
    this.#added = added
  }

  get all(): ReadonlyMap<string, Failure> {
    return this.#failures
  }

  has(type: Failure['type']): boolean {
    return [...this.#failures.values()].some(failure => failure.type === type)
  }

  add(failure: Failure): void {
    this.#added(failure)
    this.replace(`failure-${this.#next++}`, failure)
  }

  replace(id: string, failure: Failure): void {
    this.#failures.set(id, failure)
    this.#changed()
  }

  remove(id: string): void {
    if (this.#failures.delete(id)) this.#changed()
  }

  /** Doesn't notify: the caller does so after further changes. */
  drop(type: Failure['type']): void {
    for (const [id, failure] of this.#failures) if (failure.type === type) this.#failures.delete(id)
  }

  /** Doesn't notify: the caller does so after further changes. */
  clear(): void {
    this.#failures.clear()
  }
}

/**
 * Says of the options of the conversation on the screen which changes the agent has not answered for long, until it does
 * or the user gives them up.
 */
export class SlowOptions {
  readonly #failures: Failures
  readonly #slowAfterMs: number
  readonly #waiting = new Map<string, NodeJS.Timeout>()
  #open: OpenSession | undefined

  constructor(failures: Failures, slowAfterMs = SLOW_ANSWER_MS) {
    this.#failures = failures
    this.#slowAfterMs = slowAfterMs
  }

  /** The conversation on the screen is another, or what waits in it changed. */
  look(open: OpenSession | undefined): void {
    const wait = open && open.session.phase === 'ready' ? open.session.pendingOptions : []
    const another = this.#open !== open
    this.#open = open
    for (const [optionId, timer] of this.#waiting) {
      if (!another && wait.includes(optionId)) continue
      clearTimeout(timer)
      this.#waiting.delete(optionId)
      this.#withdraw(optionId)
    }
    if (!open) return
    for (const optionId of wait) {
      if (this.#waiting.has(optionId)) continue
      const timer = setTimeout(() => this.#tell(open, optionId), this.#slowAfterMs)
      this.#waiting.set(optionId, timer)
    }
  }

  #tell({ agentId, agentName, session }: OpenSession, optionId: string): void {
    const option = session.state.configOptions.find(({ id }) => id === optionId)
    const seconds = Math.round(this.#slowAfterMs / 1000)
    const optionName = option?.name ?? optionId
    this.#failures.add({ type: 'slow-option', agentId, agentName, optionId, optionName, seconds })
  }

  #withdraw(optionId: string): void {
    for (const [id, failure] of this.#failures.all) {
      if (failure.type === 'slow-option' && failure.optionId === optionId) this.#failures.remove(id)
    }
  }
}

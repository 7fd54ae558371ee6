import {
  AgentClosedError,
  type AgentExit,
  AgentRequestError,
  AgentStartError,
  type AgentStartFailure,
} from '../acp/agent.ts'
import { RpcCode } from '../acp/errors.ts'
import type { AuthMethod, AuthStatus } from '../acp/model.ts'
import { isCancelled, messageOf } from '../common/errors.ts'
import type { Continuing } from './continuation.ts'
import type { OpenSession } from './open-session.ts'
import type { DefaultAgentProblem } from './ports.ts'
import type { SessionPlace } from './session-leases.ts'

export type Reopening = 'load' | 'resume' | 'restore'

/** An attempt to open a session. If it fails, Retry repeats it. */
export type Attempt =
  /**
   * a new session in `cwd`, or in the default folder; `begun` is called with the session, also if the session starts only after a sign-in.
   * `continues`: the conversation that the session continues
   */
  | {
      type: 'new'
      agentId: string
      cwd?: string
      begun?: (open: OpenSession) => void
      continues?: Continuing
    }
  /** a new session that starts with the conversation of the session `sessionId` */
  | { type: 'fork'; agentId: string; sessionId: string; cwd: string; title?: string }
  /** an existing session; `restore` loads or resumes it, see `SessionStarter.reopen` */
  | { type: Reopening; agentId: string; sessionId: string; cwd: string; title?: string }

/**
 * Everything that can stop a conversation. Each type has its own card, which offers the next steps. The conversation stays displayed in
 * every case.
 */
export type Failure =
  | { type: 'no-agent' }
  | { type: 'untrusted' }
  /** the default agent of the settings can't be used; no other agent is started instead */
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
      /** the attempt to repeat after sign-in */
      attempt?: Attempt
      /** the agent refused prompts, which the session's queue sends again after sign-in */
      prompts?: true
      /** the option to set after sign-in */
      option?: { optionId: string; value: string | boolean }
      /** repeats, after sign-in, an action outside of the conversation that the agent refused */
      then?: () => Promise<void>
      /** the user requested the sign-in; the agent refused nothing */
      asked?: boolean
      /** who is signed in, if the agent reports it */
      account?: AuthStatus
      /** the method in progress, if any */
      running?: string
      /** the last method that failed; `message` says why */
      tried?: string
      /** the tried method can't be used from VS Code; `message` says why */
      unavailable?: boolean
    }
  /** the agent refused a request; `isShown`: the conversation of the session that couldn't be reopened is displayed */
  | {
      type: 'request'
      agentId: string
      agentName: string
      error: AgentRequestError
      attempt: Attempt
      isShown?: boolean
    }
  | { type: 'ended'; agentId: string; agentName: string; exit: AgentExit; attempt?: Attempt }
  /** the agent can neither load nor resume: only the saved conversation is available */
  | { type: 'read-only'; agentId: string; agentName: string }
  /**
   * another window has the session, or it runs in another version of Parley; `taken`: the other window took it from this window
   */
  | {
      type: 'elsewhere'
      agentId: string
      agentName: string
      attempt: Extract<Attempt, { type: Reopening }>
      canFork: boolean
      place: SessionPlace
      taken?: boolean
    }
  | { type: 'unresponsive'; agentName: string }
  /** the session has been opening for this many seconds */
  | {
      type: 'slow'
      agentId: string
      agentName: string
      seconds: number
      /** the MCP servers that the session gets: some agents wait for all of them to start */
      servers: string[]
    }
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

/** Whether something failed; false if the user only has to choose an agent or trust the workspace first. */
export function isError({ type }: Failure): boolean {
  return type !== 'no-agent' && type !== 'untrusted'
}

/** Returns the failure of an attempt that was rejected with `error`; `undefined` if the user stopped the attempt. */
export function failureOf(
  attempt: Attempt,
  error: unknown,
  agentName: string,
  methods: readonly AuthMethod[],
): Failure | undefined {
  const { agentId } = attempt
  if (isCanceled(error)) return undefined
  if (isSignInAsked(error)) {
    const known = error instanceof AgentStartError ? methodsIn(error.failure) : methods
    return { type: 'sign-in', agentId, agentName, methods: known, ...messageAndDetail(error), attempt }
  }
  if (error instanceof AgentStartError)
    return { type: 'start', agentId, agentName, failure: error.failure, attempt }
  if (error instanceof AgentRequestError) return { type: 'request', agentId, agentName, error, attempt }
  if (error instanceof AgentClosedError)
    return { type: 'ended', agentId, agentName, exit: error.exit, attempt }
  return { type: 'problem', title: agentName, message: messageOf(error), attempt }
}

/** Whether the attempt was canceled rather than failed: the user stopped it, or it isn't possible. */
export function isCanceled(error: unknown): boolean {
  return isCancelled(error) || (error instanceof AgentStartError && error.failure.kind === 'cancelled')
}

/** Whether the agent refused because it requires sign-in. */
export function isSignInAsked(error: unknown): boolean {
  if (error instanceof AgentRequestError) return error.kind === 'auth-required'
  if (!(error instanceof AgentStartError)) return false
  return error.failure.kind === 'initialize-error' && error.failure.error.code === RpcCode.authRequired
}

/** Returns the sign-in methods that an agent listed when it refused to start. */
export function methodsIn(failure: AgentStartFailure): readonly AuthMethod[] {
  return failure.kind === 'initialize-error' ? (failure.authMethods ?? []) : []
}

export function messageAndDetail(error: unknown): { message: string; detail?: string } {
  return { message: messageOf(error), detail: failureDetail(error) }
}

function failureDetail(error: unknown): string | undefined {
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

  /** Removes failures of a type without firing a change: the caller notifies after further changes. */
  drop(type: Failure['type']): void {
    for (const [id, failure] of this.#failures) if (failure.type === type) this.#failures.delete(id)
  }

  /** Removes all failures without firing a change: the caller notifies after further changes. */
  clear(): void {
    this.#failures.clear()
  }
}

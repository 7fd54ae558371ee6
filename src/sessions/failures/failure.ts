import {
  AgentClosedError,
  type AgentExit,
  AgentRequestError,
  AgentStartError,
  type AgentStartFailure,
} from '../../acp/agent.ts'
import { RpcCode } from '../../acp/errors.ts'
import type { AuthMethod, AuthStatus, ContentBlock } from '../../acp/model.ts'
import { CancelledError, messageOf } from '../../common/errors.ts'
import type { TurnOutcome } from '../../conversation/prompt-queue.ts'
import type { DefaultAgentProblem } from '../ports.ts'

export type Reopening = 'load' | 'resume' | 'restore'

/** What the person had asked for when it failed; Retry does it again. */
export type Attempt =
  /** in `cwd`, or wherever new sessions begin */
  | { type: 'new'; agentId: string; cwd?: string }
  /** a new session that begins with the conversation of this one */
  | { type: 'fork'; agentId: string; sessionId: string; cwd: string; title?: string }
  /** restore: loaded, or resumed where the agent cannot load */
  | { type: Reopening; agentId: string; sessionId: string; cwd: string; title?: string }

/**
 * Everything that can stop a conversation, each its own kind so that each gets its own card and its own way on.
 * The conversation that stands on the screen stays, whatever comes.
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
      /** what was refused outside of the conversation, to be done again once signed in */
      then?: () => Promise<void>
      /** the person asked for it: the agent refused nothing */
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
  /** it can neither load nor resume: what was kept of the conversation is all there is */
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
  /** what is being opened still is, after this many seconds */
  | { type: 'slow'; agentId: string; agentName: string; seconds: number }
  /** the agent has not answered the change of an option for this many seconds */
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

/** What an attempt that was rejected with `error` leaves on the screen; `undefined` when the person stopped it. */
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

/** The agent refused until the person has signed in. */
export function isSignInAsked(error: unknown): boolean {
  if (error instanceof AgentRequestError) return error.kind === 'auth-required'
  if (!(error instanceof AgentStartError)) return false
  return error.failure.kind === 'initialize-error' && error.failure.error.code === RpcCode.authRequired
}

/** The ways to sign in that an agent named when it refused to start. */
export function methodsIn(failure: AgentStartFailure): readonly AuthMethod[] {
  return failure.kind === 'initialize-error' ? (failure.authMethods ?? []) : []
}

/** In what words a turn was refused until the person has signed in: the prompt was, or the turn it began (v2). */
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

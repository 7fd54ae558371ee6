import {
  AgentClosedError,
  AgentRequestError,
  AgentStartError,
  type AgentStartFailure,
} from '../../acp/agent.ts'
import { RpcCode } from '../../acp/errors.ts'
import type { AuthMethod } from '../../acp/model.ts'
import { CancelledError, messageOf } from '../../common/errors.ts'
import type { TurnOutcome } from '../../conversation/prompt-queue.ts'
import type { Attempt, Failure } from './failure.ts'

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

/** Decides which pending requests no longer need an answer when work ends. */
import type { ElicitationRequest, PermissionRequest, SessionUpdate } from '../../acp/model.ts'
import { isBackgroundWork } from '../entries/tool-call.ts'
import { isIdle } from '../reducer/reduce.ts'
import type { Background, ReducerState } from '../step.ts'

type Request = PermissionRequest | ElicitationRequest

/**
 * Whether the request ends because the user stopped the turn: all requests of the session and its subagents end, except those of background
 * work.
 */
export function endsWhenStopped(state: ReducerState, request: Request): boolean {
  return isOfTurn(request) && !asksForBackground(state, request)
}

/**
 * Whether the request ends with the turn: all requests of the session end, except those of background work. Requests of a subagent end with
 * the subagent. `background`: the background work reported with the end of the turn; `undefined`: not reported.
 */
export function endsWithTurn(
  state: ReducerState,
  background: Background | undefined,
  request: Request,
): boolean {
  if (!isOfTurn(request) || state.memory.subagentStates.has(request.sessionId)) return false
  if ('outlastsTurn' in request) return false
  return !(background && isAboutBackground(state, background, request))
}

/** Returns the subagent that became idle with an update. `within`: the subagent that sent the update. */
export function endedSubagent(
  state: ReducerState,
  update: SessionUpdate,
  within?: string,
): ReducerState | undefined {
  const idle =
    update.type === 'subagent'
      ? update.subagent.state?.activity === 'idle' && update.subagent.sessionId
      : update.type === 'state' && isIdle(update) && within
  return idle ? state.memory.subagentStates.get(idle) : undefined
}

/** Whether the request ends because a subagent became idle: all requests of the subagent end, except those of its background work. */
export function endsWithSubagent(subagent: ReducerState, request: Request): boolean {
  if (request.sessionId !== subagent.within) return false
  return !isAboutBackground(subagent, subagent.memory.background, request)
}

/** Whether a request belongs to a turn. An elicitation for a request of the client ends with that request instead. */
function isOfTurn<R extends Request>(request: R): request is R & { sessionId: string } {
  return request.sessionId !== undefined
}

/**
 * Whether a request belongs to work that is known to continue in the background, so that the request stays pending at the end of the turn.
 */
function asksForBackground(state: ReducerState, request: Request): boolean {
  const { sessionId } = request
  const { background } = state.memory
  const child = sessionId === undefined ? undefined : state.memory.subagentStates.get(sessionId)
  if (child && sessionId !== undefined && background.subagents.has(sessionId)) return true
  const asking = child ?? state
  return isAboutBackground(asking, asking.memory.background, request)
}

/** Whether a request's subject is in `background`. `asking`: the state of the session that sent the request. */
function isAboutBackground(asking: ReducerState, background: Background, request: Request): boolean {
  const { terminalId, toolCallId } = subjectOf(request)
  if (terminalId !== undefined && background.terminals.has(terminalId)) return true
  return toolCallId !== undefined && isBackgroundWork(asking, background, toolCallId)
}

function subjectOf(request: Request): {
  toolCallId?: string
  terminalId?: string
} {
  if (!('subject' in request)) return request
  const { subject } = request
  if (subject.type === 'tool_call') return subject.toolCall
  return subject.type === 'command' ? subject : {}
}

import { isDeepStrictEqual } from 'node:util'
import type { ElicitationRequest, PermissionRequest } from '../../acp/model.ts'
import { openRequests } from '../entries/requests.ts'
import { SUBAGENT } from '../entries/subagent.ts'
import { TOOL_CALL } from '../entries/tool-call.ts'
import type { ReducingState } from '../reducer/reducing-state.ts'
import type { Entry } from '../state.ts'
import { positionsOf, type ReducerState } from '../step.ts'

/** The entries needed to draw the pending requests: their own, their tool calls' and their subagents'. */
export function entriesOfRequests(state: ReducingState): Entry[] {
  const { subagentStates } = state.memory
  const found = new Set<Entry>()
  for (const request of openRequests(state)) {
    found.add(request)
    const asking: ReducerState | undefined =
      request.within === undefined ? state : subagentStates.get(request.within)
    const tool = asking && positionsOf(asking.memory, TOOL_CALL).get(request.toolCallId ?? '')
    if (tool !== undefined) found.add(state.entries[tool]!)
    for (let at: Entry | undefined = request; at; ) {
      at = announcementOf(state, at.within)
      if (!at || found.has(at)) break
      found.add(at)
    }
  }
  return [...found]
}

/**
 * The id of the request that the conversation shows as pending and that asks the same; `undefined` if there is none. `taken`:
 * ids that are others'.
 */
export function shownRequest(
  state: ReducingState,
  request: PermissionRequest | ElicitationRequest,
  taken: (requestId: string) => boolean,
): string | undefined {
  const own = request.sessionId
  const within = own !== undefined && state.memory.subagentStates.has(own) ? own : undefined
  return openRequests(state).find(entry => {
    if (entry.within !== within || taken(entry.requestId)) return false
    if (entry.kind === 'elicitation')
      return 'mode' in request && request.message === entry.message && request.toolCallId === entry.toolCallId
    if (!('options' in request)) return false
    const { subject } = request
    const toolCallId =
      subject.type === 'tool_call'
        ? subject.toolCall.toolCallId
        : subject.type === 'command'
          ? subject.toolCallId
          : undefined
    return (
      toolCallId === entry.toolCallId &&
      (request.title === '' || request.title === entry.title) &&
      isDeepStrictEqual(request.options, entry.options)
    )
  })?.requestId
}

/** The entry that announced a subagent, in the session or in another subagent. */
function announcementOf(state: ReducingState, subagent: string | undefined): Entry | undefined {
  if (subagent === undefined) return undefined
  const all: ReducerState[] = [state, ...state.memory.subagentStates.values()]
  for (const { memory } of all) {
    const position = positionsOf(memory, SUBAGENT).get(subagent)
    if (position !== undefined) return state.entries[position]
  }
  return undefined
}

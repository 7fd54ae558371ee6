import { isDeepStrictEqual } from 'node:util'
import type { ElicitationRequest, PermissionRequest, PermissionSubject } from '../../acp/model.ts'
import { type ElicitationEntry, openRequests, type PermissionEntry } from '../entries/requests.ts'
import { SUBAGENT } from '../entries/subagent.ts'
import { TOOL_CALL, type ToolCallEntry } from '../entries/tool-call.ts'
import type { ReducingState } from '../reducer/reducing-state.ts'
import type { Entry } from '../state.ts'
import { entryAt, positionsOf, type ReducerState } from '../step.ts'

/**
 * Returns the entries needed to draw the pending requests: the requests, their tool calls, and the subagents and tool calls that contain
 * them.
 */
export function entriesOfRequests(state: ReducingState): Entry[] {
  const { subagentStates } = state.memory
  const found = new Set<Entry>()
  for (const request of openRequests(state)) {
    found.add(request)
    const asking: ReducerState | undefined =
      request.within === undefined ? state : subagentStates.get(request.within)
    for (let id = request.toolCallId; asking && id !== undefined; ) {
      const tool = entryAt(state, positionsOf(asking.memory, TOOL_CALL).get(id), TOOL_CALL)
      if (!tool || found.has(tool)) break
      found.add(tool)
      id = tool.parentId
    }
    for (let at: Entry | undefined = request; at; ) {
      at = announcementOf(state, at.within)
      if (!at || found.has(at)) break
      found.add(at)
    }
  }
  return [...found]
}

/** Returns the request of an entry, as far as the conversation shows it. `sessionId`: the id of the conversation's session. */
export function requestOf(
  entry: PermissionEntry | ElicitationEntry,
  sessionId: string,
): PermissionRequest | ElicitationRequest {
  const { toolCallId } = entry
  const own = { sessionId: entry.within ?? sessionId }
  if (entry.kind === 'elicitation') {
    const { message, ask } = entry
    return { ...own, message, ...ask, ...(toolCallId !== undefined && { toolCallId }) }
  }
  const { title, description, options, command } = entry
  const subject: PermissionSubject = command
    ? { type: 'command', ...command, ...(toolCallId !== undefined && { toolCallId }) }
    : toolCallId === undefined
      ? { type: 'none' }
      : { type: 'tool_call', toolCall: { toolCallId } }
  return { ...own, title, ...(description !== undefined && { description }), options, subject }
}

/** Whether both requests ask the same question, although the repeated one may lack the title of its tool call. */
export function asksSame(
  request: PermissionRequest | ElicitationRequest,
  before: PermissionRequest | ElicitationRequest,
): boolean {
  if (request.sessionId !== undefined && request.sessionId !== before.sessionId) return false
  if (toolCallIdOf(request) !== toolCallIdOf(before)) return false
  if (!('options' in request) || !('options' in before))
    return 'message' in request && 'message' in before && request.message === before.message
  const isNamed = request.title === '' || request.title === before.title
  return isNamed && isDeepStrictEqual(request.options, before.options)
}

/** Returns the visible text of a request besides its title and options, for comparison. `tool`: the request's tool call. */
export function detailsOf(
  request: PermissionRequest | ElicitationRequest,
  tool: ToolCallEntry | undefined,
): string {
  if ('mode' in request) return JSON.stringify(request.mode === 'url' ? request.url : request.fields)
  const { description, subject } = request
  const command = subject.type === 'command' ? [subject.command, subject.cwd] : []
  return JSON.stringify([description, command, tool && [tool.title, tool.rawInput, tool.content]])
}

export function toolCallIdOf(request: PermissionRequest | ElicitationRequest): string | undefined {
  if (!('subject' in request)) return request.toolCallId
  const { subject } = request
  if (subject.type === 'tool_call') return subject.toolCall.toolCallId
  return subject.type === 'command' ? subject.toolCallId : undefined
}

/** Returns the entry that announced a subagent, in the session or in another subagent. */
function announcementOf(state: ReducingState, subagent: string | undefined): Entry | undefined {
  if (subagent === undefined) return undefined
  const all: ReducerState[] = [state, ...state.memory.subagentStates.values()]
  for (const { memory } of all) {
    const position = positionsOf(memory, SUBAGENT).get(subagent)
    if (position !== undefined) return state.entries[position]
  }
  return undefined
}

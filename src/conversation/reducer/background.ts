import type { ElicitationRequest, PermissionRequest, ToldBackground } from '../../acp/model.ts'
import type { Background, ReducingState } from './reducing-state.ts'

/** `undefined`: nothing was told of it. Else the list is whole. */
export function toldBackground(told: ToldBackground): Background | undefined {
  if (!told.background) return undefined
  return {
    toolCalls: new Set(told.background),
    terminals: new Set(told.backgroundTerminals),
    subagents: new Set(told.backgroundSubagents),
    others: told.backgroundOthers ?? 0,
  }
}

export function countOf({ toolCalls, terminals, subagents, others }: Background): number {
  return toolCalls.size + terminals.size + subagents.size + others
}

/** Whether a tool call goes on: work that a process does is told by its terminal alone. */
export function goesOn(
  { entries, memory }: ReducingState,
  background: Background,
  toolCallId: string,
): boolean {
  if (background.toolCalls.has(toolCallId)) return true
  if (background.terminals.size === 0) return false
  const entry = entries[memory.tools.get(toolCallId) ?? -1]
  if (entry?.kind !== 'tool_call') return false
  return entry.content.some(part => part.type === 'terminal' && background.terminals.has(part.terminalId))
}

/** Whether a request belongs to work that is known to continue in the background: the end of the turn leaves it pending. */
export function asksForBackground(
  state: ReducingState,
  request: PermissionRequest | ElicitationRequest,
): boolean {
  const { sessionId } = request
  const { background } = state.memory
  const child = sessionId === undefined ? undefined : state.memory.subagentStates.get(sessionId)
  if (child && sessionId !== undefined && background.subagents.has(sessionId)) return true
  const asking = child ?? state
  return isAboutBackground(asking, asking.memory.background, request)
}

/** Whether what a request is about is in `background`. `asking`: the state of the session that asks. */
export function isAboutBackground(
  asking: ReducingState,
  background: Background,
  request: PermissionRequest | ElicitationRequest,
): boolean {
  const { terminalId, toolCallId } = subjectOf(request)
  if (terminalId !== undefined && background.terminals.has(terminalId)) return true
  return toolCallId !== undefined && goesOn(asking, background, toolCallId)
}

function subjectOf(request: PermissionRequest | ElicitationRequest): {
  toolCallId?: string
  terminalId?: string
} {
  if (!('subject' in request)) return request
  const { subject } = request
  if (subject.type === 'tool_call') return subject.toolCall
  return subject.type === 'command' ? subject : {}
}

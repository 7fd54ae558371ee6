import type { ElicitationRequest, PermissionRequest, ToldBackground } from '../../acp/model.ts'
import type { ReducingState } from './books.ts'

/** Work that goes on apart from the turn, by the ids of what shows it. */
export interface Background {
  readonly toolCalls: ReadonlySet<string>
  readonly terminals: ReadonlySet<string>
  /** their own sessions */
  readonly subagents: ReadonlySet<string>
  /** how many things of kinds that nothing shows */
  readonly others: number
}

export const NO_BACKGROUND: Background = {
  toolCalls: new Set(),
  terminals: new Set(),
  subagents: new Set(),
  others: 0,
}

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
  { entries, books }: ReducingState,
  background: Background,
  toolCallId: string,
): boolean {
  if (background.toolCalls.has(toolCallId)) return true
  if (background.terminals.size === 0) return false
  const entry = entries[books.tools.get(toolCallId) ?? -1]
  if (entry?.kind !== 'tool_call') return false
  return entry.content.some(part => part.type === 'terminal' && background.terminals.has(part.terminalId))
}

/** Whether a question is known to belong to work that goes on apart from the turn: stopping the turn leaves it open. */
export function asksForBackground(
  state: ReducingState,
  request: PermissionRequest | ElicitationRequest,
): boolean {
  const { sessionId } = request
  const { background } = state.books
  const child = sessionId === undefined ? undefined : state.books.subagentStates.get(sessionId)
  if (child && sessionId !== undefined && background.subagents.has(sessionId)) return true
  const asking = child ?? state
  const about = subjectOf(request)
  const { terminals } = asking.books.background
  if (about.terminalId !== undefined && terminals.has(about.terminalId)) return true
  return about.toolCallId !== undefined && goesOn(asking, asking.books.background, about.toolCallId)
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

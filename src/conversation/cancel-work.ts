import { SUBAGENT } from './entries/subagent.ts'
import { TOOL_CALL } from './entries/tool-call.ts'
import type { WorkId } from './running-work.ts'
import type { Session } from './session.ts'
import { positionsOf, type ReducerState } from './step.ts'

/**
 * Stops one tool call, subagent or terminal command that the agent reported as stoppable; ignores other work. The turn continues.
 * Rejects if the agent refuses.
 */
export async function cancelWork(session: Session, work: WorkId): Promise<void> {
  const { agent, sessionId, requests } = session
  const { state } = session.conversation
  if ('terminalId' in work) {
    const { terminalId } = work
    const terminal = state.terminals.get(terminalId)
    if (terminal?.canCancel) await agent.cancelTerminal?.(terminal.within ?? sessionId, terminalId)
    return
  }
  const all: ReducerState[] = [state, ...state.memory.subagentStates.values()]
  for (const { memory, within } of all) {
    const position =
      'toolCallId' in work
        ? positionsOf(memory, TOOL_CALL).get(work.toolCallId)
        : positionsOf(memory, SUBAGENT).get(work.subagentId)
    const entry = state.entries[position ?? -1]
    if (entry?.kind === 'subagent' && entry.canCancel) {
      const subagent = entry.sessionId
      agent.cancel(subagent)
      requests.withdraw(request => request.sessionId === subagent)
    }
    if (entry?.kind !== 'tool_call' || !entry.canCancel) continue
    await agent.cancelToolCall?.(within ?? sessionId, entry.toolCallId)
    return
  }
}

import { SUBAGENT } from './entries/subagent.ts'
import { TOOL_CALL } from './entries/tool-call.ts'
import { toolCallPosition, type WorkId } from './running-work.ts'
import type { Session } from './session.ts'
import { entryAt, positionsOf } from './step.ts'

/**
 * Stops one tool call, subagent or terminal command that the agent reported as cancelable; ignores other work. The turn continues. Rejects
 * if the agent refuses.
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
  if ('toolCallId' in work) {
    const entry = entryAt(state, toolCallPosition(state, work), TOOL_CALL)
    if (entry?.canCancel) await agent.cancelToolCall?.(work.within ?? sessionId, entry.toolCallId)
    return
  }
  for (const { memory } of [state, ...state.memory.subagentStates.values()]) {
    const entry = entryAt(state, positionsOf(memory, SUBAGENT).get(work.subagentId), SUBAGENT)
    if (!entry?.canCancel) continue
    const subagent = entry.sessionId
    agent.cancel(subagent)
    requests.withdraw(request => request.sessionId === subagent)
  }
}

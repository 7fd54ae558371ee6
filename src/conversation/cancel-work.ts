import type { Agent } from '../acp/agent.ts'
import type { ReducingState } from './reducer/reducing-state.ts'

/** Work of a session that may be stopped by itself, by the id that the agent gave it. */
export type CancellableWork = { toolCallId: string } | { terminalId: string } | { subagentId: string }

/** Stops what the agent said can be stopped; does nothing for what it did not, or does not know. Rejects when it refuses. */
export async function cancelWork(
  agent: Agent,
  sessionId: string,
  state: ReducingState,
  work: CancellableWork,
): Promise<void> {
  if ('terminalId' in work) {
    const { terminalId } = work
    const terminal = state.terminals.get(terminalId)
    if (terminal?.canCancel) await agent.cancelTerminal?.(terminal.within ?? sessionId, terminalId)
    return
  }
  for (const { memory, within } of [state, ...state.memory.subagentStates.values()]) {
    const position =
      'toolCallId' in work ? memory.tools.get(work.toolCallId) : memory.subagents.get(work.subagentId)
    const entry = state.entries[position ?? -1]
    if (entry?.kind === 'subagent' && entry.canCancel) agent.cancel(entry.sessionId)
    if (entry?.kind !== 'tool_call' || !entry.canCancel) continue
    await agent.cancelToolCall?.(within ?? sessionId, entry.toolCallId)
    return
  }
}

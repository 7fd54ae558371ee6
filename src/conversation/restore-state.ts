import { createSessionState, createSubagentState, type ReducingState } from './reducer/books.ts'
import { reduceLocalWithin } from './reducer/reduce-within.ts'
import type { Entry, SessionState, TerminalState } from './state.ts'

/** A conversation as it was kept: what was shown, without what the reducer remembers besides. */
export interface KeptConversation {
  /** in their order, from the first on */
  entries: Entry[]
  terminals: TerminalState[]
  /** what the agent told of the session as a whole */
  head: Partial<Pick<SessionState, 'title' | 'plans' | 'usage'>> & {
    /** A turn was under way. */
    working?: boolean | undefined
  }
}

/**
 * The state of a kept conversation, ready to be shown and to be gone on with: what comes for a message or tool call in
 * it finds it. What was open when it was kept is closed, since nothing will close it any more.
 */
export function restoreState({ entries, terminals, head }: KeptConversation): ReducingState {
  const state = createSessionState()
  for (const entry of entries) {
    const position = state.entries.length
    // an entry's id is its position: the reducer relies on it
    const kept: Entry = { ...entry, id: `e${position}` }
    state.entries.push(kept)
    state.index.set(kept.id, position)
    state.turn = Math.max(state.turn, kept.turn)
    const { books } = kept.within === undefined ? state : subagentOf(state, kept.within)
    switch (kept.kind) {
      case 'tool_call':
        books.tools.set(kept.toolCallId, position)
        if (kept.status === 'pending' || kept.status === 'in_progress' || kept.status === 'paused') {
          books.openTools.add(position)
        }
        break
      case 'message':
        if (kept.messageId === undefined) break
        books.messages.set(`${kept.role}\n${kept.messageId}`, position)
        books.roles.set(kept.messageId, kept.role)
        break
      case 'permission':
        if (!kept.outcome) books.openPermissions.add(position)
        break
      case 'elicitation':
        if (!kept.outcome) books.openElicitations.add(position)
        break
      case 'compaction':
        books.compactions.set(kept.compactionId, position)
        if (kept.status === 'in_progress') books.openCompactions.add(position)
        break
      case 'subagent':
        books.subagents.set(kept.sessionId, position)
        subagentOf(state, kept.sessionId)
        break
      case 'session_message':
        books.sessionMessages.set(kept.messageId, position)
        break
    }
  }
  for (const terminal of terminals) state.terminals.set(terminal.terminalId, { ...terminal })
  if (head.title !== undefined) state.title = head.title
  if (head.usage !== undefined) state.usage = head.usage
  if (head.plans !== undefined) state.plans = [...head.plans]
  // nothing has ended that turn, and nothing will
  state.books.running = head.working === true && state.entries.at(-1)?.kind !== 'turn_end'
  reduceLocalWithin(state, { type: 'agent_gone' })
  return state
}

function subagentOf(state: ReducingState, sessionId: string): ReducingState {
  const { subagentStates } = state.books
  const known = subagentStates.get(sessionId) ?? createSubagentState(state, sessionId)
  subagentStates.set(sessionId, known)
  return known
}

import { reduceLocalWithin, reduceWithin } from '../../../src/conversation/reducer/reduce-within.ts'
import { createSessionState } from '../../../src/conversation/reducer/reducing-state.ts'
import type { SavedConversation } from '../../../src/conversation/replay/restore-state.ts'
import type { SessionEvent } from '../conversation/arbitrary-updates.ts'

/** The saved conversation in which these events happened. */
export function keptOf(events: readonly SessionEvent[]): SavedConversation {
  const state = createSessionState()
  for (const [i, event] of events.entries()) {
    if (event.from === 'agent') reduceWithin(state, event.within, event.update, 1000 + i)
    else reduceLocalWithin(state, event.event, 1000 + i)
  }
  const { entries, terminals, title, plans, usage, activity } = state
  const head = { title, plans, usage, working: activity !== 'idle' }
  return JSON.parse(JSON.stringify({ entries, terminals: [...terminals.values()], head }))
}

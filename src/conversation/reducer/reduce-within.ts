import type { SessionUpdate } from '../../acp/model.ts'
import { SESSION_MESSAGE } from '../entries/session-message.ts'
import { SUBAGENT } from '../entries/subagent.ts'
import type { Change } from '../state-base.ts'
import { positionsOf, type ReducerState, updateActivity } from '../step.ts'
import { isIdle, reduce } from './reduce.ts'
import { type LocalEvent, reduceLocal } from './reduce-local.ts'

/**
 * Applies an update of the subagent's session `within`. The subagent's entries are among the entries of the session that started it. The
 * subagent's options, plans and usage are kept apart and not shown. Ids of messages and tool calls are separate for each subagent; ids of
 * terminals must be unique. If `within` is `undefined`, or a subagent that was never announced, the update is for the session itself.
 */
export function reduceWithin(
  state: ReducerState,
  within: string | undefined,
  update: SessionUpdate,
  now?: number,
): Change[] {
  const subagent = within === undefined ? undefined : state.memory.subagentStates.get(within)
  if (!subagent) return reduce(state, update, now)
  const changes = inSubagent(state, subagent, now, () => reduce(subagent, addressedTo(subagent, update), now))
  // The report by the session that announced the subagent may come late, or not at all.
  if (update.type === 'state')
    changes.push(...reduce(announcer(state, subagent), stateOf(subagent, update), now))
  return changes
}

/** Like `reduceLocal`, for events that may concern a subagent: the request or its answer identifies the subagent. */
export function reduceLocalWithin(state: ReducerState, event: LocalEvent, now?: number): Change[] {
  const subagents = state.memory.subagentStates
  if (event.type === 'agent_gone' || event.type === 'load_finished' || event.type === 'visit_done') {
    // Applies the event to all subagents; only the session's own turn gets a message.
    const silent: LocalEvent = event.type === 'agent_gone' ? { type: 'agent_gone' } : event
    const theirs = [...subagents.values()].flatMap(subagent =>
      inSubagent(state, subagent, now, () => reduceLocal(subagent, silent, now)),
    )
    return [...theirs, ...reduceLocal(state, event, now)]
  }
  const subagent = concerned(state, event)
  if (!subagent) return reduceLocal(state, event, now)
  return inSubagent(state, subagent, now, () => reduceLocal(subagent, event, now))
}

function concerned(state: ReducerState, event: LocalEvent): ReducerState | undefined {
  const { subagentStates, openRequests } = state.memory
  if (event.type === 'permission_asked' || event.type === 'elicitation_asked') {
    const { sessionId } = event.request
    return sessionId === undefined ? undefined : subagentStates.get(sessionId)
  }
  if (event.type !== 'request_answered' && event.type !== 'request_closed') return undefined
  const within = state.entries[openRequests.get(event.requestId) ?? -1]?.within
  return within === undefined ? undefined : subagentStates.get(within)
}

function inSubagent(
  state: ReducerState,
  subagent: ReducerState,
  now: number | undefined,
  work: () => Change[],
): Change[] {
  subagent.turn = state.turn
  const { openRequests } = state.memory
  const waiting = openRequests.size
  const { background } = subagent.memory
  const all = work()
  const changes: Change[] = all.filter(change => change.type !== 'head')
  if (subagent.memory.background !== background) changes.push({ type: 'head', key: 'activity' })
  // The session waits for the user when a subagent waits for the user.
  if (openRequests.size !== waiting) updateActivity({ state, now, changes })
  return changes
}

/** Returns an update for a subagent in which user messages are session messages: they come only from another session, not from the user. */
function addressedTo({ within, memory }: ReducerState, update: SessionUpdate): SessionUpdate {
  if ((update.type !== 'message_chunk' && update.type !== 'message') || update.role !== 'user') return update
  const messageId = update.messageId ?? `to ${within}`
  const to = within === undefined ? {} : { to: within }
  if (update.type === 'message') {
    return {
      type: 'session_message',
      message: { messageId, ...to, ...(update.content === undefined ? {} : { content: update.content }) },
    }
  }
  if (positionsOf(memory, SESSION_MESSAGE).has(messageId)) {
    return { type: 'session_message_chunk', messageId, content: update.content }
  }
  return { type: 'session_message', message: { messageId, ...to, content: [update.content] } }
}

/** Returns the state of the session in which a subagent was announced. */
function announcer(state: ReducerState, { within = '' }: ReducerState): ReducerState {
  if (positionsOf(state.memory, SUBAGENT).has(within)) return state
  for (const subagent of state.memory.subagentStates.values()) {
    if (positionsOf(subagent.memory, SUBAGENT).has(within)) return subagent
  }
  return state
}

function stateOf(
  { within = '' }: ReducerState,
  update: Extract<SessionUpdate, { type: 'state' }>,
): SessionUpdate {
  const { stopReason, error } = isIdle(update) ? update : {}
  return {
    type: 'subagent',
    subagent: {
      sessionId: within,
      state: {
        activity: update.state,
        ...(stopReason === undefined ? {} : { stopReason }),
        ...(error === undefined ? {} : { error }),
      },
    },
  }
}

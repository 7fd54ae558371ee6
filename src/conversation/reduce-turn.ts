import type { AgentErrorInfo, StopReason } from '../acp/model.ts'
import { append, endThought, type Step, stopTime, touch, updateActivity } from './books.ts'
import { closeElicitations } from './reduce-elicitations.ts'
import { closeToolCalls } from './reduce-tool-calls.ts'

/** Foreground work goes on. A state that this version of Parley does not know is a busy one. */
export function workGoesOn(step: Step, state: string): void {
  const { books } = step.state
  if (!books.running) startWork(step)
  books.toldAction = state === 'requires_action'
  updateActivity(step)
}

export function startWork(step: Step): void {
  const { state, now } = step
  state.books.running = true
  if (now === undefined) delete state.turnStartedAt
  else state.turnStartedAt = now
  step.changes.push({ type: 'head', key: 'turn' })
  updateActivity(step)
}

export interface WorkEnd {
  stopReason?: StopReason
  error?: AgentErrorInfo
  background?: readonly string[]
}

/**
 * Foreground work is over: what it left open is closed. Told again, or of a session that was idle already, it changes
 * nothing: such a snapshot may repeat the last stop reason.
 */
export function endWork(step: Step, end: WorkEnd): void {
  const { state } = step
  const { books } = state
  if (!books.running) return
  books.running = false
  books.ownTurn = false
  books.toldAction = false
  const reason = end.stopReason ?? (end.error ? 'error' : undefined)
  const cutShort = reason === 'cancelled' || reason === 'error'
  closeOpen(step, cutShort, end.background?.length ? new Set(end.background) : undefined)
  if (reason !== undefined && reason !== 'end_turn') {
    append(
      step,
      end.error
        ? { kind: 'turn_end', stopReason: reason, error: end.error }
        : { kind: 'turn_end', stopReason: reason },
    )
  }
  delete state.turnStartedAt
  step.changes.push({ type: 'head', key: 'turn' })
  updateActivity(step)
}

/** Closes thoughts, tool calls and questions that nothing will close any more. */
export function closeOpen(step: Step, cutShort: boolean, background?: ReadonlySet<string>): void {
  endThought(step)
  closeToolCalls(step, cutShort, background)
  const { books, entries } = step.state
  for (const position of [...books.openPermissions]) {
    const entry = entries[position]
    if (entry?.kind !== 'permission') continue
    if (entry.toolCallId !== undefined && background?.has(entry.toolCallId)) continue
    entry.outcome = { type: 'cancelled' }
    stopTime(step, entry)
    books.openPermissions.delete(position)
    touch(step, position)
  }
  closeElicitations(step, background)
}

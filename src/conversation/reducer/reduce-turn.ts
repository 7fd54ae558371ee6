import type { AgentErrorInfo, StopReason, TokenCount, ToldBackground } from '../../acp/model.ts'
import type { PermissionEntry } from '../state.ts'
import { type Background, countOf, goesOn, toldBackground } from './background.ts'
import { append, endThought, type Step, stopTime, touch, updateActivity } from './books.ts'
import { closeElicitations } from './reduce-elicitations.ts'
import { closeToolCalls } from './reduce-tool-calls.ts'

/** Why a turn ended that neither the agent nor the person ended: the process or the window did not go on. */
export const INTERRUPTED = 'interrupted'

/**
 * Foreground work goes on. A state that this version of Parley does not know, or that of an agent that does not know it
 * itself, is a busy one that is not confirmed.
 */
export function workGoesOn(step: Step, state: string, told: ToldBackground = {}): void {
  const { books } = step.state
  const background = toldBackground(told)
  if (background) backgroundTold(step, background)
  if (!books.running) startWork(step)
  books.toldAction = state === 'requires_action'
  setConfirmed(step, state === 'running' || state === 'requires_action')
  updateActivity(step)
}

function setConfirmed({ state, changes }: Step, confirmed: boolean): void {
  if (confirmed === (state.unconfirmed === undefined)) return
  if (confirmed) delete state.unconfirmed
  else state.unconfirmed = true
  changes.push({ type: 'head', key: 'activity' })
}

export function startWork(step: Step): void {
  const { state, now } = step
  state.books.running = true
  if (now === undefined) delete state.turnStartedAt
  else state.turnStartedAt = now
  step.changes.push({ type: 'head', key: 'turn' })
  updateActivity(step)
}

export interface WorkEnd extends ToldBackground {
  stopReason?: StopReason
  error?: AgentErrorInfo
  tokens?: TokenCount
}

/**
 * Foreground work is over: what it left open is closed. Told again, or of a session that was idle already, it changes
 * nothing but what goes on in the background: such a snapshot may repeat the last stop reason.
 */
export function endWork(step: Step, end: WorkEnd): void {
  const { state } = step
  const { books } = state
  const background = toldBackground(end)
  if (background) backgroundTold(step, background)
  if (end.tokens) {
    state.usage = { used: 0, size: 0, ...state.usage, tokens: end.tokens }
    step.changes.push({ type: 'head', key: 'usage' })
  }
  if (!books.running) return
  setConfirmed(step, true)
  books.running = false
  books.ownTurn = false
  books.toldAction = false
  const reason = end.stopReason ?? (end.error ? 'error' : undefined)
  const cutShort = reason === 'cancelled' || reason === 'error' || reason === INTERRUPTED
  closeOpen(step, cutShort, background)
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

/** What was told is whole each time: what was in it and no longer is has come to its end, told or not. */
function backgroundTold(step: Step, background: Background): void {
  const { state } = step
  const { books, entries } = state
  const before = books.background
  setBackground(step, background)
  const over = [...books.openTools].flatMap(position => {
    const entry = entries[position]
    if (entry?.kind !== 'tool_call') return []
    const { toolCallId } = entry
    return goesOn(state, before, toolCallId) && !goesOn(state, background, toolCallId) ? [toolCallId] : []
  })
  if (over.length > 0) closeToolCalls(step, false, undefined, new Set(over))
}

export function setBackground({ state, changes }: Step, background: Background): void {
  state.books.background = background
  const count = countOf(background)
  if (count === (state.background ?? 0)) return
  if (count > 0) state.background = count
  else delete state.background
  changes.push({ type: 'head', key: 'activity' })
}

/** Closes thoughts, tool calls and questions that nothing will close any more. */
export function closeOpen(step: Step, cutShort: boolean, background?: Background): void {
  endThought(step)
  closeToolCalls(step, cutShort, background)
  const { books, entries } = step.state
  for (const position of [...books.openPermissions]) {
    const entry = entries[position]
    if (entry?.kind !== 'permission') continue
    if (background && isOfBackground(step, background, entry)) continue
    entry.outcome = { type: 'cancelled' }
    stopTime(step, entry)
    books.openPermissions.delete(position)
    touch(step, position)
  }
  closeElicitations(step, background)
}

function isOfBackground(
  step: Step,
  background: Background,
  { toolCallId, command }: PermissionEntry,
): boolean {
  if (command?.terminalId !== undefined && background.terminals.has(command.terminalId)) return true
  return toolCallId !== undefined && goesOn(step.state, background, toolCallId)
}

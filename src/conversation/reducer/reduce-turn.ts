import { errorText, RpcCode } from '../../acp/errors.ts'
import type { AgentErrorInfo, ReportedBackground, StopReason, TokenCount } from '../../acp/model.ts'
import { isContextFullAnswer } from '../context-full.ts'
import { MESSAGE, type MessageEntry, messageText } from '../entries/message.ts'
import { closeOpen } from '../entries/open-work.ts'
import { allowedToolCalls } from '../entries/requests.ts'
import { closeToolCalls, isBackgroundWork, TOOL_CALL } from '../entries/tool-call.ts'
import { TURN_END } from '../entries/turn-end.ts'
import {
  append,
  type Background,
  backgroundCount,
  entryAt,
  isSameBackground,
  reportedBackground,
  type Step,
  updateActivity,
} from '../step.ts'
import { rememberCost, summarizeTurn } from './summarize-turn.ts'

/** The stop reason of a turn that ended because the agent's process or the window ended. */
export const INTERRUPTED = 'interrupted'
/** The stop reason of a turn without any content; some agents end a turn this way when the model refused. */
const EMPTY = 'empty'

/**
 * Applies the agent's report of foreground work. The state `unknown`, or one that this version of Parley doesn't know, counts as busy but
 * unconfirmed.
 */
export function reportWork(step: Step, state: string, reported: ReportedBackground = {}): void {
  const { memory } = step.state
  const background = reportedBackground(reported)
  if (background) updateBackground(step, background)
  if (!memory.running) startWork(step)
  memory.actionReported = state === 'requires_action'
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
  state.memory.running = true
  rememberCost(state)
  if (now === undefined) delete state.turnStartedAt
  else state.turnStartedAt = now
  step.changes.push({ type: 'head', key: 'turn' })
  updateActivity(step)
}

export interface WorkEnd extends ReportedBackground {
  stopReason?: StopReason
  canceledBy?: 'agent'
  error?: AgentErrorInfo
  tokens?: TokenCount
}

/**
 * Ends foreground work and closes its open entries. A repeated report, or a report for an idle session, changes only the background work:
 * such a snapshot may repeat the last stop reason.
 */
export function endWork(step: Step, end: WorkEnd): void {
  const { state } = step
  const { memory } = state
  const background = reportedBackground(end)
  if (background) updateBackground(step, background)
  if (end.tokens) {
    state.usage = { used: 0, size: 0, ...state.usage, tokens: end.tokens }
    step.changes.push({ type: 'head', key: 'usage' })
  }
  if (!memory.running) return
  setConfirmed(step, true)
  memory.running = false
  const last = entryAt(state, state.entries.length - 1, MESSAGE)
  const isEmpty = memory.ownTurn && last?.role === 'user' && !last.steering
  memory.ownTurn = false
  memory.actionReported = false
  const error = end.error ?? errorInAnswer(end, last)
  const said = error === end.error ? end.stopReason : 'error'
  const reported = said ?? (error ? 'error' : undefined)
  const reason = (reported ?? 'end_turn') === 'end_turn' && isEmpty ? EMPTY : reported
  const cutShort = reason === 'cancelled' || reason === 'error' || reason === INTERRUPTED
  closeOpen(step, cutShort, background)
  if (reason !== undefined && reason !== 'end_turn') {
    append(step, TURN_END, {
      stopReason: reason,
      ...(reason === 'cancelled' && end.canceledBy && { canceledBy: end.canceledBy }),
      ...(error && { error }),
    })
  }
  summarizeTurn(step)
  delete state.turnStartedAt
  step.changes.push({ type: 'head', key: 'turn' })
  updateActivity(step)
}

/** Returns the error that the agent's answer contains, if the turn ended without reporting an error. */
function errorInAnswer(
  { stopReason = 'end_turn' }: WorkEnd,
  last: MessageEntry | undefined,
): AgentErrorInfo | undefined {
  if (stopReason !== 'end_turn' || last?.role !== 'agent') return undefined
  const text = messageText(last)
  if (!isContextFullAnswer(text)) return undefined
  const { message = text, detail } = errorText(text, undefined)
  return { code: RpcCode.internalError, message, ...(detail !== undefined && { detail }) }
}

/** Replaces the background work. Each report is complete: work that it no longer contains has ended. */
function updateBackground(step: Step, background: Background): void {
  const { state } = step
  const { memory } = state
  const before = memory.background
  setBackground(step, background)
  const over = [...memory.openTools].flatMap(position => {
    const entry = entryAt(state, position, TOOL_CALL)
    if (!entry) return []
    const { toolCallId } = entry
    return isBackgroundWork(state, before, toolCallId) && !isBackgroundWork(state, background, toolCallId)
      ? [toolCallId]
      : []
  })
  if (over.length > 0) closeToolCalls(step, false, allowedToolCalls(step), undefined, new Set(over))
}

export function setBackground({ state, changes }: Step, background: Background): void {
  if (isSameBackground(state.memory.background, background)) return
  state.memory.background = background
  const count = backgroundCount(background)
  if (count > 0) state.background = count
  else delete state.background
  changes.push({ type: 'head', key: 'activity' })
}

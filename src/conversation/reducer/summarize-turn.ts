import { PERMISSION } from '../entries/requests.ts'
import { TOOL_CALL, type ToolCallEntry } from '../entries/tool-call.ts'
import { touchedFiles } from '../entries/touched-files.ts'
import { isRefused } from '../permission-outcome.ts'
import type { TurnFiles, TurnSummary } from '../state-base.ts'
import { entryAt, type ReducerState, type Step, touch } from '../step.ts'
import { isNotable } from '../turn-summary.ts'

/** Remembers the cost at the beginning of a turn's work, from which the turn's cost is counted. */
export function rememberCost({ memory, usage, turn }: ReducerState): void {
  // an agent that continues an earlier session may include that session's cost
  memory.costBefore = usage?.cost?.amount ?? (turn <= 1 ? 0 : undefined)
}

/**
 * Adds a summary in numbers to the last entry of a turn when the turn's work has ended. Work that continues a turn updates the summary. A
 * turn with a short answer and no tool calls gets no summary.
 */
export function summarizeTurn(step: Step): void {
  const { state, now } = step
  const { entries, turn, turnStartedAt, usage, memory } = state
  // a subagent works within the turn of its session; of a saved conversation, perhaps only the end was read
  if (state.within !== undefined || now === undefined || entries.at(-1)?.turn !== turn) return
  let from = entries.length
  while (entries[from - 1]?.turn === turn) from--
  const summary: TurnSummary = countTools(state, from, entries.length)
  if (turnStartedAt !== undefined) summary.took = Math.max(0, now - turnStartedAt)
  const { cost } = usage ?? {}
  const spent = cost && memory.costBefore !== undefined ? cost.amount - memory.costBefore : 0
  if (cost && spent > 0) summary.cost = { ...cost, amount: spent }
  for (let at = entries.length - 1; at >= from; at--) {
    const { turnSummary: before } = entries[at]!
    if (!before) continue
    addTo(summary, before)
    delete entries[at]!.turnSummary
    touch(step, at)
  }
  if (summary.tools === 0 && !isNotable(summary)) return
  entries.at(-1)!.turnSummary = summary
  touch(step, entries.length - 1)
}

/**
 * Counts the tool calls among these entries. A tool call that the user rejected or stopped doesn't count as failed, although many agents
 * report it as failed.
 */
function countTools(state: ReducerState, from: number, to: number): Pick<TurnSummary, 'tools' | 'failed'> {
  const counts = { tools: 0, failed: 0 }
  const refused = new Set<string>()
  const keyOf = ({ within = '', toolCallId = '' }: { within?: string; toolCallId?: string }) =>
    JSON.stringify([within, toolCallId])
  // a request comes after its tool call in the list
  for (let at = to - 1; at >= from; at--) {
    const asked = entryAt(state, at, PERMISSION)
    if (asked && isRefused(asked)) refused.add(keyOf(asked))
    const tool = entryAt(state, at, TOOL_CALL)
    if (!tool) continue
    counts.tools++
    if (tool.status === 'failed' && !refused.has(keyOf(tool))) counts.failed++
  }
  return counts
}

function addTo(summary: TurnSummary, { took, files, cost }: TurnSummary): void {
  if (took !== undefined) summary.took = (summary.took ?? 0) + took
  if (files) summary.files = files
  if (cost) summary.cost = { ...cost, amount: cost.amount + (summary.cost?.amount ?? 0) }
}

/** Adds a summary to each finished turn of a replay that has no summary from when the turn ran. */
export function summarizeReplay(step: Step): void {
  const { state } = step
  const { entries, memory, turn: latest } = state
  if (state.within !== undefined) return
  for (let from = 0, to = 0; from < entries.length; from = to) {
    const { turn } = entries[from]!
    while (entries[to]?.turn === turn) to++
    if (turn === 0 || (turn === latest && memory.running)) continue
    summarizeReplayed(step, from, to)
  }
}

function summarizeReplayed(step: Step, from: number, to: number): void {
  const { state } = step
  const summary: TurnSummary = countTools(state, from, to)
  const files = new Set<string>()
  let last = from
  for (let at = from; at < to; at++) {
    const entry = state.entries[at]!
    if (entry.turnSummary) return
    if (entry.kind !== 'notice') last = at
    const tool = entryAt(state, at, TOOL_CALL)
    if (tool && tool.status !== 'failed' && isChange(tool))
      for (const path of touchedFiles(tool)) files.add(path)
  }
  if (files.size > 0) summary.files = { count: files.size }
  if (!isNotable(summary)) return
  state.entries[last]!.turnSummary = summary
  touch(step, last)
}

function isChange({ toolKind, content }: ToolCallEntry): boolean {
  return content.some(({ type }) => type === 'diff') || ['edit', 'delete', 'move'].includes(toolKind)
}

/** Sets the files that a finished turn changed, including changes without a tool call. */
export function setTurnFiles(step: Step, turn: number, files: TurnFiles): void {
  const { entries } = step.state
  const ofTurn = (at: number) => entries[at]?.turn === turn
  let last = entries.length - 1
  while (last >= 0 && entries[last]!.turn > turn) last--
  let at = last
  while (ofTurn(at) && !entries[at]!.turnSummary) at--
  if (!ofTurn(at)) at = last
  const summary = { tools: 0, failed: 0, ...entries[at]?.turnSummary, files }
  if (!ofTurn(at) || !(entries[at]!.turnSummary || isNotable(summary))) return
  entries[at]!.turnSummary = summary
  touch(step, at)
}

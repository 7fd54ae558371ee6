import type { PermissionRequest, ToolCallContent, ToolCallPatch, ToolCallStatus } from '../../acp/model.ts'
import type { ToolCallEntry } from '../state.ts'
import {
  append,
  type Background,
  isBackgroundWork,
  type ReducingState,
  type Step,
  stopTime,
  touch,
} from './reducing-state.ts'

/** A tool call about which nothing is known yet. */
const BLANK = {
  kind: 'tool_call',
  title: '',
  toolKind: 'other',
  status: 'pending',
  canCancel: false,
} as const

/** Whether a status is final. One that this version of Parley doesn't know counts as still running. */
export function isFinalStatus(status: ToolCallStatus): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled'
}

/**
 * Creates or changes a tool call; its updates may come in any order and more than once. Returns its position. `isNew`: see
 * {@link findToolCall}.
 */
export function toolCallUpsert(step: Step, patch: ToolCallPatch, isNew = false): number {
  const { state } = step
  const found = findToolCall(state, patch, isNew)
  const position = found ?? createToolCall(step, patch.toolCallId)
  const entry = state.entries[position]
  if (entry?.kind !== 'tool_call') return position
  const changed = applyPatch(entry, patch)
  const moved = patch.status !== undefined && setStatus(step, position, entry, patch.status)
  if (found !== undefined && (changed || moved)) touch(step, position)
  return position
}

/**
 * The position of the tool call that a patch is about. Agents that count their tool calls in each turn use an id again,
 * although it should be unique within the session: if the patch announces a tool call (`isNew`), one that finished in an
 * earlier turn isn't meant. The end of a canceled one may be reported later.
 */
function findToolCall(state: ReducingState, patch: ToolCallPatch, isNew: boolean): number | undefined {
  const position = state.memory.tools.get(patch.toolCallId)
  const entry = isNew && position !== undefined ? state.entries[position] : undefined
  if (entry?.kind !== 'tool_call' || entry.turn === state.turn || !isFinalStatus(entry.status))
    return position
  const endsLate = entry.status === 'cancelled' && patch.status && isFinalStatus(patch.status)
  return endsLate ? position : undefined
}

/** The tool call of a request as it would be with the patch; nothing is changed. */
function toolCallWith(state: ReducingState, patch: ToolCallPatch, isNew: boolean): ToolCallEntry {
  const known = state.entries[findToolCall(state, patch, isNew) ?? -1]
  const entry: ToolCallEntry =
    known?.kind === 'tool_call'
      ? { ...known, content: [...known.content] }
      : { ...BLANK, content: [], locations: [], id: '', turn: state.turn, toolCallId: patch.toolCallId }
  applyPatch(entry, patch)
  return entry
}

/** The tool call of a permission request, updated with what the request reports about it. */
export function toolCallOf(state: ReducingState, { subject }: PermissionRequest): ToolCallEntry | undefined {
  if (subject.type === 'tool_call') return toolCallWith(state, subject.toolCall, true)
  const known =
    subject.type === 'command' &&
    subject.toolCallId !== undefined &&
    state.memory.tools.has(subject.toolCallId)
  return known ? toolCallWith(state, { toolCallId: subject.toolCallId ?? '' }, false) : undefined
}

/** Appends one piece of content to a tool call. */
export function toolCallContent(step: Step, toolCallId: string, content: ToolCallContent): void {
  const { state } = step
  const found = state.memory.tools.get(toolCallId)
  const position = found ?? createToolCall(step, toolCallId)
  const entry = state.entries[position]
  if (entry?.kind !== 'tool_call') return
  entry.content.push(content)
  if (found !== undefined) touch(step, position)
}

/**
 * Closes what the agent left open when its work ended, except what still runs in the background. A tool call with a
 * status is `cancelled`. One whose status was never reported, or that was allowed, counts as run with the turn: it's
 * `completed` unless the turn was cut short. `only`: no other tool calls.
 */
export function closeToolCalls(
  step: Step,
  cutShort: boolean,
  background?: Background,
  only?: ReadonlySet<string>,
): void {
  const { memory, entries } = step.state
  if (memory.openTools.size === 0) return
  const allowed = cutShort ? new Set() : allowedToolCalls(step)
  for (const position of [...memory.openTools]) {
    const entry = entries[position]
    if (entry?.kind !== 'tool_call') continue
    if (background && isBackgroundWork(step.state, background, entry.toolCallId)) continue
    if (only && !only.has(entry.toolCallId)) continue
    const ran = memory.toolsWithoutStatus.has(position) || allowed.has(entry.toolCallId)
    const completed = ran && !cutShort
    setStatus(step, position, entry, completed ? 'completed' : 'cancelled')
    touch(step, position)
  }
}

/** Tool calls of this turn that the user, or a rule, allowed. */
function allowedToolCalls({ state }: Step): Set<string> {
  const allowed = new Set<string>()
  for (let at = state.entries.length - 1; at >= 0; at--) {
    const entry = state.entries[at]
    if (!entry || entry.turn !== state.turn) break
    if (entry.kind !== 'permission' || entry.within !== state.within || entry.toolCallId === undefined)
      continue
    const { outcome, options } = entry
    if (outcome?.type !== 'selected') continue
    const kind = options.find(({ optionId }) => optionId === outcome.optionId)?.kind
    if (kind?.startsWith('allow')) allowed.add(entry.toolCallId)
  }
  return allowed
}

function createToolCall(step: Step, toolCallId: string): number {
  const position = append(step, { ...BLANK, toolCallId, content: [], locations: [] })
  const { memory } = step.state
  memory.tools.set(toolCallId, position)
  memory.openTools.add(position)
  memory.toolsWithoutStatus.add(position)
  return position
}

function applyPatch(entry: ToolCallEntry, patch: ToolCallPatch): boolean {
  let changed = false
  const set = <K extends keyof ToolCallEntry>(key: K, value: ToolCallEntry[K]) => {
    if (entry[key] === value) return
    if (value === undefined) delete entry[key]
    else entry[key] = value
    changed = true
  }
  if (patch.title !== undefined) set('title', patch.title ?? '')
  if (patch.name !== undefined) set('toolName', patch.name ?? undefined)
  if (patch.kind !== undefined) set('toolKind', patch.kind ?? 'other')
  if (patch.canCancel !== undefined) set('canCancel', patch.canCancel ?? false)
  // Lists are copied, since content is appended to them; raw values are never changed.
  if (patch.content !== undefined) set('content', patch.content?.slice() ?? [])
  if (patch.locations !== undefined) set('locations', patch.locations?.slice() ?? [])
  if (patch.rawInput !== undefined) set('rawInput', patch.rawInput ?? undefined)
  if (patch.rawOutput !== undefined) set('rawOutput', patch.rawOutput ?? undefined)
  return changed
}

/** `null`: the agent cleared the status. */
function setStatus(
  step: Step,
  position: number,
  entry: ToolCallEntry,
  status: ToolCallStatus | null,
): boolean {
  const { memory } = step.state
  if (status === null) memory.toolsWithoutStatus.add(position)
  else memory.toolsWithoutStatus.delete(position)
  const before = entry.status
  entry.status = status ?? 'pending'
  if (isFinalStatus(entry.status)) {
    memory.openTools.delete(position)
    stopTime(step, entry)
  } else {
    memory.openTools.add(position)
    delete entry.endedAt
  }
  return before !== entry.status
}

import type {
  ElicitationOutcome,
  ElicitationRequest,
  PermissionOutcome,
  PermissionRequest,
} from '../../acp/model.ts'
import type { AppliedRule, ElicitationEntry, Entry, PermissionEntry } from '../state.ts'
import { toolCallUpsert } from './reduce-tool-calls.ts'
import { append, type ReducingState, type Step, stopTime, touch, updateActivity } from './reducing-state.ts'

/** The requests that are shown as pending, in the session and its subagents, oldest first. */
export function openRequests({ memory, entries }: ReducingState): Array<PermissionEntry | ElicitationEntry> {
  return [...memory.openRequests.values()]
    .sort((a, b) => a - b)
    .flatMap(position => {
      const entry = entries[position]
      return entry?.kind === 'permission' || entry?.kind === 'elicitation' ? [entry] : []
    })
}

/** The entries needed to draw the pending requests: their own, their tool calls' and their subagents'. */
export function entriesOfRequests(state: ReducingState): Entry[] {
  const { subagentStates } = state.memory
  const found = new Set<Entry>()
  for (const request of openRequests(state)) {
    found.add(request)
    const asking = request.within === undefined ? state : subagentStates.get(request.within)
    const tool = asking?.memory.tools.get(request.toolCallId ?? '')
    if (tool !== undefined) found.add(state.entries[tool]!)
    for (let at: Entry | undefined = request; at; ) {
      at = announcementOf(state, at.within)
      if (!at || found.has(at)) break
      found.add(at)
    }
  }
  return [...found]
}

/** The entry that announced a subagent, in the session or in another subagent. */
function announcementOf(state: ReducingState, subagent: string | undefined): Entry | undefined {
  if (subagent === undefined) return undefined
  for (const { memory } of [state, ...state.memory.subagentStates.values()]) {
    const position = memory.subagents.get(subagent)
    if (position !== undefined) return state.entries[position]
  }
  return undefined
}

export function permissionAsked(step: Step, requestId: string, request: PermissionRequest): void {
  const { memory, entries } = step.state
  const { subject } = request
  const fields: Omit<PermissionEntry, 'id' | 'turn'> = {
    kind: 'permission',
    requestId,
    title: request.title,
    options: request.options,
  }
  if (request.description !== undefined) fields.description = request.description
  if (subject.type === 'tool_call') {
    const position = toolCallUpsert(step, subject.toolCall, true)
    fields.toolCallId = subject.toolCall.toolCallId
    const tool = entries[position]
    if (fields.title === '' && tool?.kind === 'tool_call') fields.title = tool.title
  } else if (subject.type === 'command') {
    fields.command = { command: subject.command }
    if (subject.cwd !== undefined) fields.command.cwd = subject.cwd
    if (subject.terminalId !== undefined) fields.command.terminalId = subject.terminalId
    if (subject.toolCallId !== undefined) {
      fields.toolCallId = subject.toolCallId
      if (!memory.tools.has(subject.toolCallId)) {
        toolCallUpsert(step, { toolCallId: subject.toolCallId, title: subject.command, kind: 'execute' })
      }
    }
  } else if (subject.type === 'unknown') {
    fields.subject = { kind: subject.kind, raw: subject.raw }
  }
  open(step, requestId, append(step, fields))
}

export function elicitationAsked(step: Step, requestId: string, request: ElicitationRequest): void {
  const fields: Omit<ElicitationEntry, 'id' | 'turn'> = {
    kind: 'elicitation',
    requestId,
    message: request.message,
    ask: askOf(request),
  }
  if (request.toolCallId !== undefined) fields.toolCallId = request.toolCallId
  open(step, requestId, append(step, fields))
}

function open(step: Step, requestId: string, position: number): void {
  step.state.memory.openRequests.set(requestId, position)
  updateActivity(step)
}

/** Shows how a request ended. Does nothing for one that isn't open. */
export function requestAnswered(
  step: Step,
  requestId: string,
  outcome: PermissionOutcome | ElicitationOutcome,
  rule?: AppliedRule,
): void {
  const { memory, entries } = step.state
  const position = memory.openRequests.get(requestId)
  const entry = position === undefined ? undefined : entries[position]
  if (position === undefined || !entry) return
  close(step, requestId, position, outcome)
  if (rule && entry.kind === 'permission') entry.rule = rule
  if (entry.kind === 'permission' && entry.toolCallId !== undefined) {
    restartTime(step, memory.tools.get(entry.toolCallId))
  }
  // The agent should report that it continues; not all do.
  if (!hasOpenRequests(step.state)) memory.actionReported = false
  updateActivity(step)
}

/** Shows a request that no longer waits for an answer as canceled. */
export function requestClosed(step: Step, requestId: string): void {
  const { memory, entries } = step.state
  const position = memory.openRequests.get(requestId)
  if (position === undefined) return
  const isForm = entries[position]?.kind === 'elicitation'
  close(step, requestId, position, isForm ? { action: 'cancel' } : { type: 'cancelled' })
  updateActivity(step)
}

/** Shows the requests of this session, or of this subagent, as canceled. */
export function closeRequests(step: Step): void {
  const { memory, entries, within } = step.state
  for (const [requestId, position] of [...memory.openRequests]) {
    if (entries[position]?.within === within) requestClosed(step, requestId)
  }
}

/** Can come after the end of the turn: the user may take time in the browser. */
export function urlCompleted(step: Step, elicitationId: string): void {
  const { memory, entries } = step.state
  const position = memory.visits.get(elicitationId)
  const entry = position === undefined ? undefined : entries[position]
  if (position === undefined || entry?.kind !== 'elicitation') return
  memory.visits.delete(elicitationId)
  entry.visit = 'done'
  touch(step, position)
}

/** No longer shows opened URLs as waiting for completion. */
export function endUrlWaits(step: Step): void {
  const { memory, entries } = step.state
  for (const position of memory.visits.values()) {
    const entry = entries[position]
    if (entry?.kind !== 'elicitation' || entry.visit !== 'waiting') continue
    entry.visit = 'ended'
    touch(step, position)
  }
}

function close(
  step: Step,
  requestId: string,
  position: number,
  outcome: PermissionOutcome | ElicitationOutcome,
): void {
  const { memory, entries } = step.state
  memory.openRequests.delete(requestId)
  const entry = entries[position]
  if (entry?.kind === 'permission' && 'type' in outcome) entry.outcome = outcome
  if (entry?.kind === 'elicitation' && 'action' in outcome) {
    entry.outcome = outcome
    if (entry.ask.mode === 'url' && outcome.action === 'accept') {
      entry.visit = 'waiting'
      memory.visits.set(entry.ask.elicitationId, position)
    }
  }
  stopTime(step, entry)
  touch(step, position)
}

function hasOpenRequests({ memory, entries, within }: ReducingState): boolean {
  for (const position of memory.openRequests.values()) if (entries[position]?.within === within) return true
  return false
}

/** The tool call did nothing until the user answered: the wait is not part of its duration. */
function restartTime(step: Step, position: number | undefined): void {
  const tool = position === undefined ? undefined : step.state.entries[position]
  if (position === undefined || step.now === undefined || tool?.startedAt === undefined) return
  if (tool.endedAt !== undefined) return
  tool.startedAt = step.now
  touch(step, position)
}

function askOf(request: ElicitationRequest): ElicitationEntry['ask'] {
  if (request.mode === 'url') {
    const { elicitationId, url } = request
    return { mode: 'url', elicitationId, url }
  }
  const { title, description, fields } = request
  const ask: ElicitationEntry['ask'] = { mode: 'form', fields }
  if (title !== undefined) ask.title = title
  if (description !== undefined) ask.description = description
  return ask
}

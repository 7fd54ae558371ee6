import * as l10n from '@vscode/l10n'
import * as z from 'zod'
import type {
  ElicitationField,
  ElicitationOutcome,
  ElicitationRequest,
  PermissionOption,
  PermissionOutcome,
  PermissionRequest,
} from '../../acp/model.ts'
import { lines } from '../block-text.ts'
import { escaped, fenced, quoted } from '../markdown.ts'
import type { EntryBase } from '../state-base.ts'
import {
  append,
  entryAt,
  positionsOf,
  type ReducerState,
  type Step,
  stopTime,
  touch,
  updateActivity,
} from '../step.ts'
import type { EntryKind } from './entry-kind.ts'
import { TOOL_CALL, toolCallUpsert, withEarlierText } from './tool-call.ts'

/** The permission rule that answered a request. */
export interface AppliedRule {
  action: 'allow' | 'reject'
  /** the settings that contain the rule, or `session` if the rule is only for this session */
  scope: 'user' | 'workspace' | 'folder' | 'session'
  /** the workspace folder's name, for the scope `folder` */
  folder?: string
  /** a short form of the rule, such as `npm test *` */
  text: string
  /** Set if the rule was the composer's switch that accepts edits or everything. */
  accepts?: 'edits' | 'everything'
}

export interface RuleAnswer {
  optionId: string
  rule: AppliedRule
}

/** The refusal of a rule that matches the request but doesn't allow it. */
export interface RuleRefusal {
  /** the reason, as a sentence for the user */
  refusal: string
}

export interface PermissionEntry extends EntryBase {
  kind: 'permission'
  /** The id under which the request is answered. */
  requestId: string
  title: string
  description?: string
  /** The code that the editor tool would run. */
  code?: string
  /** The id of the request's tool call, for which an entry always exists. */
  toolCallId?: string
  /** The command, if the agent named one without a tool call. */
  command?: { command: string; cwd?: string; terminalId?: string }
  /** The subject of the request, if this version of Parley doesn't know the subject's kind. */
  subject?: { kind: string; raw: unknown }
  options: PermissionOption[]
  /** Set only for Parley's own questions: the options' names describe all of their effects, and their kinds mean nothing. */
  isChoice?: true
  /** Set only for Parley's own questions: the question is about the session, so it stays open when a turn ends. */
  outlastsTurn?: true
  /** Absent while the request is pending. */
  outcome?: PermissionOutcome
  /** Set if a permission rule answered the request. */
  rule?: AppliedRule
  /** Why a matching rule doesn't allow the request, as a sentence. */
  refusal?: string
}

/** A form that the agent asks the user to fill in, or a URL that it asks the user to open. */
export interface ElicitationEntry extends EntryBase {
  kind: 'elicitation'
  /** The id under which the request is answered. */
  requestId: string
  message: string
  /** The agent's id of the tool call that the request belongs to. */
  toolCallId?: string
  ask:
    | { mode: 'form'; title?: string; description?: string; fields: ElicitationField[] }
    | { mode: 'url'; elicitationId: string; url: string }
  /** Absent while the request is pending. */
  outcome?: ElicitationOutcome
  /**
   * State of a URL that the user agreed to open. `waiting`: the agent hasn't reported completion. `ended`: the turn or the agent ended
   * before completion.
   */
  visit?: 'waiting' | 'done' | 'ended'
}

export const PERMISSION: EntryKind<PermissionEntry> = {
  kind: 'permission',
  schema: () => ({ requestId: z.string(), title: z.string(), options: z.array(z.unknown()) }),
  isWork: () => true,
  mergeKey: ({ requestId }) => [requestId],
  restore,
  markdown: ({ outcome, options, title, command }) => {
    const option =
      outcome?.type === 'selected'
        ? options.find(({ optionId }) => optionId === outcome.optionId)?.name
        : undefined
    const answer = option ?? (outcome ? answered('cancel') : l10n.t('not answered'))
    const line = `> ${escaped(title || l10n.t('Permission'))}: ${escaped(answer)}`
    return command ? `${line}\n>\n${quoted(fenced(command.command, 'sh'))}` : line
  },
  text: ({ title, description, code, command }) => ({
    head: lines([title, description, code, command?.command]),
    body: '',
  }),
}

export const ELICITATION: EntryKind<ElicitationEntry> = {
  kind: 'elicitation',
  schema: () => ({ requestId: z.string() }),
  isWork: () => true,
  mergeKey: ({ requestId }) => [requestId],
  restore,
  markdown: ({ message, outcome }) =>
    `> ${escaped(message)}: ${outcome ? answered(outcome.action) : l10n.t('not answered')}`,
  text: ({ message, ask }) => ({
    head: lines([message, ...(ask.mode === 'form' ? [ask.title, ask.description] : [])]),
    body: '',
  }),
}

function restore(
  { memory }: ReducerState,
  entry: PermissionEntry | ElicitationEntry,
  position: number,
): void {
  if (!entry.outcome) memory.openRequests.set(entry.requestId, position)
}

function answered(action: 'accept' | 'decline' | 'cancel'): string {
  if (action === 'accept') return l10n.t('answered')
  return action === 'decline' ? l10n.t('declined') : l10n.t('canceled')
}

/** Returns the entry of a request, if the entry at the position is one. */
function requestAt(
  state: Pick<ReducerState, 'entries'>,
  position: number | undefined,
): PermissionEntry | ElicitationEntry | undefined {
  return entryAt(state, position, PERMISSION) ?? entryAt(state, position, ELICITATION)
}

/** Returns the requests that are shown as pending, in the session and its subagents, oldest first. */
export function openRequests(state: ReducerState): Array<PermissionEntry | ElicitationEntry> {
  return [...state.memory.openRequests.values()]
    .sort((a, b) => a - b)
    .flatMap(position => requestAt(state, position) ?? [])
}

export function permissionAsked(
  step: Step,
  requestId: string,
  request: PermissionRequest,
  refusal?: string,
): void {
  const { memory } = step.state
  const { subject } = request
  const fields: Omit<PermissionEntry, 'kind' | 'id' | 'turn'> = {
    requestId,
    title: request.title,
    options: request.options,
  }
  if (request.description !== undefined) fields.description = request.description
  if (request.code !== undefined) fields.code = request.code
  if (refusal !== undefined) fields.refusal = refusal
  if (request.isChoice) fields.isChoice = true
  if (request.outlastsTurn) fields.outlastsTurn = true
  if (subject.type === 'tool_call') {
    const { toolCallId } = subject.toolCall
    const known = entryAt(step.state, positionsOf(memory, TOOL_CALL).get(toolCallId), TOOL_CALL)
    const position = toolCallUpsert(step, withEarlierText(known, subject.toolCall), true)
    fields.toolCallId = toolCallId
    if (fields.title === '') fields.title = entryAt(step.state, position, TOOL_CALL)?.title ?? ''
  } else if (subject.type === 'command') {
    fields.command = { command: subject.command }
    if (subject.cwd !== undefined) fields.command.cwd = subject.cwd
    if (subject.terminalId !== undefined) fields.command.terminalId = subject.terminalId
    if (subject.toolCallId !== undefined) {
      fields.toolCallId = subject.toolCallId
      if (!positionsOf(memory, TOOL_CALL).has(subject.toolCallId)) {
        toolCallUpsert(step, { toolCallId: subject.toolCallId, title: subject.command, kind: 'execute' })
      }
    }
  } else if (subject.type === 'unknown') {
    fields.subject = { kind: subject.kind, raw: subject.raw }
  }
  open(step, requestId, append(step, PERMISSION, fields))
}

export function elicitationAsked(step: Step, requestId: string, request: ElicitationRequest): void {
  const fields: Omit<ElicitationEntry, 'kind' | 'id' | 'turn'> = {
    requestId,
    message: request.message,
    ask: askOf(request),
  }
  if (request.toolCallId !== undefined) fields.toolCallId = request.toolCallId
  open(step, requestId, append(step, ELICITATION, fields))
}

function open(step: Step, requestId: string, position: number): void {
  step.state.memory.openRequests.set(requestId, position)
  updateActivity(step)
}

/** Shows how a request ended. Does nothing if the request isn't open. */
export function requestAnswered(
  step: Step,
  requestId: string,
  outcome: PermissionOutcome | ElicitationOutcome,
  rule?: AppliedRule,
): void {
  const { memory } = step.state
  const position = memory.openRequests.get(requestId)
  const entry = requestAt(step.state, position)
  if (position === undefined || !entry) return
  close(step, requestId, position, outcome)
  if (rule && entry.kind === 'permission') entry.rule = rule
  if (entry.kind === 'permission' && entry.toolCallId !== undefined) {
    restartTime(step, positionsOf(memory, TOOL_CALL).get(entry.toolCallId))
  }
  // The agent should report that it continues; not all agents do.
  if (!hasOpenRequests(step.state)) memory.actionReported = false
  updateActivity(step)
}

/** Shows a request that no longer waits for an answer as canceled. */
export function requestClosed(step: Step, requestId: string): void {
  const position = step.state.memory.openRequests.get(requestId)
  if (position === undefined) return
  const isForm = entryAt(step.state, position, ELICITATION) !== undefined
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

/** Marks an opened URL as completed, possibly after the end of the turn: the user may take time in the browser. */
export function urlCompleted(step: Step, elicitationId: string): void {
  const { memory } = step.state
  const position = memory.visits.get(elicitationId)
  const entry = entryAt(step.state, position, ELICITATION)
  if (position === undefined || !entry) return
  memory.visits.delete(elicitationId)
  entry.visit = 'done'
  touch(step, position)
}

/** Ends the wait for the completion of opened URLs. */
export function endUrlWaits(step: Step): void {
  for (const position of step.state.memory.visits.values()) {
    const entry = entryAt(step.state, position, ELICITATION)
    if (entry?.visit !== 'waiting') continue
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
  const { memory } = step.state
  memory.openRequests.delete(requestId)
  const entry = requestAt(step.state, position)
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

function hasOpenRequests({ memory, entries, within }: ReducerState): boolean {
  for (const position of memory.openRequests.values()) if (entries[position]?.within === within) return true
  return false
}

/** Restarts the time of a tool call that did nothing until the user answered: the wait isn't part of its duration. */
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

/** Returns the ids of the tool calls of this turn that the user, or a rule, allowed. */
export function allowedToolCalls({ state }: Step): Set<string> {
  const allowed = new Set<string>()
  for (let at = state.entries.length - 1; at >= 0; at--) {
    const entry = state.entries[at]
    if (!entry || entry.turn !== state.turn) break
    const permission = entryAt(state, at, PERMISSION)
    if (!permission || permission.within !== state.within || permission.toolCallId === undefined) continue
    const { outcome, options, toolCallId } = permission
    if (outcome?.type !== 'selected') continue
    const kind = options.find(({ optionId }) => optionId === outcome.optionId)?.kind
    if (kind?.startsWith('allow')) allowed.add(toolCallId)
  }
  return allowed
}

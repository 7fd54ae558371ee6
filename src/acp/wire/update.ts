import * as z from 'zod'
import { isRecord } from '../../common/is-record.ts'
import { parseTimestamp } from '../../common/timestamp.ts'
import type {
  Command,
  MessageRole,
  Plan,
  PlanEntry,
  SessionMessagePatch,
  SessionUpdate,
  SubagentPatch,
  SubagentState,
} from '../model.ts'
import { given, readBlock } from './content.ts'
import { readLimit, readSuggestion } from './extensions.ts'
import {
  anything,
  cutShown,
  type Json,
  maybe,
  maybeList,
  maybeShown,
  maybeText,
  type Report,
  readList,
  shownText,
  validationProblem,
} from './lenient.ts'
import { readError, stateSchema } from './state.ts'
import { readCanCancel } from './tool-call.ts'

/** Receives the mapped updates of a session. Only the sink knows the session's earlier updates. */
export interface UpdateSink {
  emit(update: SessionUpdate): void
  /** Replaces the options with the raw list of a `config_option_update`. */
  replaceOptions(raw: unknown): void
  /** Reports that the update, or a part of it, was malformed and dropped. */
  report: Report
}

export const chunkSchema = z.object({ messageId: maybeText, content: anything })
export const infoSchema = z.object({ title: anything, updatedAt: anything })
export const usageSchema = z.object({
  used: z.number(),
  size: z.number(),
  cost: maybe(z.object({ amount: z.number(), currency: z.string() })),
})
export const noticeSchema = z.object({ severity: maybeText, title: shownText, description: maybeText })
export const compactionSchema = z.object({
  compactionId: z.string(),
  status: maybeText,
  summary: anything,
  error: maybeText,
})
export const compactionChunkSchema = z.object({ compactionId: z.string(), content: anything })
export const planRemovedSchema = z.object({ planId: z.string() })

/** Maps an update of a kind that both versions have. Returns `undefined` if there is nothing to report. */
export function readCommonUpdate(raw: Json, sink: UpdateSink): SessionUpdate | undefined {
  const kind = raw.sessionUpdate
  switch (kind) {
    case 'agent_message_chunk':
      return readChunk(raw, 'agent', sink)
    case 'agent_thought_chunk':
      return readChunk(raw, 'thought', sink)
    case 'user_message_chunk':
      return readChunk(raw, 'user', sink)
    case 'available_commands_update': {
      const commands = maybeList(raw.availableCommands, readCommand, sink.report, 'availableCommands')
      return commands ? { type: 'commands', commands } : dropped(sink, 'availableCommands is no list')
    }
    case 'config_option_update':
      if (!Array.isArray(raw.configOptions)) return dropped(sink, 'configOptions is no list')
      sink.replaceOptions(raw.configOptions)
      return undefined
    case 'session_info_update': {
      const suggestion = readSuggestion(raw._meta)
      if (suggestion) sink.emit(suggestion)
      return readInfo(raw)
    }
    case 'usage_update': {
      const usage = parse(usageSchema, raw, sink)
      if (!usage) return undefined
      const cost = raw.cost === null ? { cost: null } : given('cost', usage.cost)
      const limit = given('limit', readLimit(raw._meta))
      return { type: 'usage', usage: { used: usage.used, size: usage.size, ...cost, ...limit } }
    }
    case 'notice': {
      const notice = parse(noticeSchema, raw, sink)
      if (!notice) return undefined
      const { severity, title, description } = notice
      return { type: 'notice', severity: severity ?? 'info', title, ...given('description', description) }
    }
    case 'compaction_update':
      return readCompaction(raw, sink)
    case 'compaction_summary_chunk': {
      const chunk = parse(compactionChunkSchema, raw, sink)
      if (!chunk) return undefined
      const content = readBlock(chunk.content)
      if (!content) return dropped(sink, 'content is missing')
      return { type: 'compaction_chunk', compactionId: chunk.compactionId, content }
    }
    case 'plan': {
      const entries = maybeList(raw.entries, readPlanEntry, sink.report, 'entries')
      return entries
        ? { type: 'plan', plan: { planId: PLAN_ID, entries } }
        : dropped(sink, 'entries is no list')
    }
    case 'plan_update': {
      const plan = readPlan(raw.plan, sink.report)
      if (plan) return { type: 'plan', plan }
      // A plan of an unknown kind also replaces the plan with the same id.
      const planId = newerPlanId(raw.plan)
      if (planId !== undefined) sink.emit({ type: 'plan_removed', planId })
      return { type: 'unknown', kind, raw }
    }
    case 'plan_removed': {
      const removed = parse(planRemovedSchema, raw, sink)
      return removed && { type: 'plan_removed', planId: removed.planId }
    }
    case 'subagent_update': {
      const wire = parse(subagentSchema, raw, sink)
      return wire && { type: 'subagent', subagent: readSubagent(wire, sink.report) }
    }
    case 'session_message': {
      const wire = parse(sessionMessageSchema, raw, sink)
      return wire && { type: 'session_message', message: readSessionMessage(wire, sink.report) }
    }
    case 'session_message_chunk': {
      const chunk = parse(sessionMessageChunkSchema, raw, sink)
      if (!chunk) return undefined
      const content = readBlock(chunk.content)
      if (!content) return dropped(sink, 'content is missing')
      return { type: 'session_message_chunk', messageId: chunk.messageId, content }
    }
    default:
      return typeof kind === 'string' ? { type: 'unknown', kind, raw } : dropped(sink, 'it has no kind')
  }
}

function readChunk(raw: Json, role: MessageRole, sink: UpdateSink): SessionUpdate | undefined {
  const chunk = parse(chunkSchema, raw, sink)
  if (!chunk) return undefined
  const content = readBlock(chunk.content)
  if (!content) return dropped(sink, 'content is missing')
  const { messageId } = chunk
  return typeof messageId === 'string'
    ? { type: 'message_chunk', role, messageId, content }
    : { type: 'message_chunk', role, content }
}

/** Reads a `session_info_update`. `null` clears a field, and an absent field keeps its value. */
function readInfo(raw: Json): SessionUpdate | undefined {
  const update: SessionUpdate = { type: 'info' }
  if (typeof raw.title === 'string') update.title = cutShown(raw.title)
  else if (raw.title === null) update.title = null
  const time = parseTimestamp(raw.updatedAt)
  if (raw.updatedAt === null) update.updatedAt = null
  else if (time !== undefined) update.updatedAt = new Date(time).toISOString()
  return update.title === undefined && update.updatedAt === undefined ? undefined : update
}

function readCompaction(raw: Json, sink: UpdateSink): SessionUpdate | undefined {
  const wire = parse(compactionSchema, raw, sink)
  if (!wire) return undefined
  const { compactionId, status, summary, error } = wire
  const update: SessionUpdate = { type: 'compaction', compactionId, status: status ?? 'in_progress' }
  if (summary === null) update.summary = null
  else if (summary !== undefined) update.summary = readList(summary, readBlock, sink.report, 'summary')
  if (raw.error === null) update.error = null
  else if (typeof error === 'string') update.error = error
  return update
}

export function parse<T extends z.ZodType>(schema: T, raw: Json, sink: UpdateSink): z.output<T> | undefined {
  const parsed = schema.safeParse(raw)
  if (parsed.success) return parsed.data
  return dropped(sink, validationProblem(parsed.error))
}

export function dropped(sink: UpdateSink, problem: string): undefined {
  sink.report(problem)
  return undefined
}

/** The id of the plan in v1, where a session has only one plan, without an id. */
const PLAN_ID = 'plan'

export const planEntrySchema = z.object({ content: shownText, priority: maybeText, status: maybeText })

function readPlanEntry(raw: unknown): PlanEntry | undefined {
  const entry = planEntrySchema.safeParse(raw).data
  return (
    entry && {
      content: entry.content,
      priority: entry.priority ?? 'medium',
      status: entry.status ?? 'pending',
    }
  )
}

export const planContentSchema = z.object({
  type: maybeText,
  planId: z.string(),
  entries: anything,
  content: maybeText,
  uri: maybeText,
})

/** Reads the plan of a `plan_update`: entries or a document. Returns `undefined` if the plan is malformed or of an unknown kind. */
function readPlan(raw: unknown, report: Report): Plan | undefined {
  const wire = planContentSchema.safeParse(raw).data
  if (!wire) return undefined
  const { planId, content, uri } = wire
  switch (wire.type) {
    case 'items':
      return { planId, entries: readList(wire.entries, readPlanEntry, report, 'entries') }
    case 'markdown':
      return typeof content === 'string' ? { planId, entries: [], markdown: content } : undefined
    case 'file':
      return typeof uri === 'string' ? { planId, entries: [], markdown: `<${uri}>`, uri } : undefined
    default:
      return undefined
  }
}

const PLAN_KINDS = new Set(['items', 'markdown', 'file'])

/** Returns the id of a plan of an unknown kind; `undefined` for a known kind. */
function newerPlanId(raw: unknown): string | undefined {
  const wire = planContentSchema.safeParse(raw).data
  return wire?.type && !PLAN_KINDS.has(wire.type) ? wire.planId : undefined
}

/** The maximum length of a command's name, in characters. A longer name can't be cut, because it's sent to the agent unchanged. */
const MAX_COMMAND_NAME = 1000

export const commandSchema = z.object({
  type: maybeText,
  name: z.string().min(1).max(MAX_COMMAND_NAME),
  description: maybeShown,
  input: anything,
})

/** Reads a slash command, which has the same form in both versions. */
export function readCommand(raw: unknown): Command | undefined {
  const command = commandSchema.safeParse(raw).data
  if (!command) return undefined
  const { input } = command
  const hint = isRecord(input) && typeof input.hint === 'string' ? input.hint : undefined
  return { name: command.name, description: command.description ?? '', ...given('hint', hint) }
}

export const subagentSchema = z.object({
  sessionId: z.string().min(1),
  title: maybeShown,
  description: maybeShown,
  capabilities: anything,
  state: anything,
  cwd: maybeText,
  additionalDirectories: maybe(z.array(z.string())),
})

/** Reads a `subagent_update`. `null` clears a field, and an absent or malformed field keeps its value. */
function readSubagent(wire: z.output<typeof subagentSchema>, report: Report): SubagentPatch {
  const patch: SubagentPatch = { sessionId: wire.sessionId }
  for (const key of ['title', 'description', 'cwd'] as const) {
    const value = wire[key]
    if (value !== undefined) patch[key] = value
  }
  if (wire.additionalDirectories !== undefined) patch.additionalDirectories = wire.additionalDirectories
  const canCancel = readCanCancel(wire.capabilities)
  if (canCancel !== undefined) patch.canCancel = canCancel
  if (wire.state === null) patch.state = null
  else if (wire.state !== undefined) {
    const state = readSubagentState(wire.state)
    if (state) patch.state = state
    else report('state names no state')
  }
  return patch
}

function readSubagentState(raw: unknown): SubagentState | undefined {
  const wire = stateSchema.safeParse(raw).data
  if (!wire) return undefined
  const { state: activity, stopReason, error } = wire
  return { activity, ...given('stopReason', stopReason), ...given('error', readError(error)) }
}

export const sessionMessageSchema = z.object({
  messageId: z.string(),
  senderSessionId: maybeText,
  recipientSessionId: maybeText,
  senderMessageId: maybeText,
  recipientMessageId: maybeText,
  content: anything,
})

/** Reads a `session_message`. Absent fields and `null` mean the same as in {@link readSubagent}. */
function readSessionMessage(
  wire: z.output<typeof sessionMessageSchema>,
  report: Report,
): SessionMessagePatch {
  const patch: SessionMessagePatch = { messageId: wire.messageId }
  if (wire.senderSessionId !== undefined) patch.from = wire.senderSessionId
  if (wire.recipientSessionId !== undefined) patch.to = wire.recipientSessionId
  if (wire.senderMessageId !== undefined) patch.fromMessageId = wire.senderMessageId
  if (wire.recipientMessageId !== undefined) patch.toMessageId = wire.recipientMessageId
  if (wire.content === null) patch.content = null
  else if (Array.isArray(wire.content)) patch.content = readList(wire.content, readBlock, report, 'content')
  else if (wire.content !== undefined) report('content is no list')
  return patch
}

export const sessionMessageChunkSchema = z.object({ messageId: z.string(), content: anything })

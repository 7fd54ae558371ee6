import * as z from 'zod'
import { parseTimestamp } from '../../common/timestamp.ts'
import type { MessageRole, SessionUpdate } from '../model.ts'
import { given, readBlock } from './content.ts'
import {
  anything,
  type Json,
  maybe,
  maybeList,
  maybeText,
  problemOf,
  type Report,
  readList,
} from './lenient.ts'
import { newerPlanId, PLAN_ID, readCommand, readPlan, readPlanEntry } from './plan.ts'
import {
  readSessionMessage,
  readSubagent,
  sessionMessageChunkSchema,
  sessionMessageSchema,
  subagentSchema,
} from './subagent.ts'

/** Where an update goes. What came of a session before is known to the sink alone. */
export interface UpdateSink {
  emit(update: SessionUpdate): void
  /** `config_option_update`: the raw list */
  replaceOptions(raw: unknown): void
  /** The update, or a part of it, was malformed and dropped. */
  report: Report
}

export const chunkSchema = z.object({ messageId: maybeText, content: anything })
export const infoSchema = z.object({ title: anything, updatedAt: anything })
export const usageSchema = z.object({
  used: z.number(),
  size: z.number(),
  cost: maybe(z.object({ amount: z.number(), currency: z.string() })),
})
export const noticeSchema = z.object({ severity: maybeText, title: z.string(), description: maybeText })
export const compactionSchema = z.object({
  compactionId: z.string(),
  status: maybeText,
  summary: anything,
  error: maybeText,
})
export const compactionChunkSchema = z.object({ compactionId: z.string(), content: anything })
export const planRemovedSchema = z.object({ planId: z.string() })

/** Maps an update of a kind that both versions have. `undefined`: nothing is left to tell. */
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
    case 'session_info_update':
      return readInfo(raw)
    case 'usage_update': {
      const usage = parse(usageSchema, raw, sink)
      if (!usage) return undefined
      return { type: 'usage', usage: { used: usage.used, size: usage.size, ...given('cost', usage.cost) } }
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
      // What is of a newer kind takes the place of what was there all the same.
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

/** Here `null` clears and absent keeps, so the two are told apart. */
function readInfo(raw: Json): SessionUpdate | undefined {
  const update: SessionUpdate = { type: 'info' }
  if (typeof raw.title === 'string' || raw.title === null) update.title = raw.title
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
  return dropped(sink, problemOf(parsed.error))
}

export function dropped(sink: UpdateSink, problem: string): undefined {
  sink.report(problem)
  return undefined
}

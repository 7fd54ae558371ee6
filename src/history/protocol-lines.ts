import { isDeepStrictEqual } from 'node:util'
import type { ContentBlock, PlanEntry, ToolCallContent } from '../acp/model.ts'
import { blockToWire, readBlock } from '../acp/wire/content.ts'
import type { Json } from '../acp/wire/lenient.ts'
import { readToolCall } from '../acp/wire/tool-call.ts'
import { isRecord } from '../common/is-record.ts'
import type { SecretRegistry } from '../common/secrets.ts'
import type { SavedConversation } from '../conversation/replay/restore-state.ts'
import type { Entry, MessageEntry, ToolCallEntry, TurnEndEntry } from '../conversation/state.ts'
import type { LocalSession } from './session-store.ts'
import { entryJson, valueJson } from './transcript-schema.ts'

/** The version of the files. A reader rejects newer versions. */
export const LINES_FORMAT = 1

/** The method of the first line of a conversation. */
export const CONVERSATION_METHOD = '_parley/conversation'

/** The method of a terminal's output. */
export const TERMINAL_METHOD = '_parley/terminal'

/** The stored data of a session besides its conversation. */
export type ExportedSession = Omit<LocalSession, 'systemPrompt' | 'imported' | 'continuedIn'> & {
  agentName: string
}

/** The data of an entry that ACP's messages can't contain, under one key of their `_meta`. */
export interface ParleyMeta {
  /** the position of the entry, which is the same for all lines of an entry */
  entry: number
  /** members of the entry that the message lacks or has with another value; only on the first line of an entry */
  fields?: Json
  /** names of members of the message that the entry doesn't have */
  without?: string[]
}

/**
 * A conversation as lines of JSON-RPC: first a notification with metadata, then ACP's messages (version 1) in order: prompts, updates and
 * responses. Data without an ACP message is in notifications whose methods start with `_parley/`. Secrets are redacted again, since a
 * secret may have become known after the conversation was saved.
 */
export function* conversationLines(
  conversation: SavedConversation,
  { agentId, agentName, ...session }: ExportedSession,
  secrets: Pick<SecretRegistry, 'redactJson'>,
): Generator<string> {
  const redacted = <T>(json: string | undefined): T | undefined =>
    json === undefined ? undefined : (JSON.parse(secrets.redactJson(json)) as T)
  const { sessionId, cwd, additionalDirectories, createdAt, updatedAt, ...about } = session
  const { entries, terminals } = conversation
  const head = redacted<SavedConversation['head']>(valueJson(conversation.head)) ?? {}
  yield line({
    method: CONVERSATION_METHOD,
    params: {
      format: LINES_FORMAT,
      protocolVersion: 1,
      client: 'Parley',
      agent: { id: agentId, name: agentName },
      sessionId,
      ...redacted<Json>(JSON.stringify(about)),
      cwd,
      additionalDirectories,
      createdAt,
      updatedAt,
      counts: { entries: entries.length, terminals: terminals.length },
      head,
    },
  })
  for (const terminal of terminals) {
    const written = redacted(valueJson(terminal))
    if (written) yield line({ method: TERMINAL_METHOD, params: { sessionId, terminal: written } })
  }
  const turns = new Turns()
  for (const [position, entry] of entries.entries()) {
    const written = redacted<Entry>(entryJson(entry))!
    if (isPromptLine(written)) yield* turns.end()
    for (const message of messagesOf(written, position, sessionId, turns)) yield line(message)
  }
  for (const { entries } of head.plans ?? []) {
    const update = { sessionUpdate: 'plan', entries: entries.flatMap(planEntry) }
    yield line({ method: 'session/update', params: { sessionId, update } })
  }
  if (!head.working) yield* turns.end()
}

/** The ids of requests without a response. */
class Turns {
  #last = 0
  #open: number[] = []

  begin(): number {
    this.#last += 1
    this.#open.push(this.#last)
    return this.#last
  }

  /** Takes the id of the request to which the end of a turn responds. */
  take(): number | undefined {
    return this.#open.pop()
  }

  /** Yields the responses for turns that ended normally, which have no entry for the end. */
  *end(): Generator<string> {
    for (const id of this.#open.splice(0)) yield line({ id, result: { stopReason: 'end_turn' } })
  }
}

function line(message: Json): string {
  return JSON.stringify({ jsonrpc: '2.0', ...message })
}

function isPromptLine(entry: Entry): boolean {
  return (
    entry.kind === 'message' &&
    entry.role === 'user' &&
    entry.within === undefined &&
    entry.steering === undefined
  )
}

function messagesOf(entry: Entry, position: number, sessionId: string, turns: Turns): Json[] {
  const messages = protocolMessages(entry, sessionId, turns)
  const { id: _, ...own } = entry
  const whole = () => [
    {
      method: `_parley/${entry.kind}`,
      params: { sessionId, entry: own, _meta: { parley: { entry: position } } },
    },
  ]
  if (messages.length === 0) return whole()
  const carried = carriedBy(messages)
  if (!carried) return whole()
  const fields = Object.fromEntries(
    Object.entries(own).filter(([key, value]) => !isDeepStrictEqual(carried[key], value)),
  )
  const without = Object.keys(carried).filter(key => !Object.hasOwn(own, key))
  for (const [at, message] of messages.entries()) {
    const first = { fields, ...(without.length > 0 && { without }) }
    setMeta(message, { entry: position, ...(at === 0 && first) })
  }
  return messages
}

/** ACP's messages for an entry; empty if ACP has none. */
function protocolMessages(entry: Entry, sessionId: string, turns: Turns): Json[] {
  const of = entry.within ?? sessionId
  switch (entry.kind) {
    case 'message':
      if (!isPromptLine(entry)) return entry.blocks.map(block => chunk(entry, block, of))
      return [
        {
          id: turns.begin(),
          method: 'session/prompt',
          params: { sessionId: of, prompt: entry.blocks.map(wireBlock) },
        },
      ]
    case 'tool_call':
      return [{ method: 'session/update', params: { sessionId: of, update: toolCall(entry) } }]
    case 'turn_end': {
      const id = turns.take()
      return id === undefined ? [] : [{ id, ...turnEnd(entry) }]
    }
    default:
      return []
  }
}

function chunk({ role, messageId }: MessageEntry, block: ContentBlock, sessionId: string): Json {
  const sessionUpdate =
    role === 'user' ? 'user_message_chunk' : role === 'agent' ? 'agent_message_chunk' : 'agent_thought_chunk'
  const update = {
    sessionUpdate,
    ...(typeof messageId === 'string' && { messageId }),
    content: wireBlock(block),
  }
  return { method: 'session/update', params: { sessionId, update } }
}

/** The block as ACP has it. A block that ACP doesn't have becomes a text with its kind; the entry's `fields` contain the block itself. */
function wireBlock(block: ContentBlock): Json {
  const known = isRecord(block) && block.type !== 'unknown' ? knownBlock(block) : undefined
  // a prompt file has the same message: the entry's fields tell that it's one
  const isPromptFile = block?.type === 'resource' && block.asText === true
  if (known && (isPromptFile || isDeepStrictEqual(readBlock(known), block))) return known
  return { type: 'text', text: `[${isRecord(block) && 'kind' in block ? String(block.kind) : 'unknown'}]` }
}

function knownBlock(block: Exclude<ContentBlock, { type: 'unknown' }>): Json | undefined {
  if (block.type === 'resource_link' && block.size !== undefined && !Number.isSafeInteger(block.size))
    return undefined
  const wire = blockToWire(block) as Json | undefined
  // removes the members with the value `undefined`
  const written = wire && (JSON.parse(JSON.stringify(wire)) as Json)
  const annotations = {
    ...(block.agentOnly && { audience: ['assistant'] }),
    ...('lastModified' in block && isDate(block.lastModified)
      ? { lastModified: new Date(block.lastModified).toISOString() }
      : {}),
    ...('isImportant' in block && { priority: 1 }),
  }
  return (
    written && {
      ...written,
      ...('icons' in block && { icons: block.icons }),
      ...(Object.keys(annotations).length > 0 && { annotations }),
    }
  )
}

function isDate(time: unknown): time is number {
  return typeof time === 'number' && !Number.isNaN(new Date(time).getTime())
}

const TOOL_KINDS = new Set('read edit delete move search execute think fetch switch_mode other'.split(' '))
const STATUSES: { [status: string]: string } = {
  pending: 'pending',
  in_progress: 'in_progress',
  paused: 'in_progress',
  completed: 'completed',
  failed: 'failed',
  cancelled: 'failed',
}

function toolCall(entry: ToolCallEntry): Json {
  const { toolCallId, title, toolName, toolKind, status, content, locations, rawInput, rawOutput } = entry
  return {
    sessionUpdate: 'tool_call',
    toolCallId,
    title,
    ...(toolName !== undefined && { name: toolName }),
    kind: TOOL_KINDS.has(toolKind) ? toolKind : 'other',
    status: (Object.hasOwn(STATUSES, status) && STATUSES[status]) || 'completed',
    content: content.flatMap(toolContent),
    locations: locations.filter(isLocation).map(({ path, line }) => ({ path, line })),
    rawInput,
    rawOutput,
  }
}

function isLocation(location: unknown): boolean {
  if (!isRecord(location) || typeof location.path !== 'string') return false
  return location.line === undefined || (Number.isSafeInteger(location.line) && Number(location.line) >= 0)
}

function toolContent(content: ToolCallContent): Json[] {
  if (!isRecord(content)) return []
  if (content.type === 'content') return [{ type: 'content', content: wireBlock(content.content) }]
  if (content.type === 'terminal') return [{ type: 'terminal', terminalId: String(content.terminalId) }]
  if (content.type !== 'diff' || !Array.isArray(content.changes)) return []
  return content.changes.flatMap(change => {
    if (!isRecord(change)) return []
    const { operation, path, oldText, newText } = change
    if (typeof path !== 'string' || typeof newText !== 'string') return []
    const kind = operation === 'add' || operation === 'delete' ? { _meta: { kind: operation } } : {}
    return [{ type: 'diff', path, ...(typeof oldText === 'string' && { oldText }), newText, ...kind }]
  })
}

const STOP_REASONS = new Set(['end_turn', 'max_tokens', 'max_turn_requests', 'refusal', 'cancelled'])

function turnEnd({ stopReason, error }: TurnEndEntry): Json {
  if (!error && STOP_REASONS.has(stopReason)) return { result: { stopReason } }
  const known = isRecord(error) && Number.isSafeInteger(error.code) && typeof error.message === 'string'
  return {
    error: known ? { code: error.code, message: error.message } : { code: -32603, message: stopReason },
  }
}

const PRIORITIES = new Set(['high', 'medium', 'low'])
const PLAN_STATUSES = new Set(['pending', 'in_progress', 'completed'])

function planEntry({ content, priority, status }: PlanEntry): Json[] {
  if (typeof content !== 'string') return []
  return [
    {
      content,
      priority: PRIORITIES.has(priority) ? priority : 'medium',
      status: PLAN_STATUSES.has(status) ? status : 'completed',
    },
  ]
}

/** The fields of an entry that its ACP messages already contain; `undefined` if Parley can't read these messages. */
export function carriedBy(messages: readonly Json[]): Json | undefined {
  const [first] = messages
  if (!first) return undefined
  if (isRecord(first.result) && typeof first.result.stopReason === 'string')
    return { kind: 'turn_end', stopReason: first.result.stopReason }
  if (isRecord(first.error)) {
    const { code, message } = first.error
    return { kind: 'turn_end', stopReason: 'error', error: { code, message } }
  }
  const params = isRecord(first.params) ? first.params : {}
  if (first.method === 'session/prompt') {
    const prompt = Array.isArray(params.prompt) ? params.prompt : []
    return { kind: 'message', role: 'user', blocks: prompt.flatMap(raw => readBlock(raw) ?? []) }
  }
  const update = first.method === 'session/update' && isRecord(params.update) ? params.update : undefined
  switch (update?.sessionUpdate) {
    case 'user_message_chunk':
    case 'agent_message_chunk':
    case 'agent_thought_chunk': {
      const [role] = /user|agent(?!_thought)|thought/.exec(update.sessionUpdate) ?? []
      const { messageId } = update
      const blocks = messages.flatMap(message => readBlock(contentOf(message)) ?? [])
      return { kind: 'message', role, ...(typeof messageId === 'string' && { messageId }), blocks }
    }
    case 'tool_call': {
      const call = readToolCall(update, () => {})
      if (!call) return undefined
      const { name, kind, ...others } = call
      return {
        kind: 'tool_call',
        ...others,
        toolKind: kind,
        canCancel: false,
        ...(name !== undefined && { toolName: name }),
      }
    }
    default:
      return undefined
  }
}

function contentOf({ params }: Json): unknown {
  const update = isRecord(params) ? params.update : undefined
  return isRecord(update) ? update.content : undefined
}

function setMeta(message: Json, parley: ParleyMeta): void {
  const holder = metaHolderOf(message)
  if (holder) holder._meta = { parley }
}

/** The part of a message that contains its `_meta`: its parameters, its result, or its error's data. */
export function metaHolderOf(message: Json): Json | undefined {
  if (isRecord(message.error)) {
    message.error.data ??= {}
    return isRecord(message.error.data) ? message.error.data : undefined
  }
  const holder = message.params ?? message.result
  return isRecord(holder) ? holder : undefined
}

import * as z from 'zod'
import { isRecord } from '../../common/is-record.ts'
import type { ContentBlock, SessionUpdate } from '../model.ts'
import { given } from '../wire/content.ts'
import { anything, type Json, maybeText } from '../wire/lenient.ts'
import { readToolCall } from '../wire/tool-call.ts'
import { dropped, parse, readCommonUpdate, type UpdateSink } from '../wire/update.ts'

/** Receives the mapped updates of a v1 session. Only the sink knows the session's earlier updates. */
export interface UpdateSinkV1 extends UpdateSink {
  /** Handles a `current_mode_update`. */
  mode(modeId: string): void
  /** Whether the agent offers a mode with that id. */
  offersMode(modeId: string): boolean
  /** Ids of the terminals that a tool call shows. */
  readonly shownTerminals: Set<string>
}

export const modeSchema = z.object({ currentModeId: z.string() })

/** Maps the `update` of a v1 `session/update` to the model. Parses it only with the schema of its kind, which is small and fast. */
export function readUpdate(raw: unknown, sink: UpdateSinkV1): void {
  const update = isRecord(raw) ? readKind(raw, sink) : dropped(sink, 'it is no object')
  if (update) sink.emit(update)
}

/** Maps an update. Returns `undefined` if there is nothing to report. */
function readKind(raw: Json, sink: UpdateSinkV1): SessionUpdate | undefined {
  switch (raw.sessionUpdate) {
    case 'tool_call':
    case 'tool_call_update':
      return readToolCallUpdate(raw, sink)
    case 'user_message_chunk': {
      const update = readCommonUpdate(raw, sink)
      if (update?.type !== 'message_chunk') return update
      const content = withoutMachineText(update.content)
      if (!content) return { type: 'message_end' }
      for (const part of withRemindersApart(content))
        for (const block of withFilesApart(part)) sink.emit({ ...update, content: block })
      return undefined
    }
    case 'agent_message_chunk': {
      const update = readCommonUpdate(raw, sink)
      const modeId = update?.type === 'message_chunk' ? modeInText(update.content) : undefined
      if (modeId === undefined || !sink.offersMode(modeId)) return update
      sink.mode(modeId)
      return { type: 'message_end' }
    }
    case 'current_mode_update': {
      const mode = parse(modeSchema, raw, sink)
      if (mode) sink.mode(mode.currentModeId)
      return undefined
    }
    default:
      return readCommonUpdate(raw, sink)
  }
}

function readToolCallUpdate(raw: Json, sink: UpdateSinkV1): SessionUpdate | undefined {
  const toolCall = readToolCall(raw, sink.report)
  if (!toolCall) return undefined
  for (const content of toolCall.content ?? []) {
    if (content.type === 'terminal') sink.shownTerminals.add(content.terminalId)
  }
  const update: SessionUpdate = { type: 'tool_call', toolCall }
  if (raw.sessionUpdate === 'tool_call') update.isNew = true
  if (raw._meta === undefined) return update
  sink.emit(update)
  for (const update of readTerminalMeta(raw._meta)) {
    const terminalId = update.type === 'terminal' ? update.terminal.terminalId : update.terminalId
    // Adds the terminal to the tool call's content, because output of a terminal that no content refers to isn't visible anywhere.
    if (!sink.shownTerminals.has(terminalId)) {
      sink.shownTerminals.add(terminalId)
      const content = { type: 'terminal', terminalId } as const
      sink.emit({ type: 'tool_call_content', toolCallId: toolCall.toolCallId, content })
    }
    sink.emit(update)
  }
  return undefined
}

const CONTEXT = /^\s*<(session_context)>[\s\S]*<\/\1>\s*$/
const FUNCTION_RESPONSES = /^\s*(\[Function Response: [^\]\n]*\]\s*)+$/

/**
 * Returns a replayed block of the user without text that the agent (Gemini CLI) wrote for its model. A description of the workspace becomes
 * a resource of the prompt. Tool results, which the tool calls already show, become `undefined`.
 */
export function withoutMachineText(content: ContentBlock): ContentBlock | undefined {
  if (content.type !== 'text') return content
  const { text } = content
  // Most replayed text is neither, so the first character is checked before the whole text.
  const first = text.trimStart()[0]
  if (first === '[' && FUNCTION_RESPONSES.test(text)) return undefined
  const context = first === '<' ? CONTEXT.exec(text)?.[1] : undefined
  return context ? { type: 'resource', uri: context, mimeType: 'text/plain', text, agentOnly: true } : content
}

const REMINDER = 'system-reminder'
const REMINDERS = /<(system-reminder)>(?:(?!<\/?\1>)[\s\S])*<\/\1>/g

/**
 * Moves notes to the model out of the user's text. Some agents (Kimi Code) put them before or after the text. They become resources of the
 * prompt.
 */
export function withRemindersApart(content: ContentBlock): ContentBlock[] {
  if (content.type !== 'text' || !/^\s*<system-reminder>|<\/system-reminder>\s*$/.test(content.text))
    return [content]
  const { text } = content
  const found = [...text.matchAll(REMINDERS)].map(match => ({
    from: match.index,
    to: match.index + match[0].length,
  }))
  const isBlank = (from: number, to: number) => text.slice(from, to).trim() === ''
  let [start, end] = [0, text.length]
  for (const { from, to } of found) if (isBlank(start, from)) start = to
  for (const { from, to } of found.toReversed()) if (from >= start && isBlank(to, end)) end = from
  if (start === 0 && end === text.length) return [content]
  const noted = (part: string): ContentBlock[] =>
    part.trim() === ''
      ? []
      : [{ type: 'resource', uri: REMINDER, mimeType: 'text/plain', text: part.trim(), agentOnly: true }]
  const written = text.slice(start, end)
  const own: ContentBlock[] = written.trim() === '' ? [] : [{ ...content, text: written.trim() }]
  return [...noted(text.slice(0, start)), ...own, ...noted(text.slice(end))]
}

const MODE_NOTE = /^\[MODE_UPDATE\] (\S+)$/

/** Returns the mode that an agent (Gemini CLI) reports only as text, written for another client. */
function modeInText(content: ContentBlock): string | undefined {
  return content.type === 'text' && content.text.startsWith('[MODE')
    ? MODE_NOTE.exec(content.text)?.[1]
    : undefined
}

const FILES = '\n--- Content from referenced context ---\nContent from @'
const FILE = /\nContent from @([^\n]+):\n/

/**
 * Splits a prompt that an agent (Gemini CLI) replays as a single text, with the content of the mentioned files at its end. The files become
 * resources next to the text.
 */
export function withFilesApart(content: ContentBlock): ContentBlock[] {
  const at = content.type === 'text' ? content.text.indexOf(FILES) : -1
  if (content.type !== 'text' || at < 0) return [content]
  const [, ...files] = content.text.slice(at).split(FILE)
  const blocks: ContentBlock[] = at > 0 ? [{ ...content, text: content.text.slice(0, at) }] : []
  for (let i = 0; i + 1 < files.length; i += 2) {
    const [uri = '', text = ''] = files.slice(i)
    blocks.push({ type: 'resource', uri, mimeType: 'text/plain', text })
  }
  return blocks.length > 0 ? blocks : [content]
}

const terminalInfo = z.object({ terminal_id: z.string(), cwd: maybeText, command: maybeText })
const terminalData = z.object({ terminal_id: z.string(), data: z.string() })
const terminalExit = z.object({ terminal_id: z.string(), exit_code: anything, signal: maybeText })

type TerminalUpdate = Extract<SessionUpdate, { type: 'terminal' | 'terminal_output' }>

/**
 * Reads the state of the agent's own terminals from a tool call's `_meta`: `terminal_info`, `terminal_output` or `terminal_output_delta`
 * (both add to the output), and `terminal_exit`. No specification contains this convention.
 */
function readTerminalMeta(meta: unknown): TerminalUpdate[] {
  if (!isRecord(meta)) return []
  const updates: TerminalUpdate[] = []
  const info = terminalInfo.safeParse(meta.terminal_info).data
  if (info) {
    updates.push({
      type: 'terminal',
      terminal: {
        terminalId: info.terminal_id,
        ...given('cwd', info.cwd),
        ...given('command', info.command),
      },
    })
  }
  for (const raw of [meta.terminal_output, meta.terminal_output_delta]) {
    const output = terminalData.safeParse(raw).data
    if (output) updates.push({ type: 'terminal_output', terminalId: output.terminal_id, text: output.data })
  }
  const exit = terminalExit.safeParse(meta.terminal_exit).data
  if (exit) {
    const exitCode = typeof exit.exit_code === 'number' ? exit.exit_code : null
    updates.push({
      type: 'terminal',
      terminal: { terminalId: exit.terminal_id, exit: { exitCode, signal: exit.signal ?? null } },
    })
  }
  return updates
}

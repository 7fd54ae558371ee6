import { StringDecoder } from 'node:string_decoder'
import * as z from 'zod'
import { isRecord } from '../../common/is-record.ts'
import type { ContentBlock, MessageRole, SessionUpdate, TerminalPatch } from '../model.ts'
import { readBlock } from '../wire/content.ts'
import { anything, type Json, maybeText, readList } from '../wire/lenient.ts'
import { readState } from '../wire/state.ts'
import { readCanCancel, readToolCall, readToolContent } from '../wire/tool-call.ts'
import { dropped, parse, readCommonUpdate, type UpdateSink } from '../wire/update.ts'

export const messageSchema = z.object({ messageId: z.string(), content: anything })
export const toolCallChunkSchema = z.object({ toolCallId: z.string(), content: anything })

/** Maps the `update` of a v2 `session/update` to the model. Parses it only with the schema of its kind, which is small and fast. */
export function readUpdate(raw: unknown, sink: UpdateSinkV2): void {
  const update = isRecord(raw) ? readKind(raw, sink) : dropped(sink, 'it is no object')
  if (update) sink.emit(update)
}

/** Maps an update. Returns `undefined` if there is nothing to report. */
function readKind(raw: Json, sink: UpdateSinkV2): SessionUpdate | undefined {
  switch (raw.sessionUpdate) {
    case 'user_message':
      return readMessage(raw, 'user', sink)
    case 'agent_message':
      return readMessage(raw, 'agent', sink)
    case 'agent_thought':
      return readMessage(raw, 'thought', sink)
    case 'state_update':
      return readState(raw) ?? dropped(sink, 'it names no state')
    case 'tool_call': // of an early draft
    case 'tool_call_update': {
      const toolCall = readToolCall(raw, sink.report, 'clear')
      return toolCall && { type: 'tool_call', toolCall }
    }
    case 'tool_call_content_chunk': {
      const chunk = parse(toolCallChunkSchema, raw, sink)
      if (!chunk) return undefined
      const pieces = readToolContent(chunk.content)
      if (!pieces) return dropped(sink, 'content is missing')
      for (const content of pieces)
        sink.emit({ type: 'tool_call_content', toolCallId: chunk.toolCallId, content })
      return undefined
    }
    case 'terminal_update':
      return readTerminal(raw, sink)
    case 'terminal_output_chunk':
      return readTerminalOutput(raw, sink)
    default:
      return readCommonUpdate(raw, sink)
  }
}

/** Reads a whole message. Absent content keeps the previous content, `null` clears it, and a list replaces it. */
function readMessage(raw: Json, role: MessageRole, sink: UpdateSinkV2): SessionUpdate | undefined {
  const message = parse(messageSchema, raw, sink)
  if (!message) return undefined
  const { messageId, content } = message
  const update: SessionUpdate = { type: 'message', role, messageId }
  if (content === null) update.content = null
  else if (content !== undefined) {
    const blocks = readBlocks(content, sink)
    if (blocks) update.content = blocks
  }
  return update
}

function readBlocks(raw: unknown, sink: UpdateSinkV2): ContentBlock[] | undefined {
  // A single block, or a bare text, is accepted in place of a list.
  if (!Array.isArray(raw) && (isRecord(raw) || typeof raw === 'string')) return readBlocks([raw], sink)
  if (!Array.isArray(raw)) return dropped(sink, 'content is no list')
  return readList(raw, readBlock, sink.report, 'content')
}

export interface UpdateSinkV2 extends UpdateSink {
  readonly terminals: TerminalText
}

export const terminalSchema = z.object({
  terminalId: z.string(),
  command: maybeText,
  cwd: maybeText,
  output: anything,
  exitStatus: anything,
  size: anything,
  capabilities: anything,
})
export const outputSchema = z.object({ data: z.string() })
export const exitSchema = z.object({ exitCode: anything, signal: maybeText })
export const sizeSchema = z.object({ cols: z.number().int().positive(), rows: z.number().int().positive() })
export const outputChunkSchema = z.object({ terminalId: z.string(), data: z.string() })

/** Reads a `terminal_update`. An absent field keeps its value, `null` clears it, and a value replaces it. */
function readTerminal(raw: Json, sink: UpdateSinkV2): SessionUpdate | undefined {
  const wire = parse(terminalSchema, raw, sink)
  if (!wire) return undefined
  const { terminalId, output, exitStatus, size } = wire
  const terminal: TerminalPatch = { terminalId }
  for (const key of ['command', 'cwd'] as const) {
    if (wire[key] !== undefined) terminal[key] = wire[key]
  }
  if (output === null) {
    sink.terminals.clear(terminalId)
    terminal.output = null
  } else if (output !== undefined) {
    const data = outputSchema.safeParse(output).data?.data
    const text = data === undefined ? undefined : sink.terminals.replace(terminalId, data)
    if (text === undefined) sink.report('output is malformed')
    else terminal.output = text
  }
  if (exitStatus === null) terminal.exit = null
  else if (isRecord(exitStatus)) {
    // The presence of the object means that the command has ended.
    const { exitCode, signal } = exitSchema.parse(exitStatus)
    terminal.exit = { exitCode: typeof exitCode === 'number' ? exitCode : null, signal: signal ?? null }
  }
  if (size === null) terminal.size = null
  else {
    const known = sizeSchema.safeParse(size).data
    if (known) terminal.size = known
  }
  const canCancel = readCanCancel(wire.capabilities)
  if (canCancel !== undefined) terminal.canCancel = canCancel
  return { type: 'terminal', terminal }
}

/** Reads a `terminal_output_chunk`. */
function readTerminalOutput(raw: Json, sink: UpdateSinkV2): SessionUpdate | undefined {
  const chunk = parse(outputChunkSchema, raw, sink)
  if (!chunk) return undefined
  const { terminalId } = chunk
  const text = sink.terminals.append(terminalId, chunk.data)
  return text === undefined
    ? dropped(sink, "data isn't base64")
    : { type: 'terminal_output', terminalId, text }
}

/** the maximum number of terminals of one session whose unfinished characters are kept */
const TERMINALS = 1000

/** Base64, with or without padding. */
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/

/**
 * Decodes the output of an agent's own terminals. The output arrives in chunks of bytes, encoded in base64. A chunk may end within a
 * character that continues in the next chunk. Escape sequences stay in the text; the view interprets them.
 */
export class TerminalText {
  readonly #decoders = new Map<string, StringDecoder>()

  /** Returns the text that a chunk adds to a terminal's output; `undefined` if the chunk isn't base64. */
  append(terminalId: string, data: string): string | undefined {
    return BASE64.test(data) ? this.#decoder(terminalId).write(Buffer.from(data, 'base64')) : undefined
  }

  /** Returns the whole output of a terminal, which replaces earlier output; `undefined` if the data isn't base64. */
  replace(terminalId: string, data: string): string | undefined {
    if (!BASE64.test(data)) return undefined
    this.clear(terminalId)
    return this.append(terminalId, data)
  }

  clear(terminalId: string): void {
    this.#decoders.delete(terminalId)
  }

  /** Forgets unfinished characters of all terminals. */
  clearAll(): void {
    this.#decoders.clear()
  }

  #decoder(terminalId: string): StringDecoder {
    let decoder = this.#decoders.get(terminalId)
    if (!decoder) {
      const [oldest] = this.#decoders.size < TERMINALS ? [] : this.#decoders.keys()
      if (oldest !== undefined) this.#decoders.delete(oldest)
      decoder = new StringDecoder('utf8')
      this.#decoders.set(terminalId, decoder)
    }
    return decoder
  }
}

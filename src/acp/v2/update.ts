import * as z from 'zod'
import type { ContentBlock, MessageRole, SessionUpdate } from '../model.ts'
import { readBlock } from '../wire/content.ts'
import { anything, isRecord, type Json, readList } from '../wire/lenient.ts'
import { readState } from '../wire/state.ts'
import { readToolCall, readToolContent } from '../wire/tool-call.ts'
import { dropped, parse, readCommonUpdate } from '../wire/update.ts'
import { readTerminal, readTerminalOutput, type UpdateSinkV2 } from './terminal.ts'

export const messageSchema = z.object({ messageId: z.string(), content: anything })
export const toolCallChunkSchema = z.object({ toolCallId: z.string(), content: anything })

/** Maps the `update` of a v2 `session/update` to the model. Chosen by its kind, so only a small schema runs. */
export function readUpdate(raw: unknown, sink: UpdateSinkV2): void {
  const update = isRecord(raw) ? readKind(raw, sink) : dropped(sink, 'it is no object')
  if (update) sink.emit(update)
}

/** `undefined`: nothing is left to tell. */
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
      const content = readToolContent(chunk.content)
      if (!content) return dropped(sink, 'content is missing')
      return { type: 'tool_call_content', toolCallId: chunk.toolCallId, content }
    }
    case 'terminal_update':
      return readTerminal(raw, sink)
    case 'terminal_output_chunk':
      return readTerminalOutput(raw, sink)
    default:
      return readCommonUpdate(raw, sink)
  }
}

/** A whole message: absent content keeps, `null` clears, a list replaces. */
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
  // One block, or bare text, where a list belongs.
  if (!Array.isArray(raw) && (isRecord(raw) || typeof raw === 'string')) return readBlocks([raw], sink)
  if (!Array.isArray(raw)) return dropped(sink, 'content is no list')
  return readList(raw, readBlock, sink.report, 'content')
}

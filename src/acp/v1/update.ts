import * as z from 'zod'
import type { SessionUpdate } from '../model.ts'
import { isRecord, type Json } from '../wire/lenient.ts'
import { readToolCall } from '../wire/tool-call.ts'
import { dropped, parse, readCommonUpdate, type UpdateSink } from '../wire/update.ts'
import { modeInText, withFilesApart, withoutMachineText } from './machine-text.ts'
import { readTerminalMeta } from './terminal-meta.ts'

/** What an update says, apart from what needs to know what was told before. */
export interface UpdateSinkV1 extends UpdateSink {
  /** `current_mode_update` */
  mode(modeId: string): void
  /** Whether the agent offers a mode of that id. */
  offersMode(modeId: string): boolean
  /** Ids of the terminals that a tool call shows. */
  readonly shownTerminals: Set<string>
}

export const modeSchema = z.object({ currentModeId: z.string() })

/** Maps the `update` of a v1 `session/update` to the model. Chosen by its kind, so only a small schema runs. */
export function readUpdate(raw: unknown, sink: UpdateSinkV1): void {
  const update = isRecord(raw) ? readKind(raw, sink) : dropped(sink, 'it is no object')
  if (update) sink.emit(update)
}

/** `undefined`: nothing is left to tell. */
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
      for (const block of withFilesApart(content)) sink.emit({ ...update, content: block })
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
  if (raw._meta === undefined) return { type: 'tool_call', toolCall }
  sink.emit({ type: 'tool_call', toolCall })
  for (const update of readTerminalMeta(raw._meta)) {
    const terminalId = update.type === 'terminal' ? update.terminal.terminalId : update.terminalId
    // Output that no content refers to would be seen nowhere.
    if (!sink.shownTerminals.has(terminalId)) {
      sink.shownTerminals.add(terminalId)
      const content = { type: 'terminal', terminalId } as const
      sink.emit({ type: 'tool_call_content', toolCallId: toolCall.toolCallId, content })
    }
    sink.emit(update)
  }
  return undefined
}

import { z } from 'zod'
import type { AgentErrorInfo, SessionUpdate } from '../model.ts'
import { detailOf, RpcCode } from '../rpc-error.ts'
import { given } from '../wire/content.ts'
import { anything, isRecord, type Json, maybe, maybeText } from '../wire/lenient.ts'

export const stateSchema = z.object({
  state: z.string(),
  stopReason: maybeText,
  background: anything,
  error: anything,
})
export const backgroundSchema = z.object({ type: z.string(), toolCallId: maybeText, terminalId: maybeText })
export const errorSchema = z.object({ code: maybe(z.number()), message: maybeText, data: anything })

/** A `state_update`; `undefined` when it names no state. */
export function readState(raw: Json): SessionUpdate | undefined {
  const wire = stateSchema.safeParse(raw).data
  if (!wire) return undefined
  const { state, stopReason } = wire
  if (state !== 'idle') return { type: 'state', state }
  return {
    type: 'state',
    state,
    // An absent reason, `null` and one that is no text all say that none is told.
    ...given('stopReason', stopReason),
    ...given('error', readError(wire.error)),
    ...readBackground(wire.background),
  }
}

function readError(raw: unknown): AgentErrorInfo | undefined {
  if (!isRecord(raw)) return undefined
  const { code, message, data } = errorSchema.parse(raw)
  const detail = detailOf(data)
  return {
    code: code ?? RpcCode.internalError,
    message: message?.trim() || detail || 'The agent told of no reason.',
    ...given('detail', message?.trim() ? detail : undefined),
  }
}

/** A list that is malformed counts as not told; an item of a kind newer than Parley is left out. */
function readBackground(raw: unknown): { background?: string[]; backgroundTerminals?: string[] } {
  if (!Array.isArray(raw)) return {}
  const background: string[] = []
  const backgroundTerminals: string[] = []
  for (const item of raw) {
    const work = backgroundSchema.safeParse(item).data
    if (work?.type === 'tool_call' && work.toolCallId) background.push(work.toolCallId)
    if (work?.type === 'terminal' && work.terminalId) backgroundTerminals.push(work.terminalId)
  }
  return { background, ...(backgroundTerminals.length > 0 ? { backgroundTerminals } : {}) }
}

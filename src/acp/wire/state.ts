import * as z from 'zod'
import { isRecord } from '../../common/is-record.ts'
import { errorText, RpcCode } from '../errors.ts'
import type { AgentErrorInfo, ReportedBackground, SessionUpdate, TokenCount } from '../model.ts'
import { given } from './content.ts'
import { readModelTokens } from './extensions.ts'
import { anything, type Json, maybe, maybeNumber, maybeText } from './lenient.ts'

export const stateSchema = z.object({
  state: z.string(),
  stopReason: maybeText,
  background: anything,
  usage: anything,
  _meta: anything,
  error: anything,
})
export const backgroundSchema = z.object({
  type: z.string(),
  toolCallId: maybeText,
  terminalId: maybeText,
  sessionId: maybeText,
})
export const errorSchema = z.object({ code: maybe(z.number()), message: maybeText, data: anything })

export const tokensSchema = z.object({
  totalTokens: z.number().nonnegative(),
  inputTokens: z.number().nonnegative(),
  outputTokens: z.number().nonnegative(),
  thoughtTokens: maybeNumber,
  cachedReadTokens: maybeNumber,
  cachedWriteTokens: maybeNumber,
})

/** Reads the `usage` of a state (v2) or of a prompt's response (v1). */
export function readTokens({ usage, _meta }: Json, of: TokenCount['of']): TokenCount | undefined {
  const wire = tokensSchema.safeParse(usage).data
  if (!wire) return undefined
  return {
    of,
    total: wire.totalTokens,
    input: wire.inputTokens,
    output: wire.outputTokens,
    ...given('thought', wire.thoughtTokens),
    ...given('cachedRead', wire.cachedReadTokens),
    ...given('cachedWrite', wire.cachedWriteTokens),
    ...given('models', readModelTokens(_meta)),
  }
}

/** Reads a `state_update`; returns `undefined` if it contains no state. */
export function readState(raw: Json): SessionUpdate | undefined {
  const wire = stateSchema.safeParse(raw).data
  if (!wire) return undefined
  const { state, stopReason } = wire
  const background = readBackground(wire.background)
  if (state !== 'idle') return { type: 'state', state, ...background }
  return {
    type: 'state',
    state,
    ...given('tokens', readTokens(wire, 'turn')),
    // A reason that is absent, `null` or not a text counts as not reported.
    ...given('stopReason', stopReason),
    ...given('error', readError(wire.error)),
    ...background,
  }
}

export function readError(raw: unknown): AgentErrorInfo | undefined {
  if (!isRecord(raw)) return undefined
  const { code, message, data } = errorSchema.parse(raw)
  const said = errorText(message, data)
  return {
    code: code ?? RpcCode.internalError,
    message: said.message ?? 'The agent gave no reason.',
    ...given('detail', said.detail),
  }
}

const BACKGROUND_KINDS = new Set(['tool_call', 'terminal', 'subagent'])

/** Reads the list of background work. A malformed list counts as not reported. Items of unknown kinds are only counted. */
function readBackground(raw: unknown): ReportedBackground {
  if (!Array.isArray(raw)) return {}
  const background: string[] = []
  const terminals: string[] = []
  const subagents: string[] = []
  let others = 0
  for (const item of raw) {
    const work = backgroundSchema.safeParse(item).data
    if (work?.type === 'tool_call' && work.toolCallId) background.push(work.toolCallId)
    if (work?.type === 'terminal' && work.terminalId) terminals.push(work.terminalId)
    if (work?.type === 'subagent' && work.sessionId) subagents.push(work.sessionId)
    if (work && !BACKGROUND_KINDS.has(work.type)) others++
  }
  return {
    background,
    ...(terminals.length > 0 ? { backgroundTerminals: terminals } : {}),
    ...(subagents.length > 0 ? { backgroundSubagents: subagents } : {}),
    ...(others > 0 ? { backgroundOthers: others } : {}),
  }
}

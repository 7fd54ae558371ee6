import * as z from 'zod'
import { isRecord } from '../../common/is-record.ts'
import { beginning, visible, visibleProse } from '../../common/visible.ts'
import type { ModelTokens, SessionUpdate, UsageLimit } from '../model.ts'
import { given } from './content.ts'
import { maybeNumber, maybeText } from './lenient.ts'

/** Reads the fields that claude-agent-acp and codex-acp add to standard messages in `_meta`, the same in both versions. */

/** The maximum length of a suggestion, in characters. Nobody would send a longer suggestion unchanged. */
const MAX_SUGGESTION = 1000

const suggestionSchema = z.object({
  promptSuggestions: z.object({ suggestions: z.array(z.unknown()) }),
})

/** Reads `session_info_update._meta.promptSuggestions`: suggestions for the next prompt. An empty list removes the previous suggestion. */
export function readSuggestion(meta: unknown): SessionUpdate | undefined {
  const wire = suggestionSchema.safeParse(meta).data
  if (!wire) return undefined
  const texts = wire.promptSuggestions.suggestions.flatMap(one =>
    isRecord(one) && typeof one.text === 'string' ? [one.text.trim()] : [],
  )
  // The user must see the whole text that would be sent, so it must not contain invisible characters.
  const text = texts.find(one => one !== '' && one.length <= MAX_SUGGESTION && visibleProse(one) === one)
  return { type: 'suggestion', ...given('text', text) }
}

/**
 * Reads `_meta.claudeCode.parentToolUseId` of a tool call: the id of the tool call that runs the subagent which made this call. In older
 * versions, a subagent has no session, so its tool calls belong to the main session.
 */
export function readParent(meta: unknown): string | undefined {
  const own = isRecord(meta) ? meta.claudeCode : undefined
  return isRecord(own) && typeof own.parentToolUseId === 'string' ? own.parentToolUseId : undefined
}

const rateLimitSchema = z.object({
  status: maybeText,
  rateLimitType: maybeText,
  utilization: maybeNumber,
  resetsAt: maybeNumber,
})

/** Reads `usage_update._meta["_claude/rateLimit"]`: one limit of the user's subscription. On the wire, `resetsAt` is in seconds. */
export function readLimit(meta: unknown): UsageLimit | undefined {
  const wire = isRecord(meta) ? rateLimitSchema.safeParse(meta['_claude/rateLimit']).data : undefined
  if (!wire?.status) return undefined
  const { status, rateLimitType, utilization, resetsAt } = wire
  // `utilization` is a share from 0 to 1; a larger number is a percentage.
  const limit: UsageLimit = { kind: rateLimitType ?? '', status }
  if (typeof utilization === 'number' && utilization >= 0)
    limit.share = Math.min(1, utilization <= 1 ? utilization : utilization / 100)
  if (typeof resetsAt === 'number' && resetsAt > 0) limit.resetsAt = resetsAt * 1000
  return limit
}

/** The maximum number of models in one turn, and the maximum length of a model's name in characters. */
const MAX_MODELS = 20
const MAX_MODEL_NAME = 100

const modelUsageSchema = z.object({
  model: z.string(),
  token_count: z.object({
    totalTokens: z.number().nonnegative(),
    inputTokens: z.number().nonnegative(),
    outputTokens: z.number().nonnegative(),
  }),
})

/** Reads `_meta.quota.model_usage`, next to the usage of a turn: the turn's tokens by model. */
export function readModelTokens(meta: unknown): ModelTokens[] | undefined {
  const list = isRecord(meta) && isRecord(meta.quota) ? meta.quota.model_usage : undefined
  if (!Array.isArray(list)) return undefined
  const models = list.slice(0, MAX_MODELS).flatMap((one): ModelTokens[] => {
    const wire = modelUsageSchema.safeParse(one).data
    const model = wire && beginning(visible(wire.model).trim(), MAX_MODEL_NAME)
    if (!model) return []
    const { totalTokens, inputTokens, outputTokens } = wire.token_count
    return [{ model, total: totalTokens, input: inputTokens, output: outputTokens }]
  })
  return models.length > 0 ? models : undefined
}

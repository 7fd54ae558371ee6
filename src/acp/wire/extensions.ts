import * as z from 'zod'
import { isRecord } from '../../common/is-record.ts'
import { visibleProse } from '../../common/visible.ts'
import type { SessionUpdate, UsageLimit } from '../model.ts'
import { given } from './content.ts'
import { maybeNumber, maybeText } from './lenient.ts'

/** What claude-agent-acp adds to standard updates in `_meta`, the same in both versions. */

/** Longer suggestions are no prompts that a user would take as they are. Characters. */
const MAX_SUGGESTION = 1000

const suggestionSchema = z.object({
  promptSuggestions: z.object({ suggestions: z.array(z.unknown()) }),
})

/** `session_info_update._meta.promptSuggestions`: what the user may want to ask next. An empty list clears it. */
export function readSuggestion(meta: unknown): SessionUpdate | undefined {
  const wire = suggestionSchema.safeParse(meta).data
  if (!wire) return undefined
  const texts = wire.promptSuggestions.suggestions.flatMap(one =>
    isRecord(one) && typeof one.text === 'string' ? [one.text.trim()] : [],
  )
  // the user must see all of what would be sent
  const text = texts.find(one => one !== '' && one.length <= MAX_SUGGESTION && visibleProse(one) === one)
  return { type: 'suggestion', ...given('text', text) }
}

const rateLimitSchema = z.object({
  status: maybeText,
  rateLimitType: maybeText,
  utilization: maybeNumber,
  resetsAt: maybeNumber,
})

/** `usage_update._meta["_claude/rateLimit"]`: one limit of the user's subscription; `resetsAt` is in seconds. */
export function readLimit(meta: unknown): UsageLimit | undefined {
  const wire = isRecord(meta) ? rateLimitSchema.safeParse(meta['_claude/rateLimit']).data : undefined
  if (!wire?.status) return undefined
  const { status, rateLimitType, utilization, resetsAt } = wire
  // a share; a larger number is a percentage
  const limit: UsageLimit = { kind: rateLimitType ?? '', status }
  if (typeof utilization === 'number' && utilization >= 0)
    limit.share = Math.min(1, utilization <= 1 ? utilization : utilization / 100)
  if (typeof resetsAt === 'number' && resetsAt > 0) limit.resetsAt = resetsAt * 1000
  return limit
}

import * as z from 'zod'
import type { Command, Plan, PlanEntry } from '../model.ts'
import { given } from './content.ts'
import { anything, isRecord, maybeText, type Report, readList } from './lenient.ts'

/** v1 has one plan a session, without an id. */
export const PLAN_ID = 'plan'

export const planEntrySchema = z.object({ content: z.string(), priority: maybeText, status: maybeText })

export function readPlanEntry(raw: unknown): PlanEntry | undefined {
  const entry = planEntrySchema.safeParse(raw).data
  return (
    entry && {
      content: entry.content,
      priority: entry.priority ?? 'medium',
      status: entry.status ?? 'pending',
    }
  )
}

export const planContentSchema = z.object({
  type: maybeText,
  planId: z.string(),
  entries: anything,
  content: maybeText,
  uri: maybeText,
})

/** The plan of a `plan_update`: entries, or a document. `undefined`: malformed, or of a kind newer than Parley. */
export function readPlan(raw: unknown, report: Report): Plan | undefined {
  const wire = planContentSchema.safeParse(raw).data
  if (!wire) return undefined
  const { planId, content, uri } = wire
  switch (wire.type) {
    case 'items':
      return { planId, entries: readList(wire.entries, readPlanEntry, report, 'entries') }
    case 'markdown':
      return typeof content === 'string' ? { planId, entries: [], markdown: content } : undefined
    case 'file':
      return typeof uri === 'string' ? { planId, entries: [], markdown: `<${uri}>`, uri } : undefined
    default:
      return undefined
  }
}

const PLAN_KINDS = new Set(['items', 'markdown', 'file'])

/** The id of a plan of a kind newer than Parley. */
export function newerPlanId(raw: unknown): string | undefined {
  const wire = planContentSchema.safeParse(raw).data
  return wire?.type && !PLAN_KINDS.has(wire.type) ? wire.planId : undefined
}

export const commandSchema = z.object({
  type: maybeText,
  name: z.string().min(1),
  description: maybeText,
  input: anything,
})

/** A slash command; both versions have the same. */
export function readCommand(raw: unknown): Command | undefined {
  const command = commandSchema.safeParse(raw).data
  if (!command) return undefined
  const { input } = command
  const hint = isRecord(input) && typeof input.hint === 'string' ? input.hint : undefined
  return { name: command.name, description: command.description ?? '', ...given('hint', hint) }
}

import { z } from 'zod'
import type { Command, PlanEntry } from '../model.ts'
import { given } from './content.ts'
import { anything, isRecord, maybeText } from './lenient.ts'

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

export const commandSchema = z.object({ name: z.string().min(1), description: maybeText, input: anything })

/** A slash command; both versions have the same. */
export function readCommand(raw: unknown): Command | undefined {
  const command = commandSchema.safeParse(raw).data
  if (!command) return undefined
  const { input } = command
  const hint = isRecord(input) && typeof input.hint === 'string' ? input.hint : undefined
  return { name: command.name, description: command.description ?? '', ...given('hint', hint) }
}

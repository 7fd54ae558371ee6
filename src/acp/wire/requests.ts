import * as z from 'zod'
import type { PermissionOption, PermissionOutcome } from '../model.ts'
import { RpcCode, RpcError } from '../rpc-error.ts'
import { maybeText, problemOf, type Report, readList } from './lenient.ts'

/** Answers a request whose params a schema takes; any others are an error that says what is wrong. */
export async function answer<T extends z.ZodType>(
  schema: T,
  params: unknown,
  use: (params: z.output<T>) => Promise<unknown>,
): Promise<unknown> {
  const parsed = schema.safeParse(params)
  if (!parsed.success) {
    throw new RpcError(RpcCode.invalidParams, `Invalid params: ${problemOf(parsed.error)}`)
  }
  return (await use(parsed.data)) ?? {}
}

export const optionSchema = z.object({ optionId: z.string(), name: maybeText, kind: maybeText })

export function readPermissionOptions(raw: unknown, report: Report): PermissionOption[] {
  return readList(raw, readOption, report, 'options')
}

function readOption(raw: unknown): PermissionOption | undefined {
  const option = optionSchema.safeParse(raw).data
  if (!option) return undefined
  return { optionId: option.optionId, name: option.name ?? option.optionId, kind: option.kind ?? '' }
}

/** The answer to a permission request; both versions have the same. */
export function outcomeToWire(outcome: PermissionOutcome) {
  return outcome.type === 'cancelled'
    ? { outcome: { outcome: 'cancelled' as const } }
    : { outcome: { outcome: 'selected' as const, optionId: outcome.optionId } }
}

import * as z from 'zod'
import { shortened } from '../../common/visible.ts'

/**
 * Schemas of what agents send are lenient by rule: absent, `null` and malformed are the same for an optional field, extra
 * keys are dropped, and enums are open. Only what is necessary to show anything is required.
 */
export function maybe<T extends z.ZodType>(schema: T) {
  return schema.nullish().catch(undefined)
}

export const maybeText = maybe(z.string())
export const maybeNumber = maybe(z.number())
export const maybeFlag = maybe(z.boolean())
/** Characters of a name, a title or a description. Views show them in one line, which would take seconds for a million. */
const MAX_SHOWN = 4096

/** Characters of what may be a command or several paragraphs. */
const MAX_ASKED = 65_536

export function cutShown(text: string, max = MAX_SHOWN): string {
  return shortened(text, max)
}

/** Text that a view shows in one line. */
export const shownText = z.string().transform(text => cutShown(text))
export const maybeShown = maybe(shownText)
/** Text that the user reads as a whole before answering. */
export const maybeAsked = maybe(z.string().transform(text => cutShown(text, MAX_ASKED)))
/** Any value, unchanged. */
export const anything = z.unknown().optional()

export type Json = { [key: string]: unknown }

/** Receives descriptions of dropped values, for the log. */
export type Report = (problem: string) => void

/** Reads each item separately: malformed ones are reported and dropped, the others stay. */
export function readList<T>(
  raw: unknown,
  read: (item: unknown, report: Report) => T | undefined,
  report: Report,
  what: string,
): T[] {
  if (!Array.isArray(raw)) {
    if (raw !== undefined && raw !== null) report(`${what} isn't a list`)
    return []
  }
  const items: T[] = []
  for (const item of raw) {
    const value = read(item, report)
    if (value === undefined) report(`an item of ${what} is malformed`)
    else items.push(value)
  }
  return items
}

/** Items that are read in one task. Reading a malformed one takes up to 10 µs. */
const ITEMS_PER_TASK = 500

/** Like {@link readList}, but a long list doesn't block. */
export async function readLongList<T>(
  raw: unknown,
  read: (item: unknown, report: Report) => T | undefined,
  report: Report,
  what: string,
): Promise<T[]> {
  if (!Array.isArray(raw)) return readList(raw, read, report, what)
  const items: T[] = []
  for (let at = 0; at < raw.length; at += ITEMS_PER_TASK) {
    if (at > 0) await new Promise(resolve => setImmediate(resolve))
    items.push(...readList(raw.slice(at, at + ITEMS_PER_TASK), read, report, what))
  }
  return items
}

/** Like {@link readList}, but `undefined` if there is no list. */
export function maybeList<T>(
  raw: unknown,
  read: (item: unknown, report: Report) => T | undefined,
  report: Report,
  what: string,
): T[] | undefined {
  return Array.isArray(raw) ? readList(raw, read, report, what) : undefined
}

/** The first problem of a failed parse, in words. */
export function validationProblem(error: z.ZodError): string {
  const issue = error.issues[0]
  if (!issue) return 'malformed'
  const path = issue.path.join('.')
  return path === '' ? issue.message : `${path}: ${issue.message}`
}

import * as z from 'zod'
import { shortened } from '../../common/visible.ts'

/**
 * Returns a lenient schema for an optional field, as all schemas of agents' messages have: absent, `null` and malformed values are all
 * `undefined`. In these schemas, unknown keys are dropped, enums are open, and only what is necessary to show anything is required.
 */
export function maybe<T extends z.ZodType>(schema: T) {
  return schema.nullish().catch(undefined)
}

export const maybeText = maybe(z.string())
export const maybeNumber = maybe(z.number())
export const maybeFlag = maybe(z.boolean())
/**
 * The maximum length of a name, a title or a description, in characters. Views show them in one line, which would take seconds for a
 * million characters.
 */
const MAX_SHOWN = 4096

/** The maximum length of a text that may be a command or several paragraphs, in characters. */
const MAX_ASKED = 65_536

export function cutShown(text: string, max = MAX_SHOWN): string {
  return shortened(text, max)
}

/** A text that a view shows in one line. */
export const shownText = z.string().transform(text => cutShown(text))
export const maybeShown = maybe(shownText)
/** A text that the user reads completely before answering. */
export const maybeAsked = maybe(z.string().transform(text => cutShown(text, MAX_ASKED)))
/** Any value, unchanged. */
export const anything = z.unknown().optional()

export type Json = { [key: string]: unknown }

/** Receives descriptions of dropped values, for the log. */
export type Report = (problem: string) => void

/** Reads each item of a list separately. Malformed items are reported and dropped. */
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

/** The number of items that are read in one task. Reading a malformed item takes up to 10 µs. */
const ITEMS_PER_TASK = 500

/** Like {@link readList}, but a long list is read in several tasks, so that it doesn't block. */
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

/** Like {@link readList}, but returns `undefined` if there is no list. */
export function maybeList<T>(
  raw: unknown,
  read: (item: unknown, report: Report) => T | undefined,
  report: Report,
  what: string,
): T[] | undefined {
  return Array.isArray(raw) ? readList(raw, read, report, what) : undefined
}

/** Returns the first problem of a failed parse as text. */
export function validationProblem(error: z.ZodError): string {
  const issue = error.issues[0]
  if (!issue) return 'malformed'
  const path = issue.path.join('.')
  return path === '' ? issue.message : `${path}: ${issue.message}`
}

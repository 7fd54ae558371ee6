/** What the composer may send. See `incoming.ts`. */
import * as z from 'zod'

const key = z.string().min(1).max(256)
const id = z.string().max(4096)
const query = z.string().max(1024)

export const searchMentions = z.object({ query })
export const searchSymbols = z.object({ query })
export const capture = z.object({ kind: z.enum(['selection', 'terminal', 'pick']) })
export const takeDropped = z.object({ uris: z.array(z.string().max(32_768)).max(1000) })
export const moveQueued = z.object({ key, id, to: z.number().int().nonnegative() })
export const editQueued = z.object({ key, id })
export const keepHeight = z.object({ height: z.number().positive().max(10_000).optional() })
export const sendQueuedNow = z.object({ key, id })
export const fetchPrompts = z.object({ key, before: z.number().int().nonnegative() })

/** What a webview may send about permission rules. See `incoming.ts`. */
import * as z from 'zod'

const key = z.string().min(1).max(256)
const id = z.string().max(4096)

export const offerRules = z.object({ key, requestId: id })
export const saveRule = z.object({
  key,
  requestId: id,
  offer: z.number().int().nonnegative(),
  json: z.string().max(65_536),
  target: z.enum(['user', 'workspace']),
})
export const openRules = z.object({
  scope: z.enum(['user', 'workspace', 'folder']),
  folder: z.string().max(4096).optional(),
})

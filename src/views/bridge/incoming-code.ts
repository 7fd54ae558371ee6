/** What a webview may send about code, checked. See `incoming.ts`. */
import * as z from 'zod'

const text = z.string().max(16 * 1024 * 1024)
const language = z.string().max(256)
const line = z.number().int().positive()

export const insertCode = z.object({ text })
export const openText = z.object({ text, language })
export const applyCode = z.object({
  text,
  language,
  path: z.string().min(1).max(4096).optional(),
  from: line.optional(),
  to: line.optional(),
})
export const openBlob = z.object({
  name: z.string().max(4096),
  mimeType: z.string().max(256),
  data: z.string().max(64 * 1024 * 1024),
})

/** What a webview may send about changed files. See `incoming.ts`. */
import * as z from 'zod'

const key = z.string().min(1).max(256)
const path = z.string().min(1).max(32_768)

export const oneChange = z.object({ key, path })
export const allChanges = z.object({ key })
export const someChanges = z.object({ key, path: path.optional() })

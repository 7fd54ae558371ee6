/** What a webview may send about following the agent. See `incoming.ts`. */
import * as z from 'zod'

export const setFollow = z.object({ on: z.boolean() })

/** What the History page may send, checked in the host. See `contract.ts`. */
import * as z from 'zod'

const id = z.string().max(4096)

export const historyMore = z.object({ agentId: id })
export const historyAct = z.object({
  action: z.enum(['load', 'resume', 'close', 'show', 'delete', 'fork', 'archive', 'unarchive']),
  agentId: id,
  sessionId: id,
})
export const historyStartAgent = z.object({ agentId: id })
export const runCommand = z.object({ command: z.string().max(256) })

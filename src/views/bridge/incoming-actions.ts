import * as z from 'zod'

const key = z.string().min(1).max(256)
const entryId = z.string().max(4096)

export const runEntryCommand = z.object({
  command: z.enum(['parley.copyMessage', 'parley.editPrompt', 'parley.sendAgain']),
  key,
  entryId,
})
/** VS Code adds what it knows itself. */
export const entryContext = z.object({ conversation: key, entry: entryId.optional() })

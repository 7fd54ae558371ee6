/**
 * What a webview may send, checked in the host before anything is done with it. Sizes are bounded: a webview shows what
 * an agent wrote, and is not trusted more than the agent.
 */
import { z } from 'zod'

const MiB = 1024 * 1024
/** Ids come from agents: any text, an empty one too. */
const id = z.string().max(4096)
const key = z.string().min(1).max(256)
const path = z.string().min(1).max(32_768)
const base64 = z.string().max(64 * MiB)
const mimeType = z.string().max(256)

/** No parameters: vscode-jsonrpc sends nothing, `null` or `{}` for them. */
export const nothing = z.unknown().transform(() => undefined) as unknown as z.ZodType<void>

const attachment = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string().max(16 * MiB) }),
  z.object({ type: z.literal('image'), data: base64, mimeType, uri: path.optional() }),
  z.object({ type: z.literal('audio'), data: base64, mimeType }),
  z.object({
    type: z.literal('resource_link'),
    uri: path,
    name: z.string().max(4096),
    title: z.string().max(4096).optional(),
    description: z.string().max(16_384).optional(),
    mimeType: mimeType.optional(),
    size: z.number().int().nonnegative().optional(),
  }),
  z.object({
    type: z.literal('resource'),
    uri: path,
    mimeType: mimeType.optional(),
    text: z
      .string()
      .max(16 * MiB)
      .optional(),
    blob: base64.optional(),
  }),
])

export const fetchEntries = z
  .object({ key, from: z.number().int().nonnegative(), to: z.number().int().nonnegative() })
  .refine(range => range.from <= range.to && range.to - range.from <= 2000, 'a range of at most 2000 entries')
export const sendPrompt = z.object({
  key,
  text: z.string().max(16 * MiB),
  attachments: z.array(attachment).max(256),
})
export const cancelTurn = z.object({ key })
export const cancelWork = z.object({
  key,
  work: z.union([z.object({ toolCallId: id }), z.object({ terminalId: id })]),
})
export const withdrawPrompt = z.object({ key, id })
export const sendQueued = z.object({ key })
export const answerPermission = z.object({ key, requestId: id, optionId: id.optional() })
const formValue = z.union([
  z.string().max(MiB),
  z.number(),
  z.boolean(),
  z.array(z.string().max(16_384)).max(4096),
])
/** Whether the values fit the form is looked at where the form is known. */
export const answerElicitation = z.object({
  key,
  requestId: id,
  answer: z.discriminatedUnion('action', [
    z.object({ action: z.literal('accept'), content: z.record(id, formValue).optional() }),
    z.object({ action: z.literal('decline') }),
    z.object({ action: z.literal('cancel') }),
  ]),
})
export const setConfigOption = z.object({
  key,
  optionId: id,
  value: z.union([z.string().max(4096), z.boolean()]),
})
export const cardAction = z.object({ cardId: id, buttonId: id })
export const startSession = z.object({ agentId: id.optional() })
export const saveDraft = z.object({ key, text: z.string().max(16 * MiB) })
export const openLink = z.object({ href: path })
export const openFile = z.object({ path, line: z.number().int().positive().optional() })
export const openDiff = z.object({
  key,
  entryId: id,
  content: z.number().int().nonnegative(),
  change: z.number().int().nonnegative(),
})
export const copy = z.object({ text: z.string().max(64 * MiB) })
export const runCommand = z.object({ command: z.string().max(256) })

export const historyMore = z.object({ agentId: id })
export const historyAct = z.object({
  action: z.enum(['load', 'resume', 'close', 'show', 'delete', 'fork']),
  agentId: id,
  sessionId: id,
})
export const historyStartAgent = z.object({ agentId: id })

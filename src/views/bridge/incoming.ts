/**
 * What a webview may send, checked in the host before anything is done with it. Sizes are bounded: a webview shows what
 * an agent wrote, and is not trusted more than the agent.
 */
import * as z from 'zod'

const MiB = 1024 * 1024
/** Ids come from agents: any text, an empty one too. */
const id = z.string().max(4096)
const key = z.string().min(1).max(256)
const path = z.string().min(1).max(32_768)
const base64 = z.string().max(64 * MiB)
const mimeType = z.string().max(256)
/** Of what an agent sent: a prompt's own blocks never have it. */
const agentOnly = z.literal(true).optional()

/** No parameters: vscode-jsonrpc sends nothing, `null` or `{}` for them. */
export const nothing = z.unknown().transform(() => undefined) as unknown as z.ZodType<void>

const block = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string().max(16 * MiB), agentOnly }),
  z.object({ type: z.literal('image'), data: base64, mimeType, uri: path.optional(), agentOnly }),
  z.object({ type: z.literal('audio'), data: base64, mimeType, agentOnly }),
  z.object({
    type: z.literal('resource_link'),
    agentOnly,
    uri: path,
    name: z.string().max(4096),
    title: z.string().max(4096).optional(),
    description: z.string().max(16_384).optional(),
    mimeType: mimeType.optional(),
    size: z.number().int().nonnegative().optional(),
  }),
  z.object({
    type: z.literal('resource'),
    agentOnly,
    uri: path,
    mimeType: mimeType.optional(),
    text: z
      .string()
      .max(16 * MiB)
      .optional(),
    blob: base64.optional(),
  }),
])
const line = z.number().int().positive()
const refs = [
  z.object({ type: z.literal('file'), uri: path }),
  z.object({ type: z.literal('folder'), uri: path }),
  z.object({ type: z.literal('symbol'), uri: path, startLine: line, endLine: line }),
  z.object({ type: z.literal('problems'), uri: path.optional() }),
  z.object({ type: z.literal('changes'), staged: z.boolean() }),
] as const
const label = z.string().max(4096)
const attachment = z.object({
  id,
  label,
  icon: z.string().max(256),
  detail: z.string().max(32_768).optional(),
  content: z.discriminatedUnion('type', [...block.options, ...refs]),
})

export const fetchEntries = z
  .object({ key, from: z.number().int().nonnegative(), to: z.number().int().nonnegative() })
  .refine(range => range.from <= range.to && range.to - range.from <= 2000, 'a range of at most 2000 entries')
export const watchTerminals = z.object({ key, ids: z.array(id).max(1000) })
export const showToolCalls = z.object({ key, ids: z.array(id).max(1000) })
export const findPrompt = z.object({
  key,
  from: z.number().int().nonnegative(),
  direction: z.union([z.literal(1), z.literal(-1)]),
})
export const cancelTurn = z.object({ key })
export const cancelWork = z.object({
  key,
  work: z.union([z.object({ toolCallId: id }), z.object({ terminalId: id }), z.object({ subagentId: id })]),
})
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
export const toggleFavorite = z.object({ key, optionId: id, value: z.string().max(4096) })
export const cardAction = z.object({ cardId: id, buttonId: id })
export const startSession = z.object({ agentId: id.optional() })
const offset = z.number().int().nonnegative()
export const draftText = z.object({
  text: z.string().max(16 * MiB),
  marks: z.array(z.object({ from: offset, to: offset, id })).max(1024),
})
const promptId = z.string().min(1).max(64)
export const saveDraft = draftText.extend({ key })
export const draftItems = z.array(attachment).max(1024)
const draft = draftText.extend({ items: draftItems })
export const enqueuePrompt = z.object({ key, id: promptId, draft })
export const takeBack = z.object({ key, ids: z.array(promptId).max(1024), draft })
export const saveDraftItems = z.object({ key, items: draftItems })
export const openLink = z.object({ href: path })
const position = z.number().int().positive().optional()
export const openFile = z.object({ path, line: position, column: position })
/** Of a change: also for `FindFragment`. */
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
  action: z.enum(['load', 'resume', 'close', 'show', 'delete', 'fork', 'archive', 'unarchive']),
  agentId: id,
  sessionId: id,
})
export const historyStartAgent = z.object({ agentId: id })

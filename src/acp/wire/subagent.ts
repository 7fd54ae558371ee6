import * as z from 'zod'
import type { SessionMessagePatch, SubagentPatch, SubagentState } from '../model.ts'
import { given, readBlock } from './content.ts'
import { anything, maybe, maybeText, type Report, readList } from './lenient.ts'
import { readError, stateSchema } from './state.ts'
import { readCanCancel } from './tool-call.ts'

export const subagentSchema = z.object({
  sessionId: z.string().min(1),
  title: maybeText,
  description: maybeText,
  capabilities: anything,
  state: anything,
  cwd: maybeText,
  additionalDirectories: maybe(z.array(z.string())),
})

/** A `subagent_update`: here `null` clears and absent keeps, so the two are told apart; what is malformed keeps. */
export function readSubagent(wire: z.output<typeof subagentSchema>, report: Report): SubagentPatch {
  const patch: SubagentPatch = { sessionId: wire.sessionId }
  for (const key of ['title', 'description', 'cwd'] as const) {
    const value = wire[key]
    if (value !== undefined) patch[key] = value
  }
  if (wire.additionalDirectories !== undefined) patch.additionalDirectories = wire.additionalDirectories
  const canCancel = readCanCancel(wire.capabilities)
  if (canCancel !== undefined) patch.canCancel = canCancel
  if (wire.state === null) patch.state = null
  else if (wire.state !== undefined) {
    const state = readSubagentState(wire.state)
    if (state) patch.state = state
    else report('state names no state')
  }
  return patch
}

function readSubagentState(raw: unknown): SubagentState | undefined {
  const wire = stateSchema.safeParse(raw).data
  if (!wire) return undefined
  const { state: activity, stopReason, error } = wire
  return { activity, ...given('stopReason', stopReason), ...given('error', readError(error)) }
}

export const sessionMessageSchema = z.object({
  messageId: z.string(),
  senderSessionId: maybeText,
  recipientSessionId: maybeText,
  senderMessageId: maybeText,
  recipientMessageId: maybeText,
  content: anything,
})

/** A `session_message`; see {@link readSubagent} for absent and `null`. */
export function readSessionMessage(
  wire: z.output<typeof sessionMessageSchema>,
  report: Report,
): SessionMessagePatch {
  const patch: SessionMessagePatch = { messageId: wire.messageId }
  if (wire.senderSessionId !== undefined) patch.from = wire.senderSessionId
  if (wire.recipientSessionId !== undefined) patch.to = wire.recipientSessionId
  if (wire.senderMessageId !== undefined) patch.fromMessageId = wire.senderMessageId
  if (wire.recipientMessageId !== undefined) patch.toMessageId = wire.recipientMessageId
  if (wire.content === null) patch.content = null
  else if (Array.isArray(wire.content)) patch.content = readList(wire.content, readBlock, report, 'content')
  else if (wire.content !== undefined) report('content is no list')
  return patch
}

export const sessionMessageChunkSchema = z.object({ messageId: z.string(), content: anything })

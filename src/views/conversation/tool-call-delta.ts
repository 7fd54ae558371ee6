import { isDeepStrictEqual } from 'node:util'
import type { ToolCallContent } from '../../acp/model.ts'
import type { ToolCallEntry } from '../../conversation/state.ts'
import type { PatchOp } from '../bridge/conversation.ts'

type ToolCallOp = Extract<PatchOp, { op: 'tool' }>

/** A tool call as it was sent: its content is a list of its own, since the conversation's grows in place. */
export function sentToolCall(entry: ToolCallEntry): ToolCallEntry {
  return { ...entry, content: [...entry.content] }
}

/**
 * What a tool call has that it had not when it was sent; `undefined`: nothing. Agents send all of the content with each
 * update: items that say the same are kept, and of a text that became longer only what is new is sent.
 */
export function toolCallDelta(before: ToolCallEntry, entry: ToolCallEntry): ToolCallOp | undefined {
  const op: ToolCallOp = { op: 'tool', id: entry.id, set: {} }
  const set = op.set as Record<string, unknown>
  const keys = new Set([...Object.keys(before), ...Object.keys(entry)]) as Set<keyof ToolCallEntry>
  for (const key of keys) {
    if (key === 'content' || isDeepStrictEqual(before[key], entry[key])) continue
    if (entry[key] === undefined) op.cleared = [...(op.cleared ?? []), key]
    else set[key] = entry[key]
  }
  const content = contentDelta(before.content, entry.content)
  if (content) op.content = content
  return content || op.cleared || Object.keys(set).length > 0 ? op : undefined
}

function contentDelta(
  before: readonly ToolCallContent[],
  now: readonly ToolCallContent[],
): ToolCallOp['content'] {
  let keep = 0
  while (keep < before.length && keep < now.length && isDeepStrictEqual(before[keep], now[keep])) keep++
  if (keep === before.length && keep === now.length) return undefined
  const text = textOf(now[keep])
  const was = textOf(before[keep])
  if (text !== undefined && was !== undefined && text.startsWith(was) && isSameApart(before[keep], now[keep]))
    return { keep, append: text.slice(was.length), add: now.slice(keep + 1) }
  return { keep, add: now.slice(keep) }
}

function textOf(content: ToolCallContent | undefined): string | undefined {
  return content?.type === 'content' && content.content.type === 'text' ? content.content.text : undefined
}

/** Whether two texts differ in nothing but their words. */
function isSameApart(one: ToolCallContent | undefined, other: ToolCallContent | undefined): boolean {
  if (one?.type !== 'content' || other?.type !== 'content') return false
  return isDeepStrictEqual(
    { ...one, content: { ...one.content, text: '' } },
    { ...other, content: { ...other.content, text: '' } },
  )
}

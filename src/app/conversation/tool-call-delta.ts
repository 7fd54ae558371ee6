import { isDeepStrictEqual } from 'node:util'
import type { ToolCallContent } from '../../acp/model.ts'
import type { CutToolCall, PatchOp } from '../../bridge/conversation.ts'
import type { ToolCallEntry } from '../../conversation/state.ts'

type ToolCallOp = Extract<PatchOp, { op: 'tool' }>

/** The maximum length of content that a tool call keeps while only its line is shown, in characters. */
const MAX_FOLDED = 1000
/** The maximum size, in characters, of a diff whose changed lines are counted for a collapsed tool call. The page requests longer diffs. */
const MAX_FOLDED_DIFF = 16_000
/** The length of the end of a command's output from which the last lines are shown, in characters. */
const TAIL_LENGTH = 4000

/** Returns a tool call without the long content that its line doesn't show, since most tool calls are never expanded. */
export function cutToolCall(entry: ToolCallEntry): ToolCallEntry {
  const tail = entry.toolKind === 'execute' && entry.status !== 'completed' ? TAIL_LENGTH : 0
  const last = entry.content.findLastIndex(textOf)
  const content = entry.content.map((item, i) => cutContent(item, i === last ? tail : 0))
  const isCut = content.some((item, i) => item !== entry.content[i])
  const hasLongInput = entry.toolKind !== 'execute' && isLong(entry.rawInput, MAX_FOLDED)
  const hasLongOutput = isLong(entry.rawOutput, MAX_FOLDED)
  if (!isCut && !hasLongInput && !hasLongOutput) return entry
  const cut: CutToolCall = { ...entry, content, cut: true }
  if (hasLongInput) delete cut.rawInput
  if (hasLongOutput) delete cut.rawOutput
  if (hasLongOutput && typeof entry.rawOutput === 'string' && entry.content.length === 0 && tail > 0)
    cut.rawOutput = entry.rawOutput.slice(-tail)
  return cut
}

function cutContent(item: ToolCallContent, tail: number): ToolCallContent {
  if (item.type === 'content') {
    const text = textOf(item)
    if (text === undefined ? !isLong(item.content, MAX_FOLDED) : text.length <= Math.max(MAX_FOLDED, tail))
      return item
    return { type: 'content', content: { type: 'text', text: tail > 0 ? (text ?? '').slice(-tail) : '' } }
  }
  if (item.type === 'diff') {
    if (!isLong(item, MAX_FOLDED_DIFF)) return item
    const changes = item.changes.map(({ oldText: _, newText: __, ...change }) => change)
    return { type: 'diff', changes }
  }
  if (item.type === 'unknown' && isLong(item.raw, MAX_FOLDED)) return { ...item, raw: undefined }
  return item
}

/** Whether a JSON value has more than about `most` characters. Stops reading there. */
function isLong(value: unknown, most: number): boolean {
  let remaining = most
  const visit = (part: unknown): void => {
    remaining -= typeof part === 'string' ? part.length : 4
    if (remaining < 0 || typeof part !== 'object' || part === null) return
    for (const key in part) {
      remaining -= key.length
      visit((part as { [key: string]: unknown })[key])
      if (remaining < 0) return
    }
  }
  visit(value)
  return remaining < 0
}

/** Returns a copy of a tool call as it was sent. The list of its content is copied because the original list grows in place. */
export function sentToolCall(entry: ToolCallEntry): ToolCallEntry {
  return { ...entry, content: [...entry.content] }
}

/**
 * Returns the changes of a tool call since it was sent; `undefined` if there are none. Agents send the whole content with each update, so
 * equal items are kept, and of a text that grew only the new part is sent.
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

/** Whether two blocks are text blocks that differ only in their text. */
function isSameApart(one: ToolCallContent | undefined, other: ToolCallContent | undefined): boolean {
  if (one?.type !== 'content' || other?.type !== 'content') return false
  return isDeepStrictEqual(
    { ...one, content: { ...one.content, text: '' } },
    { ...other, content: { ...other.content, text: '' } },
  )
}

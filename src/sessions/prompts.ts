import { randomUUID } from 'node:crypto'
import type { ContentBlock } from '../acp/model.ts'
import { draftOf } from '../common/draft.ts'
import { attachmentOf, type StoredPrompt } from '../conversation/attachment.ts'
import { messageText, wholeMessage } from '../conversation/entries/message.ts'
import { writtenBlocks } from '../conversation/rewinds.ts'
import type { Entry, EntryId, MessageEntry, SessionState } from '../conversation/state.ts'
import { isWrittenPrompt, startsTurn } from '../conversation/user-prompts.ts'

/**
 * Returns the prompt that began the turn of an entry: the entry itself, or the last prompt before the entry. Without an entry, returns the
 * prompt of the conversation's last turn.
 */
export function promptBefore(
  state: Pick<SessionState, 'entries' | 'index'>,
  entry?: EntryId,
): MessageEntry | undefined {
  const last = entry === undefined ? state.entries.length - 1 : (state.index.get(entry) ?? -1)
  for (let i = last; i >= 0; i--) {
    const one = state.entries[i]
    if (one && startsTurn(one)) return one
  }
  return undefined
}

/** A copy of the prompt as the user wrote it, to be sent or edited again. */
export function promptAgain({ blocks }: MessageEntry): StoredPrompt {
  return { id: randomUUID(), draft: draftOf(writtenBlocks(blocks), attachmentOf) }
}

/** Maximum number of prompts at once, and of their total size in UTF-16 units, since images are large. */
const MAX_PROMPTS = 50
const MAX_LENGTH = 4_000_000

/**
 * Returns the user's last prompts before an entry, oldest first. `from`: index of the entry of the first returned prompt; 0 if there are no
 * earlier prompts.
 */
export function promptsBefore(
  entries: readonly Entry[],
  before: number,
): { prompts: ContentBlock[][]; from: number } {
  const prompts: ContentBlock[][] = []
  let length = 0
  for (let i = Math.min(before, entries.length) - 1; i >= 0; i--) {
    const entry = entries[i]
    if (!entry || !isWrittenPrompt(entry)) continue
    prompts.unshift(entry.blocks)
    length += contentLength(entry.blocks)
    if (prompts.length >= MAX_PROMPTS || length >= MAX_LENGTH) return { prompts, from: i }
  }
  return { prompts, from: 0 }
}

/** Returns the agent's last message. */
export function lastAnswer(state: Pick<SessionState, 'entries'>): MessageEntry | undefined {
  return state.entries.findLast((one): one is MessageEntry => one.kind === 'message' && one.role === 'agent')
}

/** Returns the text of the agent's messages in a turn: before, between and after its tool calls. */
export function turnAnswer({ entries }: Pick<SessionState, 'entries'>, turn: number): string {
  const parts: string[] = []
  for (const [at, entry] of entries.entries()) {
    if (entry.turn !== turn || entry.within !== undefined || entry.outOfTurn) continue
    if (entry.kind !== 'message' || entry.role !== 'agent' || entry.continues) continue
    parts.push(messageText(wholeMessage(entries, at) ?? entry))
  }
  return parts.filter(text => text.trim() !== '').join('\n\n')
}

function contentLength(blocks: readonly ContentBlock[]): number {
  let length = 0
  for (const block of blocks) {
    if (block.type === 'text') length += block.text.length
    else if ('data' in block) length += block.data.length
    else if (block.type === 'resource') length += (block.text ?? block.blob ?? '').length
  }
  return length
}

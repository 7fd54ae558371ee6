import type { ContentBlock, MessageRole } from '../../acp/model.ts'
import { isBlank, ownBlocks, pushBlock } from '../blocks.ts'
import { append, appendContent, endThought, type Step, touch } from './books.ts'
import { takeEcho } from './echo.ts'

/**
 * A piece of a message. With an id it goes to that message, unless the id was used with another role since; without
 * one it goes on with the last message if that is of the same role, has no id either, and nothing came after it.
 *
 * Text goes on with the text before it, except in a user message without an id: nobody streams those. Its pieces are
 * the blocks of a prompt, or prompts that no answer came between, and stay apart.
 */
export function messageChunk(
  step: Step,
  role: MessageRole,
  messageId: string | undefined,
  content: ContentBlock,
): void {
  if (isBlank(content)) return
  if (role === 'user' && isOwnPrompt(step, messageId, [content])) return
  const { state } = step
  const position = findOpen(step, role, messageId)
  if (position === undefined) {
    createMessage(step, role, messageId, [content])
    return
  }
  if (role !== 'thought') endThought(step)
  const entry = state.entries[position]
  if (entry?.kind !== 'message') return
  if (role === 'user' && messageId === undefined) {
    pushBlock(entry.blocks, content)
    touch(step, position)
  } else appendContent(step, position, entry.blocks, content)
}

/** A whole message: absent content keeps what is there, `null` clears it, a list replaces it. */
export function messageUpsert(
  step: Step,
  role: MessageRole,
  messageId: string,
  content: readonly ContentBlock[] | null | undefined,
): void {
  if (role === 'user' && isOwnPrompt(step, messageId, content ?? [])) return
  const { state } = step
  const position = state.books.messages.get(key(role, messageId))
  if (position === undefined) {
    createMessage(step, role, messageId, content ?? [])
    return
  }
  const entry = state.entries[position]
  if (content === undefined || entry?.kind !== 'message') return
  entry.blocks = ownBlocks(content)
  touch(step, position)
}

function isOwnPrompt(step: Step, messageId: string | undefined, content: readonly ContentBlock[]): boolean {
  const position = step.state.books.echo?.position
  const echo = takeEcho(step.state, messageId, content)
  if (echo === 'claimed' && position !== undefined) touch(step, position)
  return echo !== undefined
}

function findOpen(step: Step, role: MessageRole, messageId: string | undefined): number | undefined {
  const { books, entries } = step.state
  if (messageId !== undefined) {
    return books.roles.get(messageId) === role ? books.messages.get(key(role, messageId)) : undefined
  }
  const position = books.openMessage
  const entry = position === undefined ? undefined : entries[position]
  return entry?.kind === 'message' && entry.role === role && entry.messageId === undefined
    ? position
    : undefined
}

function createMessage(
  step: Step,
  role: MessageRole,
  messageId: string | undefined,
  content: readonly ContentBlock[],
): void {
  const { books } = step.state
  // While a turn of ours runs, another user message is part of it; else it begins a turn.
  if (role === 'user' && !books.ownTurn) beginTurn(step)
  const position = appendMessage(step, role, messageId, content)
  if (messageId === undefined) return
  books.messages.set(key(role, messageId), position)
  books.roles.set(messageId, role)
}

export function appendMessage(
  step: Step,
  role: MessageRole,
  messageId: string | undefined,
  content: readonly ContentBlock[],
): number {
  const { books } = step.state
  const blocks = ownBlocks(content)
  const position = append(
    step,
    messageId === undefined
      ? { kind: 'message', role, blocks }
      : { kind: 'message', role, messageId, blocks },
  )
  books.openMessage = position
  if (role === 'thought') books.openThought = position
  return position
}

export function beginTurn(step: Step): void {
  // A subagent works within the turn in which it was asked to.
  if (step.state.within !== undefined) return
  step.state.turn += 1
  step.changes.push({ type: 'head', key: 'turn' })
}

function key(role: MessageRole, messageId: string): string {
  return `${role}\n${messageId}`
}

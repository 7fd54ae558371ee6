/**
 * The echo rule. A prompt of ours is shown the moment it is sent; many agents then tell it again as a user message.
 *
 * From a prompt until the next one, the first user message that begins like it is its echo: the entry that stands is
 * kept as the person wrote it, takes over the echo's message id, and everything under that id is left out. "Begins
 * like it" compares text without white space (agents re-wrap it): the echo's text is a beginning of the prompt's, or
 * the prompt's a beginning of the echo's (agents append what they expanded). A block that is not text is part of the
 * echo when the prompt has one of its type that was not yet echoed. An echo without message ids must go on as the
 * prompt goes on. A user message that says anything else is a message of its own, shown as such. Where the agent
 * names the id with its answer to the prompt (v2), that id alone decides.
 *
 * In a replay there is no prompt of ours, so nothing is ever left out.
 */
import type { ContentBlock } from '../../acp/model.ts'
import { textOf } from '../blocks.ts'
import type { Echo, ReducingState } from './reducing-state.ts'

export function expectEcho(position: number, content: readonly ContentBlock[]): Echo {
  return {
    position,
    rest: squeeze(textOf(content)),
    others: content.filter(block => block.type !== 'text').map(block => block.type),
  }
}

/** Whether the piece of a user message is the echo of a prompt of ours, and so is shown already. */
export function takeEcho(
  state: ReducingState,
  messageId: string | undefined,
  content: readonly ContentBlock[],
): 'ours' | 'claimed' | undefined {
  const { memory } = state
  if (messageId !== undefined && memory.ownMessages.has(messageId)) return 'ours'
  const echo = memory.echo
  if (!echo) return undefined
  if (messageId === undefined) return content.every(block => goesOn(echo, block)) ? 'ours' : undefined
  if (memory.messages.has(`user\n${messageId}`)) return undefined
  const first = content[0]
  // A message that begins empty: its first piece will tell.
  if (first === undefined) return 'ours'
  if (!goesOn(echo, first)) return undefined
  claimEcho(state, messageId)
  return 'claimed'
}

/** Gives the prompt that waits for its echo its message id. */
export function claimEcho(state: ReducingState, messageId: string): void {
  const { memory } = state
  const echo = memory.echo
  if (!echo) return
  const entry = state.entries[echo.position]
  if (entry?.kind === 'message') entry.messageId = messageId
  memory.ownMessages.add(messageId)
  memory.echo = undefined
}

function goesOn(echo: Echo, block: ContentBlock): boolean {
  if (block.type !== 'text') {
    const found = echo.others.indexOf(block.type)
    if (found !== -1) echo.others.splice(found, 1)
    return found !== -1
  }
  const text = squeeze(block.text)
  if (echo.rest.startsWith(text)) {
    echo.rest = echo.rest.slice(text.length)
    return true
  }
  if (echo.rest === '' || !text.startsWith(echo.rest)) return false
  echo.rest = ''
  return true
}

function squeeze(text: string): string {
  return text.replace(/\s+/g, '')
}

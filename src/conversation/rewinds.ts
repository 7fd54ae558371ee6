/**
 * Rewinds of a conversation: the user restored files to their state before a prompt, or forked the conversation there. ACP can't remove
 * messages, so the later entries stay and are shown as set aside, and the next prompt tells the agent.
 */

import type { ContentBlock } from '../acp/model.ts'
import { shortened } from '../common/visible.ts'
import { textOf } from './blocks.ts'
import { continuedIn } from './entries/notice.ts'
import type { Entry, MessageEntry, NoticeEntry, Rewind, SessionState } from './state.ts'
import { isPrompt } from './user-prompts.ts'

/** Maximum length of a quoted prompt, in UTF-16 units. */
const MAX_QUOTE = 200

export type RewindNotice = NoticeEntry & { rewind: Rewind }

/** the rewinds among the first `searched` entries, whose last entry is `last`; by the list of entries */
const found = new WeakMap<readonly Entry[], { searched: number; last?: Entry; positions: number[] }>()

/** Returns the rewinds that the user hasn't undone, in order. */
export function rewindsOf({ entries }: Pick<SessionState, 'entries'>): RewindNotice[] {
  let known = found.get(entries)
  // entries are only appended, unless another window's entries replace the last ones
  if (!known || entries[known.searched - 1] !== known.last) known = { searched: 0, positions: [] }
  for (; known.searched < entries.length; known.searched++)
    if (isRewind(entries[known.searched]!)) known.positions.push(known.searched)
  found.set(entries, { ...known, ...(entries.length > 0 && { last: entries.at(-1)! }) })
  return known.positions.flatMap(position => {
    const entry = entries[position]
    return entry && isRewind(entry) && !entry.rewind.withdrawn ? entry : []
  })
}

/** Returns the prompt that started a turn. */
export function promptOfTurn(
  { entries }: Pick<SessionState, 'entries'>,
  turn: number,
): MessageEntry | undefined {
  return entries.find((entry): entry is MessageEntry => isPrompt(entry) && entry.turn === turn)
}

/** Returns the note about rewinds to send to the agent with the next prompt; `undefined` if there is no note or it was already sent. */
export function rewindNote(state: Pick<SessionState, 'entries'>): ContentBlock | undefined {
  const { entries } = state
  const lastSent = entries.findLastIndex(entry => isPrompt(entry) && !isCommand(entry.blocks))
  const rewinds = rewindsOf(state).filter(
    notice => !notice.rewind.forgotten && entries.indexOf(notice) > lastSent,
  )
  if (rewinds.length === 0) return undefined
  const from = Math.min(...rewinds.map(({ rewind }) => rewind.from))
  const prompt = promptOfTurn(state, from)
  const text = prompt ? textOf(prompt.blocks.filter(block => !isForAgent(block))).trim() : ''
  const quote = shortened(text, MAX_QUOTE)
  const files = rewinds.some(({ rewind }) => rewind.restored !== undefined)
    ? 'The files that changed since then were restored to how they were before it, apart from what the user changed. Read files again before you edit them.'
    : 'The files on disk were left as they are.'
  return {
    type: 'text',
    text: `The user went back to before an earlier prompt. Disregard that prompt and everything that followed it. ${files}\n\nThe prompt was:\n${quote}`,
    agentOnly: true,
  }
}

/**
 * Returns the id of the agent's message after which a turn began. Returns `undefined` if there is no such message, or if the agent sent
 * none in the turn before: a fork at its last message would then lack a prompt.
 */
export function messageBefore({ entries }: Pick<SessionState, 'entries'>, turn: number): string | undefined {
  for (let at = entries.length - 1; at >= 0; at--) {
    const entry = entries[at]
    // the agent of this session has no messages from before the continuation
    if (entry && continuedIn(entry)) return undefined
    if (!entry || entry.turn >= turn || entry.kind !== 'message' || entry.within !== undefined) continue
    if (entry.role === 'user') return undefined
    if (entry.role === 'agent') return entry.messageId
  }
  return undefined
}

/** Whether the prompt is a slash command, which must be sent alone: some agents don't recognize a slash command next to other text. */
export function isCommand(blocks: readonly ContentBlock[]): boolean {
  const [first] = blocks
  return first !== undefined && textOf([first]).trimStart().startsWith('/')
}

/** Returns the blocks of a prompt that the user wrote. */
export function writtenBlocks(blocks: readonly ContentBlock[]): ContentBlock[] {
  return blocks.filter(block => !isForAgent(block))
}

function isForAgent(block: ContentBlock): boolean {
  return block.type !== 'unknown' && block.agentOnly === true
}

function isRewind(entry: Entry): entry is RewindNotice {
  return entry.kind === 'notice' && entry.rewind !== undefined
}

/**
 * Going back in a conversation: files were restored to before a prompt, or the conversation was forked there. ACP can't
 * remove messages, so later entries stay, are shown as set aside, and the next prompt tells the agent.
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

/** by list of entries: the rewinds among the first `searched` entries, whose last entry is `last` */
const found = new WeakMap<readonly Entry[], { searched: number; last?: Entry; positions: number[] }>()

/** The rewinds that the user hasn't undone, in order. */
export function rewindsOf({ entries }: Pick<SessionState, 'entries'>): RewindNotice[] {
  let known = found.get(entries)
  // entries are appended, unless another window's entries replace the last ones
  if (!known || entries[known.searched - 1] !== known.last) known = { searched: 0, positions: [] }
  for (; known.searched < entries.length; known.searched++)
    if (isRewind(entries[known.searched]!)) known.positions.push(known.searched)
  found.set(entries, { ...known, ...(entries.length > 0 && { last: entries.at(-1)! }) })
  return known.positions.flatMap(position => {
    const entry = entries[position]
    return entry && isRewind(entry) && !entry.rewind.withdrawn ? entry : []
  })
}

/** The prompt that started a turn. */
export function promptOfTurn(
  { entries }: Pick<SessionState, 'entries'>,
  turn: number,
): MessageEntry | undefined {
  return entries.find((entry): entry is MessageEntry => isPrompt(entry) && entry.turn === turn)
}

/** The note to the agent to send with the next prompt; `undefined` if there's none or it was already sent. */
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
 * The id of the agent's message after which a turn began; `undefined` if there is none, or if the agent was silent in the turn before: a
 * fork at its last message would then lack a prompt.
 */
export function messageBefore({ entries }: Pick<SessionState, 'entries'>, turn: number): string | undefined {
  for (let at = entries.length - 1; at >= 0; at--) {
    const entry = entries[at]
    // the agent of this session has no messages from before
    if (entry && continuedIn(entry)) return undefined
    if (!entry || entry.turn >= turn || entry.kind !== 'message' || entry.within !== undefined) continue
    if (entry.role === 'user') return undefined
    if (entry.role === 'agent') return entry.messageId
  }
  return undefined
}

/** Whether the prompt is a slash command, which must be sent alone: some agents don't recognize one next to other text. */
export function isCommand(blocks: readonly ContentBlock[]): boolean {
  const [first] = blocks
  return first !== undefined && textOf([first]).trimStart().startsWith('/')
}

/** The blocks of a prompt that the user wrote. */
export function writtenBlocks(blocks: readonly ContentBlock[]): ContentBlock[] {
  return blocks.filter(block => !isForAgent(block))
}

function isForAgent(block: ContentBlock): boolean {
  return block.type !== 'unknown' && block.agentOnly === true
}

function isRewind(entry: Entry): entry is RewindNotice {
  return entry.kind === 'notice' && entry.rewind !== undefined
}

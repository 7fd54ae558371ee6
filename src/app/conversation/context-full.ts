import { randomUUID } from 'node:crypto'
import * as l10n from '@vscode/l10n'
import type { ContentBlock, ResourceBlock } from '../../acp/model.ts'
import type { Handlers } from '../../bridge/contract.ts'
import type { ConversationMessages } from '../../bridge/conversation-messages.ts'
import { EMPTY_DRAFT } from '../../common/draft.ts'
import { MAX_CONVERSATION_CONTEXT } from '../../common/limits.ts'
import { compactCommand, isContextFullAnswer } from '../../conversation/context-full.ts'
import { earlierSessions, knownUntil } from '../../conversation/continuations.ts'
import { messageText } from '../../conversation/entries/message.ts'
import { continuedIn } from '../../conversation/entries/notice.ts'
import { conversationMarkdown } from '../../conversation/markdown-export.ts'
import type { MessageEntry, SessionState } from '../../conversation/state.ts'
import {
  CONVERSATION_URI,
  contextToTell,
  conversationInfo,
  omittedTurns,
} from '../../sessions/continuation.ts'
import type { ConversationController } from '../../sessions/conversation-controller.ts'
import type { OpenSession } from '../../sessions/open-session.ts'
import { promptAgain, promptBefore } from '../../sessions/prompts.ts'
import type { Summarize } from './summarize.ts'

/** The minimum length of a part of a conversation for which a new session is worthwhile, in characters. */
const MIN_PART = 2000

/**
 * Returns handlers for a turn that failed because the context is full. The failed prompt returns to the input, in the same session or in a
 * new one.
 */
export function contextFullHandlers(controller: ConversationController, summarize: Summarize) {
  /** the keys of conversations that are about to continue in a new session */
  const busy = new Set<string>()
  const continueInNew = async (open: OpenSession, failed: MessageEntry | undefined) => {
    const { state } = open.session
    const { turn } = state
    const next = whatFits(open, failed)
    if (!next)
      return giveBack(
        failed,
        l10n.t('A new session would fail in the same way. Shorten the prompt or select another model.'),
      )
    const { prompt, ...how } = next
    const rest = omittedTurns({ from: open, ...how })
    const summary = rest && (await summarize(open.agentId, rest))
    // the user may have opened another conversation or continued this one in the meantime
    if (controller.current !== open || state.turn !== turn) return
    await controller.continueWith(open.agentId, {
      ...how,
      ...(summary && { summary: summary.slice(0, how.max) }),
      ...(prompt && { again: promptAgain(prompt) }),
    })
  }
  const giveBack = (prompt: MessageEntry | undefined, reason?: string) => {
    if (prompt) controller.prompts.giveBack(controller.key, promptAgain(prompt), reason)
  }
  return {
    'conversation/contextFull': async ({ key, entryId, next }) => {
      const open = controller.shownAs(key)
      if (!open || open !== controller.current) return
      const failed = promptBefore(open.session.state, entryId)
      if (next === 'continue') {
        if (busy.has(key)) return
        busy.add(key)
        await continueInNew(open, failed).finally(() => busy.delete(key))
        return
      }
      const compact = compactCommand(open.session.state.commands)
      if (next === 'compact' && compact !== undefined)
        controller.prompts.enqueue(key, {
          id: randomUUID(),
          draft: { ...EMPTY_DRAFT, text: `/${compact}` },
        })
      giveBack(failed)
    },
  } satisfies Partial<Handlers<ConversationMessages>>
}

/**
 * Returns the part of a conversation with a full context that fits into a new session. Each attempt gets a smaller part, so that the same
 * failure doesn't repeat. Returns `undefined` if the prompt alone is too long.
 */
function whatFits(open: OpenSession, failed: MessageEntry | undefined) {
  const { key, session } = open
  const { entries, usage, terminals } = session.state
  const begin = entries.findLastIndex(entry => continuedIn(entry) !== undefined) + 1
  const own = entries.slice(begin)
  // the part contains the agent's work on the prompt, if any; otherwise the failed turn is left out, so that the prompt isn't sent twice
  const without = failed && !hasWork(own, failed) ? { without: failed.turn } : {}
  const isFirst = failed && !own.some(({ kind, turn }) => kind === 'message' && turn < failed.turn)
  const prompt = failed && isFirst ? { ...failed, blocks: failed.blocks.flatMap(shortened) } : failed
  if (isFirst && knownUntil(entries, key) === 0) {
    const context = contextToTell(open)
    const length = (context && 'text' in context && context.text?.length) || 0
    const isLess =
      length > 0 ||
      failed.blocks.some(isAttachedConversation) ||
      // a notice may mean that the session was resumed without its history
      own.some(({ kind }) => kind === 'notice')
    const max = Math.floor(length / 4)
    return isLess ? { prompt, ...without, max: max < MIN_PART ? 0 : max } : undefined
  }
  const earlier = earlierSessions(session.state).at(-1)
  // Chinese text has about as many tokens as characters
  const size =
    usage && usage.size > 0
      ? usage.size
      : conversationMarkdown({ entries: own, terminals }, conversationInfo(open)).length +
        (earlier ? (earlier.max ?? MAX_CONVERSATION_CONTEXT) : 0)
  const max = Math.max(MIN_PART, Math.floor(Math.min(MAX_CONVERSATION_CONTEXT, size) / 2))
  return { prompt, ...without, max }
}

/** Whether the agent did any work in the turn before it failed. */
function hasWork(entries: SessionState['entries'], { turn, id }: MessageEntry): boolean {
  return entries.some(entry => {
    if (entry.turn !== turn || entry.id === id) return false
    if (entry.kind === 'message') return entry.role !== 'user' && !isContextFullAnswer(messageText(entry))
    return entry.kind !== 'turn_end' && entry.kind !== 'notice'
  })
}

function isAttachedConversation(block: ContentBlock): block is ResourceBlock {
  return block.type === 'resource' && !block.agentOnly && block.uri.startsWith(CONVERSATION_URI)
}

/** Shortens an attached conversation to its end, or to nothing if the end would be short. Other blocks stay. */
function shortened(block: ContentBlock): ContentBlock[] {
  if (!isAttachedConversation(block)) return [block]
  const { text = '' } = block
  const length = Math.floor(text.length / 4)
  if (length < MIN_PART) return []
  const note = l10n.t('The conversation is longer than this: only its last turns are here.')
  return [{ ...block, text: `*${note}*\n\n${text.slice(-length).replace(/^\p{Surrogate}/u, '')}` }]
}

import { randomUUID } from 'node:crypto'
import * as l10n from '@vscode/l10n'
import type { ContentBlock, ResourceBlock } from '../../acp/model.ts'
import type { Handlers } from '../../bridge/contract.ts'
import type { Attachment } from '../../bridge/conversation.ts'
import type { ConversationMessages } from '../../bridge/conversation-messages.ts'
import { EMPTY_DRAFT } from '../../common/draft.ts'
import { MAX_CONVERSATION_CONTEXT } from '../../common/limits.ts'
import { compactCommand, isContextFullAnswer } from '../../conversation/context-full.ts'
import { messageText } from '../../conversation/entries/message.ts'
import type { MessageEntry, SessionState } from '../../conversation/state.ts'
import { CONVERSATION_URI } from '../../sessions/continuation.ts'
import type { ConversationController } from '../../sessions/conversation-controller.ts'
import type { OpenSession } from '../../sessions/open-session.ts'
import { promptAgain, promptBefore } from '../../sessions/prompts.ts'
import { conversationAttachment, documentOf, leftOutOf } from './conversation-context.ts'
import type { Summarize } from './summarize.ts'

/** A shorter part of a conversation isn't worth a new session. Characters. */
const MIN_PART = 2000

/** What can be done after a turn failed because the context is full. The failed prompt goes back to the input, wherever it's sent next. */
export function contextFullHandlers(
  controller: ConversationController,
  attach: (attachment: Attachment) => void,
  summarize: Summarize,
) {
  /** conversations whose summary is being written */
  const busy = new Set<string>()
  return {
    'conversation/contextFull': async ({ key, entryId, next }) => {
      const open = controller.shownAs(key)
      if (!open || open !== controller.current) return
      const failed = promptBefore(open.session.state, entryId)
      const giveBack = (prompt = failed, reason?: string) => {
        if (prompt) controller.prompts.giveBack(controller.key, promptAgain(prompt), reason)
      }
      if (next === 'continue') {
        if (busy.has(key)) return
        const { prompt, contextIn, leftOut, isLess } = whatFits(open, failed)
        if (!isLess)
          return giveBack(
            failed,
            l10n.t('A new session would fail in the same way. Shorten the prompt or select another model.'),
          )
        busy.add(key)
        const summary = leftOut && (await summarize(open.agentId, leftOut))
        busy.delete(key)
        // not to what the user opens meanwhile, or while the session starts
        if (controller.current !== open) return
        return controller.continueIn(open.agentId, ({ session }) => {
          const context = contextIn(session.agent.capabilities.prompt.embeddedContext, summary)
          if (context) attach(context)
          giveBack(prompt)
        })
      }
      const compact = compactCommand(open.session.state.commands)
      if (next === 'compact' && compact !== undefined)
        controller.prompts.enqueue(key, {
          id: randomUUID(),
          draft: { ...EMPTY_DRAFT, text: `/${compact}` },
        })
      giveBack()
    },
  } satisfies Partial<Handlers<ConversationMessages>>
}

/**
 * What a new session gets of one whose context is full: always less, so that it doesn't fail in the same way again and again.
 * `isLess`: else the prompt alone is too long.
 */
function whatFits(open: OpenSession, failed: MessageEntry | undefined) {
  const { entries, usage } = open.session.state
  // what the prompt itself says isn't attached once more
  const until = failed && !hasWork(entries, failed) ? failed.turn : undefined
  const hasContext = entries.some(({ kind, turn }) => kind === 'message' && turn < (until ?? turn + 1))
  // Chinese has about as many tokens as characters
  const size = usage && usage.size > 0 ? usage.size : documentOf(open).length
  const max = Math.max(MIN_PART, Math.floor(Math.min(MAX_CONVERSATION_CONTEXT, size) / 2))
  const isFirst = failed && !entries.some(({ kind, turn }) => kind === 'message' && turn < failed.turn)
  const prompt = failed && isFirst ? { ...failed, blocks: failed.blocks.flatMap(shortened) } : failed
  return {
    prompt,
    isLess:
      hasContext ||
      (isFirst && failed.blocks.some(isConversation)) ||
      // it may have been resumed without its history
      entries.some(({ kind }) => kind === 'notice'),
    contextIn: (embedded: boolean, summary?: string) =>
      hasContext ? conversationAttachment(open, embedded, until, max, summary) : undefined,
    /** what a summary could stand for */
    leftOut: hasContext ? leftOutOf(open, until, max) : undefined,
  }
}

/** Whether the agent did something before the turn failed. */
function hasWork(entries: SessionState['entries'], { turn, id }: MessageEntry): boolean {
  return entries.some(entry => {
    if (entry.turn !== turn || entry.id === id) return false
    if (entry.kind === 'message') return entry.role !== 'user' && !isContextFullAnswer(messageText(entry))
    return entry.kind !== 'turn_end' && entry.kind !== 'notice'
  })
}

function isConversation(block: ContentBlock): block is ResourceBlock {
  return block.type === 'resource' && block.uri.startsWith(CONVERSATION_URI)
}

/** Of an attached conversation, the end; nothing if that is short. */
function shortened(block: ContentBlock): ContentBlock[] {
  if (!isConversation(block)) return [block]
  const { text = '' } = block
  const length = Math.floor(text.length / 4)
  if (length < MIN_PART) return []
  const note = l10n.t('The conversation is longer than this: only its last turns are here.')
  return [{ ...block, text: `*${note}*\n\n${text.slice(-length).replace(/^\p{Surrogate}/u, '')}` }]
}

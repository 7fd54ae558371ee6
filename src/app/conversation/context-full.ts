import { randomUUID } from 'node:crypto'
import type { Handlers } from '../../bridge/contract.ts'
import type { Attachment } from '../../bridge/conversation.ts'
import type { ConversationMessages } from '../../bridge/conversation-messages.ts'
import { EMPTY_DRAFT } from '../../common/draft.ts'
import { compactCommand } from '../../conversation/context-full.ts'
import type { ConversationController } from '../../sessions/conversation-controller.ts'
import { promptAgain, promptBefore } from '../../sessions/prompts.ts'
import { continueInNew } from './conversation-context.ts'

/** What can be done after a turn failed because the context is full. The failed prompt goes back to the input, wherever it's sent next. */
export function contextFullHandlers(
  controller: ConversationController,
  attach: (attachment: Attachment) => void,
) {
  return {
    'conversation/contextFull': async ({ key, entryId, next }) => {
      const open = controller.shownAs(key)
      if (!open || open !== controller.current) return
      const failed = promptBefore(open.session.state, entryId)
      const giveBack = () => {
        if (failed) controller.prompts.giveBack(controller.key, promptAgain(failed))
      }
      if (next === 'continue')
        // not to what the user opens while the session starts
        return continueInNew(controller, open.agentId, attachment => {
          attach(attachment)
          giveBack()
        })
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

import * as l10n from '@vscode/l10n'
import * as z from 'zod'
import type { ContentBlock } from '../../acp/model.ts'
import type { NavigateTo } from '../../bridge/conversation.ts'
import { UnavailableError } from '../../common/errors.ts'
import { beginning, visibleProse, withoutIcons } from '../../common/visible.ts'
import { isShownPrompt } from '../../conversation/user-prompts.ts'
import { requestSummaries } from '../../sessions/request-notifications.ts'
import { promptText } from '../../sessions/session-title.ts'
import type { ConversationSurfaces } from '../conversation/conversation-surface.ts'
import { type CommandHandlers, CommandId } from '../ids.ts'
import type { PageFocus } from '../page-focus.ts'
import type { Workbench } from '../workbench.ts'

interface NavigationCommandOptions {
  surfaces: ConversationSurfaces
  pageFocus: PageFocus
  workbench: Workbench
}

const fromPage = z.object({ conversation: z.string(), index: z.number() })

/** Returns the first line of a prompt, without changes. */
function lineOf(blocks: readonly ContentBlock[]): string {
  const line = promptText(blocks)
    .split('\n')
    .find(part => part.trim() !== '')
  if (!line) return l10n.t('Attachments without text')
  return withoutIcons(visibleProse(beginning(line.trim(), 200)))
}

/** Returns the commands that search and navigate the active conversation. */
export function navigationCommands({ surfaces, pageFocus, workbench }: NavigationCommandOptions) {
  /** Reveals the conversation. Rejects if there is none. */
  const shown = async () => {
    const { active } = surfaces
    const current = await active.controller.whole()
    if (!current) throw new UnavailableError(l10n.t('No conversation is open.'))
    if (!active.isVisible) await active.reveal()
    return { active, current }
  }
  const go = (to: NavigateTo) => async () => {
    const { active, current } = await shown()
    if (to === 'question') {
      if (requestSummaries(current.session).length === 0)
        throw new UnavailableError(l10n.t('No pending requests'))
    } else if (current.session.state.entries.length === 0)
      throw new UnavailableError(l10n.t('No prompts have been sent yet.'))
    active.sendToPage('conversation/navigate', { to })
  }
  const fold = (folded: boolean) => async () => {
    const { active } = await shown()
    active.sendToPage('conversation/foldTurns', { folded })
  }
  return {
    [CommandId.collapseTurns]: fold(true),
    [CommandId.expandTurns]: fold(false),
    [CommandId.find]: async () => {
      const { active } = await shown()
      active.sendToPage('find/show', {})
    },
    [CommandId.focusConversation]: async () => {
      if (pageFocus.isInConversation) await workbench.execute('workbench.action.focusActiveEditorGroup')
      else await surfaces.active.reveal()
    },
    [CommandId.outline]: async (context?: unknown) => {
      const { active, current } = await shown()
      const { data: inView } = fromPage.safeParse(context)
      // the page runs the command again with its scroll position
      if (!inView && active.sendToPage('conversation/outline')) return
      if (inView && inView.conversation !== active.controller.key) return
      const prompts = current.session.state.entries.flatMap((entry, index) =>
        isShownPrompt(entry) ? [{ line: lineOf(entry.blocks), index }] : [],
      )
      if (prompts.length === 0) throw new UnavailableError(l10n.t('No prompts have been sent yet.'))
      const items = prompts.map(({ line, index }, at) => ({ label: `${at + 1}: ${line}`, index }))
      const placeholder = l10n.t('Type to filter the prompts of this conversation')
      const options = { title: l10n.t('Go to Prompt'), placeholder }
      const chosen = await workbench.dialogs.pick(items, {
        ...options,
        active: items.findLast(({ index }) => index <= (inView?.index ?? Number.POSITIVE_INFINITY)),
      })
      // the view may show another conversation now
      if (chosen && active.controller.current === current)
        active.sendToPage('conversation/goTo', { index: chosen.index })
    },
    [CommandId.previousTurn]: go('previousTurn'),
    [CommandId.nextTurn]: go('nextTurn'),
    [CommandId.firstTurn]: go('first'),
    [CommandId.latest]: go('latest'),
    [CommandId.nextQuestion]: go('question'),
  } satisfies Partial<CommandHandlers>
}

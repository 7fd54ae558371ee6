import * as l10n from '@vscode/l10n'
import type { Handlers } from '../../bridge/contract.ts'
import type { EditOptions } from '../../bridge/conversation.ts'
import type { ConversationMessages } from '../../bridge/conversation-messages.ts'
import { EMPTY_DRAFT } from '../../common/draft.ts'
import { UnavailableError } from '../../common/errors.ts'
import type { KeyValueStore } from '../../common/key-value-store.ts'
import type { ConversationController } from '../../sessions/conversation-controller.ts'
import { promptsBefore } from '../../sessions/prompts.ts'
import { defaultOptionKey } from '../../sessions/start-options.ts'
import type { AgentDefaults } from '../agents/agent-defaults.ts'
import type { Decisions } from '../changes/decisions.ts'
import { CommandId } from '../ids.ts'
import type { DraftStore } from '../storage/draft-store.ts'
import type { OptionMemory } from '../storage/option-memory.ts'
import { setComposerHeight } from '../storage/stores.ts'
import type { Workbench } from '../workbench.ts'
import type { EditedPrompts } from './edited-prompts.ts'
import type { LineComments } from './line-comments.ts'
import type { MentionedSessions } from './mentioned-sessions.ts'

export interface ComposerOptions {
  controller: ConversationController
  drafts: DraftStore
  /** values that views store */
  views: KeyValueStore
  comments: Pick<LineComments, 'reveal' | 'promptRemoved'>
  /** for `@` */
  mentioned: MentionedSessions
  optionMemory: OptionMemory
  agentDefaults: AgentDefaults
  changes: { decisions: Pick<Decisions, 'tell'> }
  workbench: Pick<Workbench, 'context' | 'execute'>
}

/**
 * Returns the handlers for the composer's messages: prompts, drafts, the queue, the session's options, and searches in the editor. `show`
 * sends the page the latest changes before the confirmation that its prompt is stored. `showAgain` sends the page the whole state.
 */
export function composerHandlers(
  {
    controller,
    drafts,
    views,
    comments,
    mentioned,
    optionMemory,
    agentDefaults,
    changes,
    workbench: { context, execute },
  }: ComposerOptions,
  { show, showAgain, edits }: { show: () => void; showAgain: () => void; edits: EditedPrompts },
) {
  const mine = (key: string) => key === controller.key
  const commandsOf = (key: string) =>
    ((mine(key) && controller.current?.session.state.commands) || []).map(({ name }) => name)
  const queue = (key: string) => (mine(key) ? controller.prompts.queue : undefined)
  return {
    'conversation/enqueue': async ({ key, joins, ...prompt }) => {
      controller.prompts.enqueue(key, prompt, { composer: EMPTY_DRAFT, ...(joins && { joins }) })
      show()
    },
    'conversation/movedToComposer': ({ key, ids, draft }) =>
      controller.prompts.movedToComposer(key, ids, draft),
    'conversation/draft': ({ key, edit, text, chips }) => {
      if (!edit) return drafts.setText(key, text, chips)
      const { draftKey, of } = edits.place(key, edit, showAgain)
      drafts.setText(draftKey, text, chips, { of, from: edit })
    },
    'conversation/draftItems': ({ key, edit, items }) =>
      drafts.setItems(edit ? edits.place(key, edit, showAgain).draftKey : key, items),
    'conversation/editOptions': async ({ key, entryId }) => {
      const context = { conversation: key, entry: entryId, asks: true }
      return ((await execute(CommandId.editPrompt, context)) as EditOptions | undefined) ?? null
    },
    'conversation/resendEdited': async ({ key, edit, edited }) => {
      const { draftKey, entryId } = edits.place(key, edit, showAgain)
      if (entryId === undefined)
        throw new UnavailableError(l10n.t("The prompt that you edited isn't in the conversation anymore."))
      const context = { conversation: key, entry: entryId, edited }
      const isSent = (await execute(CommandId.editPrompt, context)) === true
      if (isSent) drafts.set(draftKey, EMPTY_DRAFT)
      return isSent
    },
    'composer/mentions': ({ query }) => context.mentions(query),
    'composer/revisions': ({ query }) => context.revisions(query),
    'composer/symbols': ({ query }) => context.symbols(query),
    'composer/sessions': ({ key, query }) => mentioned.find(query, key),
    'composer/session': session => [mentioned.attachment(session)],
    'composer/promptFiles': ({ key }) => context.promptFiles(commandsOf(key)),
    'composer/expand': ({ key, text }) =>
      context.expandPrompt(text, commandsOf(key), mine(key) ? controller.current?.plan.setup : undefined),
    'composer/capture': ({ kind }) => context.capture(kind),
    'composer/askOutside': ({ uri }) => context.askOutside(uri, controller.current?.plan.setup),
    'composer/pastedPath': ({ path }) => context.takePath(path),
    'composer/pastedCode': ({ code }) => context.takeCode(code),
    'composer/dropped': ({ uris }) => context.takeDropped(uris),
    'composer/openComment': ({ id }) => comments.reveal(id),
    'composer/prompts': async ({ key, before }) => {
      await controller.opener.end?.over.promise
      return promptsBefore((mine(key) && controller.current?.session.state.entries) || [], before)
    },
    'composer/moveQueued': ({ key, id, to }) => queue(key)?.move(id, to),
    'composer/editQueued': ({ key, id }) => void queue(key)?.edit(id),
    'composer/removeQueued': ({ key, id }) => {
      const draft = queue(key)?.prompts.find(prompt => prompt.id === id)?.draft
      const isRemoved = queue(key)?.remove(id) ?? false
      if (!isRemoved || !draft) return isRemoved
      comments.promptRemoved(draft)
      changes.decisions.tell(l10n.t('Prompt removed from the queue.'), async () =>
        controller.prompts.giveBack(key, { id, draft }),
      )
      return true
    },
    'composer/sendNow': ({ key, id }) => {
      if (mine(key)) controller.current?.sendNow(id)
    },
    'conversation/outline': async ({ key, index }) =>
      void (await execute(CommandId.outline, { conversation: key, index })),
    'composer/sendTo': async ({ key }) => void (await execute(CommandId.sendTo, { conversation: key })),
    'composer/resumeQueue': ({ key }) => queue(key)?.resume(),
    'composer/height': ({ height }) => {
      setComposerHeight(views, height)
    },
    'conversation/option': ({ key, optionId, value }) => {
      const { agentId } = controller
      if (!mine(key)) return
      if (agentId !== undefined) optionMemory.used(agentId, optionId, value)
      return controller.configOptions.set(optionId, value)
    },
    'options/default': async ({ key, optionId, value }) => {
      const { agentId, current } = controller
      if (!mine(key) || agentId === undefined || !current) return
      const options = current.session.state.configOptions
      const option = options.find(({ id }) => id === optionId)
      if (!option) return
      await agentDefaults.set(agentId, defaultOptionKey(options, option, agentDefaults.of(agentId)), value)
    },
    'options/favorite': ({ key, optionId, value }) => {
      const { agentId } = controller
      if (mine(key) && agentId !== undefined) optionMemory.toggle(agentId, optionId, value)
    },
  } satisfies Partial<Handlers<ConversationMessages>>
}

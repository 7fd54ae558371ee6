import { promptOf } from '../../conversation/attachment.ts'
import { makePrompt } from '../../editor/mentions/make-prompt.ts'
import { editorSources } from '../../editor/mentions/vscode-sources.ts'
import { capture, takeDropped } from '../../editor/mentions/vscode-take.ts'
import { promptsBefore } from '../../sessions/prompts.ts'
import * as messages from '../bridge/composer.ts'
import * as bridge from '../bridge/conversation.ts'
import * as incoming from '../bridge/incoming.ts'
import * as incomingComposer from '../bridge/incoming-composer.ts'
import type { WebviewConnection } from '../webview-connection.ts'
import type { ConversationBridgeParts } from './conversation-bridge.ts'

/**
 * Listens to what the composer sends: prompts, drafts, the queue, and what it looks for in the editor. `show`: sends the
 * page what is new in the conversation, before it is told that its prompt was taken.
 */
export function listenToComposer(
  connection: WebviewConnection,
  { controller, drafts, mentions }: ConversationBridgeParts,
  show: () => void,
): void {
  const mine = (key: string) => key === controller.key
  const session = (key: string) => (mine(key) ? controller.current?.session : undefined)

  const { outbox } = controller
  connection.onRequest(bridge.SendPrompt, incoming.sendPrompt, async ({ key, ...prompt }) => {
    const parts = promptOf(prompt.draft)
    await outbox.send(key, prompt, target => makePrompt(parts, target, editorSources))
    show()
  })
  connection.onRequest(bridge.PromptOutcome, incoming.promptOutcome, ({ id }) => outbox.outcome(id))
  connection.onRequest(bridge.WithdrawPrompt, incoming.withdrawPrompt, ({ key, id }) =>
    mine(key) ? controller.withdrawPrompt(id) : null,
  )
  connection.onRequest(messages.EditQueued, incomingComposer.editQueued, ({ key, id }) =>
    mine(key) ? controller.editQueued(id) : null,
  )
  connection.onNotification(bridge.TakeBack, incoming.takeBack, ({ key, ids, draft }) => {
    drafts.set(key, draft)
    outbox.takenBack(key, ids)
  })
  connection.onNotification(bridge.SaveDraft, incoming.saveDraft, ({ key, text, marks }) =>
    drafts.setText(key, text, marks),
  )
  connection.onNotification(bridge.SaveDraftItems, incoming.saveDraftItems, ({ key, items }) =>
    drafts.setItems(key, items),
  )
  connection.onNotification(messages.KeepHeight, incomingComposer.keepHeight, ({ height }) => {
    drafts.height = height
  })
  connection.onNotification(messages.MoveQueued, incomingComposer.moveQueued, ({ key, id, to }) =>
    session(key)?.moveQueued(id, to),
  )
  connection.onNotification(messages.SendQueuedNow, incomingComposer.sendQueuedNow, ({ key, id }) =>
    session(key)?.sendNow(id),
  )
  connection.onRequest(messages.FetchPrompts, incomingComposer.fetchPrompts, ({ key, before }) =>
    promptsBefore(session(key)?.state.entries ?? [], before),
  )
  connection.onRequest(messages.SearchMentions, incomingComposer.searchMentions, ({ query }) =>
    mentions.find(query),
  )
  connection.onRequest(messages.SearchSymbols, incomingComposer.searchSymbols, ({ query }) =>
    mentions.symbols(query),
  )
  connection.onRequest(messages.Capture, incomingComposer.capture, ({ kind }) => capture(kind))
  connection.onRequest(messages.TakeDropped, incomingComposer.takeDropped, ({ uris }) => takeDropped(uris))
}

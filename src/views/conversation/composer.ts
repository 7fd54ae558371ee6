import * as z from 'zod'
import { promptOf } from '../../conversation/attachment.ts'
import { makePrompt } from '../../editor/mentions/make-prompt.ts'
import type { MentionSearch } from '../../editor/mentions/vscode-search.ts'
import { editorSources } from '../../editor/mentions/vscode-sources.ts'
import { capture, takeDropped } from '../../editor/mentions/vscode-take.ts'
import type { ConversationController } from '../../sessions/conversation-controller.ts'
import { promptsBefore } from '../../sessions/prompts.ts'
import * as messages from '../bridge/composer.ts'
import * as bridge from '../bridge/conversation.ts'
import * as incoming from '../bridge/incoming.ts'
import type { DraftStore } from '../storage/draft-store.ts'
import type { WebviewConnection } from '../webview-connection.ts'

const key = z.string().min(1).max(256)
const id = z.string().max(4096)
const query = z.string().max(1024)

const searchMentions = z.object({ query })
const searchSymbols = z.object({ query })
const captureSchema = z.object({ kind: z.enum(['selection', 'terminal', 'pick']) })
const takeDroppedSchema = z.object({ uris: z.array(z.string().max(32_768)).max(1000) })
const moveQueued = z.object({ key, id, to: z.number().int().nonnegative() })
const editQueued = z.object({ key, id })
const removeQueued = z.object({ key, id })
const resumeQueue = z.object({ key })
const keepHeight = z.object({ height: z.number().positive().max(10_000).optional() })
const sendQueuedNow = z.object({ key, id })
const fetchPrompts = z.object({ key, before: z.number().int().nonnegative() })

interface ComposerListenerOptions {
  controller: ConversationController
  drafts: DraftStore
  mentions: MentionSearch
}

/**
 * Listens to what the composer sends: prompts, drafts, the queue, and what it looks for in the editor. `show`: sends the
 * page what is new in the conversation, before it is told that its prompt is stored.
 */
export function listenToComposer(
  connection: WebviewConnection,
  { controller, drafts, mentions }: ComposerListenerOptions,
  show: () => void,
): void {
  const mine = (key: string) => key === controller.key
  const session = (key: string) => (mine(key) ? controller.current?.session : undefined)

  const queue = (key: string) => (mine(key) ? controller.queue : undefined)

  connection.onRequest(bridge.EnqueuePrompt, incoming.enqueuePrompt, async ({ key, ...prompt }) => {
    const parts = promptOf(prompt.draft)
    controller.enqueue(key, prompt, target => makePrompt(parts, target, editorSources))
    show()
  })
  connection.onNotification(bridge.TakeBack, incoming.takeBack, ({ key, ids, draft }) =>
    controller.takeBack(key, ids, draft),
  )
  connection.onNotification(messages.EditQueued, editQueued, ({ key, id }) => {
    queue(key)?.edit(id)
  })
  connection.onRequest(messages.RemoveQueued, removeQueued, ({ key, id }) => queue(key)?.remove(id) ?? false)
  connection.onNotification(messages.ResumeQueue, resumeQueue, ({ key }) => queue(key)?.resume())
  connection.onNotification(messages.MoveQueued, moveQueued, ({ key, id, to }) => queue(key)?.move(id, to))
  connection.onNotification(messages.SendQueuedNow, sendQueuedNow, ({ key, id }) => {
    if (mine(key)) controller.sendNow(id)
  })
  connection.onNotification(bridge.SaveDraft, incoming.saveDraft, ({ key, text, marks }) =>
    drafts.setText(key, text, marks),
  )
  connection.onNotification(bridge.SaveDraftItems, incoming.saveDraftItems, ({ key, items }) =>
    drafts.setItems(key, items),
  )
  connection.onNotification(messages.KeepHeight, keepHeight, ({ height }) => {
    drafts.height = height
  })
  connection.onRequest(messages.FetchPrompts, fetchPrompts, ({ key, before }) =>
    promptsBefore(session(key)?.state.entries ?? [], before),
  )
  connection.onRequest(messages.SearchMentions, searchMentions, ({ query }) => mentions.find(query))
  connection.onRequest(messages.SearchSymbols, searchSymbols, ({ query }) => mentions.symbols(query))
  connection.onRequest(messages.Capture, captureSchema, ({ kind }) => capture(kind))
  connection.onRequest(messages.TakeDropped, takeDroppedSchema, ({ uris }) => takeDropped(uris))
}

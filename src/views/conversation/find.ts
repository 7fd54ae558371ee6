import * as z from 'zod'
import type { ConversationController } from '../../sessions/conversation-controller.ts'
import { FindResults, FindStart, FindStop } from '../bridge/find.ts'
import { nothing } from '../bridge/incoming.ts'
import type { WebviewConnection } from '../webview-connection.ts'
import { FindSearch } from './find-search.ts'

/** A longer text isn't typed by a person. */
const text = z.string().max(10_000)

const findStart = z.object({
  key: z.string().min(1).max(256),
  id: z.number().int().nonnegative(),
  query: z.object({ text, matchCase: z.boolean(), wholeWord: z.boolean(), regex: z.boolean() }),
})

/** Answers a webview that looks for text in its conversation, for as long as it does. */
export function listenFind(connection: WebviewConnection, controller: ConversationController): FindSearch {
  const search = new FindSearch(
    () => controller.current?.session.state,
    result => connection.send(FindResults, result),
  )
  connection.onNotification(FindStart, findStart, ({ key, id, query }) => {
    if (key === controller.key) return search.start(id, query)
  })
  connection.onNotification(FindStop, nothing, () => search.stop())
  return search
}

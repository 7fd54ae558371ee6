import type { ConversationController } from '../../sessions/conversation-controller.ts'
import { FindResults, FindStart, FindStop } from '../bridge/find.ts'
import { nothing } from '../bridge/incoming.ts'
import { findStart } from '../bridge/incoming-find.ts'
import type { WebviewConnection } from '../webview-connection.ts'
import { FindSearch } from './find-search.ts'

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

import type { MessageConnection } from 'vscode-jsonrpc/browser'
import { FindResults, FindStart, FindStop, ShowFind } from '../../../views/bridge/find.ts'
import type { App } from '../context.ts'
import type { FindHost } from './model.ts'

export function findHost(connection: MessageConnection): FindHost {
  return {
    start: (key, id, query) => void connection.sendNotification(FindStart, { key, id, query }),
    stop: () => void connection.sendNotification(FindStop),
  }
}

export function listenFind(connection: MessageConnection, app: App): void {
  connection.onNotification(ShowFind, () => void app.find.open())
  const hold = (event: KeyboardEvent) => {
    if (!app.find.held.take(event)) return
    event.preventDefault()
    event.stopImmediatePropagation()
  }
  window.addEventListener('keydown', hold, { capture: true })
  connection.onNotification(FindResults, result => app.find.shown?.take(result))
}

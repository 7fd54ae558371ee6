import * as vscode from 'vscode'
import { pageMessages } from '../../bridge/contract.ts'
import type { ViewPage } from '../../bridge/history.ts'
import { type Disposable, toDisposable } from '../../common/disposable.ts'
import { ContextKey } from '../ids.ts'
import type { WebviewConnection } from '../webview-connection.ts'
import type { FocusReport } from './active-place.ts'

/** The webviews that last reported the focus, and the page that each one shows. Reports can arrive out of order. */
const focused = new Map<WebviewConnection, () => ViewPage>()
const reported = new Map<string, boolean>()

export interface FocusOptions {
  /** what the webview shows */
  page: () => ViewPage
  onFocus?: (focus: FocusReport) => void
}

/**
 * Updates the context keys for the keybindings of pages, since VS Code doesn't tell which page of a webview has the
 * focus.
 */
export function listenFocus(
  connection: WebviewConnection,
  { page, onFocus = () => {} }: FocusOptions,
): Disposable {
  connection.handle(pageMessages, {
    'page/focused': change => {
      if (change.focused) focused.set(connection, page)
      else focused.delete(connection)
      updateFocus()
      onFocus(change.isUsed ? 'used' : change.focused ? 'came' : 'left')
    },
  })
  return toDisposable(() => {
    focused.delete(connection)
    updateFocus()
    onFocus('left')
  })
}

/** Whether the keyboard's focus is in any conversation. */
export function isConversationFocused(): boolean {
  return isFocused('conversation')
}

/** Call it when a webview shows another page. */
export function updateFocus(): void {
  for (const [key, page] of [
    [ContextKey.conversationFocus, 'conversation'],
    [ContextKey.historyFocus, 'history'],
  ] as const) {
    const now = isFocused(page)
    if ((reported.get(key) ?? false) === now) continue
    reported.set(key, now)
    void vscode.commands.executeCommand('setContext', key, now)
  }
}

function isFocused(wanted: ViewPage): boolean {
  return [...focused.values()].some(page => page() === wanted)
}

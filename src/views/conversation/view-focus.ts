import * as vscode from 'vscode'
import * as z from 'zod'
import type { Disposable } from '../../common/disposable.ts'
import { toDisposable } from '../../common/disposable.ts'
import { FocusChanged } from '../bridge/navigate.ts'
import { ContextKey } from '../ids.ts'
import type { WebviewConnection } from '../webview-connection.ts'

const focusChanged = z.object({ focused: z.boolean(), isUsed: z.literal(true).optional() })
/** The palette gives the focus back for a moment before its command takes it elsewhere. */
const SETTLED_MS = 300
/** the pages that said last that they have the focus: they speak in any order */
const focused = new Set<WebviewConnection>()

/**
 * Keeps the context key by which keys are for the conversation: VS Code does not tell where in a webview's view it is.
 * `onFocus` is called when the person turns to the page.
 */
export function listenFocus(connection: WebviewConnection, onFocus: () => void): Disposable {
  let timer: NodeJS.Timeout | undefined
  connection.onNotification(FocusChanged, focusChanged, change => {
    set(connection, change.focused)
    clearTimeout(timer)
    if (change.isUsed) onFocus()
    else if (change.focused) timer = setTimeout(onFocus, SETTLED_MS)
  })
  return toDisposable(() => {
    clearTimeout(timer)
    set(connection, false)
  })
}

/** Whether the keyboard's focus is in any conversation's page. */
export function isConversationFocused(): boolean {
  return focused.size > 0
}

function set(connection: WebviewConnection, isFocused: boolean): void {
  const before = isConversationFocused()
  if (isFocused) focused.add(connection)
  else focused.delete(connection)
  const now = isConversationFocused()
  if (now !== before) void vscode.commands.executeCommand('setContext', ContextKey.conversationFocus, now)
}

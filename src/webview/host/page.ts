import type { MessageConnection } from 'vscode-jsonrpc/browser'
import type { PageHostMessages } from '../../bridge/contract.ts'
import { setBundle } from '../l10n.ts'
import { connectToHost, listenToHost } from './connection.ts'
import { focusOnEntry, keepKeysInFields } from './keyboard.ts'

/**
 * Initializes a page. `onEntry` focuses the initial element. Call the connection's `listen` after all handlers are
 * registered.
 */
export function startPage(onEntry: () => void): MessageConnection {
  readTexts()
  keepKeysInFields()
  const connection = connectToHost()
  listenToHost<PageHostMessages>(connection, { 'page/returnFocus': focusOnEntry(onEntry) })
  return connection
}

/** Reads the translations and the language (`<html lang>`) that the host wrote into the page. */
function readTexts(): void {
  const element = document.getElementById('l10n')
  const bundle: unknown = element?.textContent ? JSON.parse(element.textContent) : {}
  const texts = typeof bundle === 'object' && bundle !== null ? (bundle as Record<string, string>) : {}
  setBundle(texts, document.documentElement.lang || 'en')
}

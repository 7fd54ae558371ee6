import type { MessageConnection } from 'vscode-jsonrpc/browser'
import { FocusChanged } from '../../views/bridge/navigate.ts'

/** What comes of a person. A screen reader clicks without a pointer; text may be dictated, pasted or dropped. */
const USE = ['pointerdown', 'keydown', 'click', 'input', 'drop'] as const

/**
 * Tells the host when the focus comes into the page or leaves it, and when the person does something there: each once.
 * The function that it answers looks again: a page that loads, or is shown, may have the focus without an event.
 */
export function reportFocus(connection: Pick<MessageConnection, 'sendNotification'>): () => void {
  let told: boolean | undefined
  let isUsed = false
  const tell = (focused: boolean) => {
    if (focused === told) return
    told = focused
    isUsed &&= focused
    void connection.sendNotification(FocusChanged, { focused })
  }
  const use = () => {
    if (isUsed) return
    told = true
    isUsed = true
    void connection.sendNotification(FocusChanged, { focused: true, isUsed })
  }
  window.addEventListener('focus', () => tell(true))
  window.addEventListener('blur', () => tell(false))
  for (const type of USE) window.addEventListener(type, use, { capture: true })
  const look = () => tell(document.hasFocus())
  return look
}

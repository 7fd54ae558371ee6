import type { PageMessages } from '../../views/bridge/contract.ts'
import type { HostClient } from './connection.ts'

/** What comes of a person. A screen reader clicks without a pointer; text may be dictated, pasted or dropped. */
const USE = ['pointerdown', 'keydown', 'click', 'input', 'drop'] as const

/**
 * Tells the host when the focus comes into the page or leaves it, and when the person does something there: each once.
 * The function that it answers looks again: a page that loads, or is shown, may have the focus without an event.
 */
export function reportFocus(host: Pick<HostClient<PageMessages>, 'send'>): () => void {
  let told: boolean | undefined
  let isUsed = false
  const tell = (focused: boolean) => {
    if (focused === told) return
    told = focused
    isUsed &&= focused
    host.send('page/focused', { focused })
  }
  const use = () => {
    if (isUsed) return
    told = true
    isUsed = true
    host.send('page/focused', { focused: true, isUsed })
  }
  window.addEventListener('focus', () => tell(true))
  window.addEventListener('blur', () => tell(false))
  for (const type of USE) window.addEventListener(type, use, { capture: true })
  const look = () => tell(document.hasFocus())
  return look
}

/**
 * When the keyboard's focus comes into the view and nothing in it has it, `focus` gives it to the place where one begins.
 * A press of the mouse is left alone: it may begin a selection.
 */
export function focusOnEntry(focus: () => void): void {
  let pressed = false
  window.addEventListener('pointerdown', () => {
    pressed = true
  })
  for (const end of ['pointerup', 'pointercancel'])
    window.addEventListener(end, () => {
      pressed = false
    })
  // the window is told before an element in it gets the focus
  const offer = () =>
    requestAnimationFrame(() => {
      if (!pressed && document.hasFocus() && document.activeElement === document.body) focus()
    })
  window.addEventListener('focus', offer)
  // it may have come before this was there to hear it
  offer()
}

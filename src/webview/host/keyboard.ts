import type { PageMessages } from '../../bridge/contract.ts'
import type { HostClient } from './connection.ts'

/** Events that a user causes. A screen reader clicks without a pointer; text may be dictated, pasted or dropped. */
const USE = ['pointerdown', 'keydown', 'click', 'input', 'drop'] as const

/**
 * Reports to the host when the page gets or loses the focus, and when the user does something in the page, each change once.
 * Returns a function that checks again, since a page that loads or is shown may have the focus without an event.
 */
export function reportFocus(host: Pick<HostClient<PageMessages>, 'send'>): () => void {
  let reported: boolean | undefined
  let isUsed = false
  const tell = (focused: boolean) => {
    if (focused === reported) return
    reported = focused
    isUsed &&= focused
    host.send('page/focused', { focused })
  }
  const use = () => {
    if (isUsed) return
    reported = true
    isUsed = true
    host.send('page/focused', { focused: true, isUsed })
  }
  window.addEventListener('focus', () => tell(true))
  window.addEventListener('blur', () => tell(false))
  for (const type of USE) window.addEventListener(type, use, { capture: true })
  const tellNow = () => tell(document.hasFocus())
  return tellNow
}

/**
 * When the page gets the focus but none of its elements does, `focus` focuses the initial element, except after a mouse press, which may
 * start a selection. Returns a function that focuses the element that had the focus before a dialog.
 */
export function focusOnEntry(focus: () => void): () => void {
  let pressed = false
  let last: HTMLElement | undefined
  window.addEventListener('pointerdown', () => {
    pressed = true
  })
  for (const end of ['pointerup', 'pointercancel'])
    window.addEventListener(end, () => {
      pressed = false
    })
  document.addEventListener('focusin', ({ target }) => {
    last = target instanceof HTMLElement ? target : undefined
  })
  // the window's event comes before an element gets the focus
  const offer = () =>
    requestAnimationFrame(() => {
      if (!pressed && document.hasFocus() && document.activeElement === document.body) focus()
    })
  window.addEventListener('focus', offer)
  // the page may have had the focus before this listens
  offer()
  return () => {
    last?.focus()
    if (document.activeElement === document.body) focus()
  }
}

/**
 * Keeps the keys of Select All, Undo and Redo in the page's fields. VS Code also gets a webview's keys and would run the
 * command a second time; before VS Code knows that the webview has the focus, even in the active editor.
 */
export function keepKeysInFields(): void {
  document.addEventListener('keydown', event => {
    if ((event.ctrlKey || event.metaKey) && !event.altKey && isEditingKey(event) && isField(event.target))
      event.stopPropagation()
  })
  keepChords()
}

/** How long VS Code waits for the second key of a chord, in milliseconds. */
const CHORD_MS = 5000

/**
 * Hides the second key of Parley's chords from the page: VS Code gets it, but the focused element would also insert the
 * letter.
 */
function keepChords(): void {
  let begun = -Infinity
  window.addEventListener(
    'keydown',
    event => {
      if (['Control', 'Shift', 'Alt', 'Meta'].includes(event.key)) return
      const isSecond = performance.now() - begun < CHORD_MS
      const isFirst =
        (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key === "'"
      begun = isFirst && !isSecond ? performance.now() : -Infinity
      if (isSecond) event.preventDefault()
    },
    { capture: true },
  )
  window.addEventListener('blur', () => {
    begun = -Infinity
  })
}

/** Whether the key is A, Y or Z, by letter, or by position on a keyboard without Latin letters. */
function isEditingKey({ key, keyCode }: KeyboardEvent): boolean {
  return /^[ayz]$/i.test(key) || (!/^[a-z]$/i.test(key) && [65, 89, 90].includes(keyCode))
}

const withoutText = ['button', 'checkbox', 'color', 'file', 'image', 'radio', 'range', 'reset', 'submit']

function isField(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false
  if (target instanceof HTMLInputElement) return !withoutText.includes(target.type)
  return target.closest('textarea, [contenteditable]:not([contenteditable="false"])') !== null
}

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

/**
 * Keeps to the fields of a page the keys that select all in them and take their steps back and forth: VS Code hears the
 * keys of a webview as well. It would take the same step again, in the editor's file even, and where it has not heard yet
 * that the focus is here, it selects all of that file and goes there.
 */
export function keepFieldKeys(): void {
  document.addEventListener('keydown', event => {
    if ((event.ctrlKey || event.metaKey) && !event.altKey && isKept(event) && isField(event.target))
      event.stopPropagation()
  })
  keepChords()
}

/** As long as VS Code waits for the second key of a chord, in milliseconds. */
const CHORD_MS = 5000

/**
 * The second key of Parley's chords is VS Code's alone: it hears the keys of a webview, but doesn't keep them from what
 * has the focus there, which would write the letter.
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

/** A, Y or Z, by what they say or, where a keyboard has no Latin letters, by where they are. */
function isKept({ key, keyCode }: KeyboardEvent): boolean {
  return /^[ayz]$/i.test(key) || (!/^[a-z]$/i.test(key) && [65, 89, 90].includes(keyCode))
}

const withoutText = ['button', 'checkbox', 'color', 'file', 'image', 'radio', 'range', 'reset', 'submit']

function isField(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false
  if (target instanceof HTMLInputElement) return !withoutText.includes(target.type)
  return target.closest('textarea, [contenteditable]:not([contenteditable="false"])') !== null
}

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

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

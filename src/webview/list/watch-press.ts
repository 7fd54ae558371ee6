const ends = ['pointerup', 'pointercancel', 'blur'] as const

/**
 * Tells when the pointer's first button goes down on something in an element, and when it is up again: after the click
 * that this makes. A press on the element's own scroll bar is none.
 */
export function watchPress(
  element: HTMLElement,
  press: (on: Element) => void,
  release: () => void,
): () => void {
  const window = element.ownerDocument.defaultView!
  let timer: ReturnType<typeof setTimeout> | undefined
  const end = () => {
    forget()
    // the click is told in the same task
    timer = setTimeout(release)
  }
  // where it went up outside of the window nobody told
  const move = (event: PointerEvent) => {
    if (event.buttons === 0) end()
  }
  const forget = () => {
    clearTimeout(timer)
    for (const type of ends) window.removeEventListener(type, end, true)
    window.removeEventListener('pointermove', move, true)
  }
  const down = (event: PointerEvent) => {
    if (event.button !== 0 || event.target === element) return
    forget()
    press(event.target as Element)
    for (const type of ends) window.addEventListener(type, end, true)
    window.addEventListener('pointermove', move, true)
  }
  element.addEventListener('pointerdown', down)
  return () => {
    forget()
    element.removeEventListener('pointerdown', down)
  }
}

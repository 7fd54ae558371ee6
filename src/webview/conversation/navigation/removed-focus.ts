const FOCUSABLE = 'button:not(:disabled), a[href], input, select, textarea, [tabindex="0"]'

/**
 * When the focused element is removed, focuses the same element of the next item of its list, or else calls `home`. Not in the
 * transcript, where a pending request may take the focus.
 */
export function passOnFocus(root: Element, home: () => void): void {
  let pass = () => {}
  const observer = new MutationObserver(() => pass())
  const forget = () => observer.disconnect()
  document.addEventListener('focusin', ({ target }) => {
    forget()
    if (!(target instanceof Element) || target.closest('.transcript, .composer-text')) return
    if (!root.contains(target)) return
    const next = nextItem(target)
    pass = () => {
      if (target.isConnected) return
      forget()
      if (!document.hasFocus() || document.activeElement !== document.body) return
      next()?.focus()
      if (document.activeElement === document.body) home()
    }
    observer.observe(root, { childList: true, subtree: true })
  })
  // a click elsewhere takes the focus on purpose
  document.addEventListener('pointerdown', forget)
}

/** Returns a function that finds the element in the place of an item after the item was removed. */
function nextItem(target: Element): () => HTMLElement | undefined {
  const item = target.closest('li')
  const list = item?.parentElement
  if (!item || !list) return () => undefined
  const at = [...list.children].indexOf(item)
  const place = [...item.querySelectorAll(FOCUSABLE)].indexOf(target)
  return () => {
    const next = list.isConnected ? (list.children[at] ?? list.lastElementChild) : undefined
    const inside = next ? [...next.querySelectorAll<HTMLElement>(FOCUSABLE)] : []
    return inside[place] ?? inside[0]
  }
}

/**
 * Moves the focus among the elements of one kind inside of a container: up and down by one, Home and End to the ends.
 * @returns whether the key was one of these
 */
export function moveFocus(event: KeyboardEvent, container: Element, selector: string): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return false
  const target = event.target instanceof Element ? event.target.closest(selector) : null
  if (!target) return false
  const all = [...container.querySelectorAll<HTMLElement>(selector)]
  const next = nextOf(event.key, all, all.indexOf(target as HTMLElement))
  if (next === undefined) return false
  event.preventDefault()
  next.focus()
  return true
}

function nextOf(key: string, all: readonly HTMLElement[], at: number): HTMLElement | undefined {
  switch (key) {
    case 'ArrowDown':
      return all[Math.min(all.length - 1, at + 1)]
    case 'ArrowUp':
      return all[Math.max(0, at - 1)]
    case 'Home':
      return all[0]
    case 'End':
      return all.at(-1)
  }
}

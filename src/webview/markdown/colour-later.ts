import { highlight } from './highlight.ts'

/**
 * Colours long code piece by piece while the browser has nothing else to do: all of it at once would stall the view for
 * as long as it takes. A piece begins anew, so what spans two of them (a long comment) may lose its colour in the second.
 */
export function colourLater(element: HTMLElement): void {
  const pieces = [...element.querySelectorAll<HTMLElement>('.code-block[data-language] .code-piece')]
  if (pieces.length === 0) return
  const next = () => {
    const piece = pieces.shift()
    // drawn anew since, or no longer in the page
    if (!piece?.isConnected) return
    if (isSelected(piece)) pieces.push(piece)
    else {
      const language = piece.closest<HTMLElement>('.code-block')?.dataset.language ?? ''
      const html = highlight(piece.textContent ?? '', language)
      // its grammar loads: the block is drawn again then
      if (html === undefined) return
      piece.innerHTML = html
    }
    whenIdle(next, isSelected(pieces[0]) ? 1000 : 0)
  }
  whenIdle(next, 0)
}

/** What the person has selected is left alone. */
function isSelected(piece: HTMLElement | undefined): boolean {
  const selection = getSelection()
  if (!piece || !selection?.rangeCount || selection.isCollapsed) return false
  return selection.getRangeAt(0).intersectsNode(piece)
}

function whenIdle(work: () => void, delay: number): void {
  if (delay > 0) setTimeout(work, delay)
  else if ('requestIdleCallback' in globalThis) requestIdleCallback(work)
  else setTimeout(work)
}

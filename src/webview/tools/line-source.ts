import type { RefObject } from 'preact'
import { useLayoutEffect } from 'preact/hooks'

/** A part that scrolls by itself and has only the lines near its view in the page; each carries its number as `data-row`. */
export interface LineSource {
  readonly count: number
  /** what a line says */
  text(line: number): string
  /** Scrolls there, so that the line is in the page with the next frames. */
  show(line: number): void
}

const sources = new WeakMap<Element, LineSource>()

/** Tells of all lines of an element, for those who look for a text in it. */
export function setLineSource(element: Element, source: LineSource): void {
  sources.set(element, source)
  element.setAttribute('data-lines', '')
}

/** As {@link setLineSource}, for a component; `show` scrolls to a line. */
export function useLineSource(
  element: RefObject<Element | null>,
  count: number,
  text: (line: number) => string,
  show: (line: number) => void,
): void {
  useLayoutEffect(() => {
    if (element.current) setLineSource(element.current, { count, text, show })
  })
}

/** The elements with lines of their own in a part of the page, in order. */
export function lineSourcesIn(root: Element): Array<{ element: HTMLElement; source: LineSource }> {
  return [...root.querySelectorAll<HTMLElement>('[data-lines]')].flatMap(element => {
    const source = sources.get(element)
    return source ? [{ element, source }] : []
  })
}

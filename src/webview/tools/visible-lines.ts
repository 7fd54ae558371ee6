import type { RefObject } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'

/** With fewer lines, all are in the page. */
const ALL_OF = 120
/** Number of lines above and below the visible part. */
const AROUND = 30
/** Assumed sizes before anything was measured. CSS pixels. */
const ASSUMED_LINE = 19
const ASSUMED_VIEW = 400

/**
 * Determines which lines of a scroll area, all of the same height, are in the page: those near the view. `before` and `after`:
 * the heights of the other lines, as CSS. `line`: the selector of a line.
 */
export function useVisibleLines(count: number, line: string) {
  const element = useRef<HTMLDivElement>(null)
  const [first, setFirst] = useState(0)
  const height = useRef(ASSUMED_LINE)
  useLayoutEffect(() => {
    const measured = element.current?.querySelector(line)?.getBoundingClientRect().height
    if (measured) height.current = measured
  })
  const seen = Math.ceil((element.current?.clientHeight || ASSUMED_VIEW) / height.current)
  const windowed = count > ALL_OF
  const start = windowed ? Math.max(0, Math.min(first, count - seen) - AROUND) : 0
  const end = windowed ? Math.min(count, start + seen + 2 * AROUND) : count
  return {
    element,
    start,
    end,
    before: `${start * height.current}px`,
    after: `${(count - end) * height.current}px`,
    onScroll: ({ scrollTop }: HTMLElement) => {
      if (!windowed) return
      const at = Math.floor(scrollTop / height.current)
      // not at every scroll event
      if (Math.abs(at - first) > AROUND / 2) setFirst(at)
    },
    /** Scrolls a line to the middle of the view. */
    scrollToLine: (number: number) => {
      const scroll = element.current
      if (!scroll) return
      scroll.scrollTop = number * height.current - scroll.clientHeight / 2
      setFirst(Math.max(0, number - Math.floor(seen / 2)))
    },
  }
}

/** A scroll area with only the lines near its view in the page; each has its number as `data-row`. */
interface LineSource {
  readonly count: number
  /** the text of a line */
  text(line: number): string
  /** Scrolls to a line, so that the line is in the page after the next frames. */
  show(line: number): void
}

const sources = new WeakMap<Element, LineSource>()

/** Sets the source of all lines of an element, so that text can be found in lines that aren't in the page. */
export function setLineSource(element: Element, source: LineSource): void {
  sources.set(element, source)
  element.setAttribute('data-lines', '')
}

/** Like {@link setLineSource}, for a component; `show` scrolls to a line. */
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

/** Returns the elements with a line source in a part of the page, in order. */
export function lineSourcesIn(root: Element): Array<{ element: HTMLElement; source: LineSource }> {
  return [...root.querySelectorAll<HTMLElement>('[data-lines]')].flatMap(element => {
    const source = sources.get(element)
    return source ? [{ element, source }] : []
  })
}

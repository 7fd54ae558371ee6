import { useLayoutEffect, useRef, useState } from 'preact/hooks'

/** Fewer lines are all there. */
const allOf = 120
/** Lines above and below what is seen. */
const around = 30
/** Before anything was measured. CSS pixels. */
const assumedLine = 19
const assumedView = 400

/**
 * Which lines of a scrolling part are in the page: all have the same height, so that of any number only those near the
 * view are there. `before` and `after` are the heights of what is not, as CSS.
 */
export function useVisibleLines(count: number) {
  const element = useRef<HTMLDivElement>(null)
  const [first, setFirst] = useState(0)
  const height = useRef(assumedLine)
  useLayoutEffect(() => {
    const line = element.current?.querySelector('.diff-line')?.getBoundingClientRect().height
    if (line) height.current = line
  })
  const seen = Math.ceil((element.current?.clientHeight || assumedView) / height.current)
  const windowed = count > allOf
  const start = windowed ? Math.max(0, Math.min(first, count - seen) - around) : 0
  const end = windowed ? Math.min(count, first + seen + around) : count
  return {
    element,
    start,
    end,
    before: `${start * height.current}px`,
    after: `${(count - end) * height.current}px`,
    onScroll: ({ scrollTop }: HTMLElement) => {
      if (!windowed) return
      const at = Math.floor(scrollTop / height.current)
      // not at every step
      if (Math.abs(at - first) > around / 2) setFirst(at)
    },
  }
}

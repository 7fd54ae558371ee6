import { type Signal, signal } from '@preact/signals'
import type { Anchor, ListWindow, Range, WindowItem } from './window.ts'

/** Nearer to the end than this counts as the end, in pixels: fractions of a pixel and a nudge of the wheel. */
const atEnd = 4
/** The height to assume where there is no layout. */
const assumedHeight = 800

/**
 * Holds a long list in place: mounts only the rows near the view, measures them, and keeps what the person looks at
 * where it is when heights above it change. At the end the view follows what is added; anywhere else it stays.
 */
export class ListController<T extends WindowItem> {
  readonly range = signal<Range>({ start: 0, end: 0 })
  /** the view is at the end and follows */
  readonly following: Signal<boolean>
  readonly #follows: boolean
  readonly #window: ListWindow<T>
  #element: HTMLElement | undefined
  #top: HTMLElement | undefined
  #bottom: HTMLElement | undefined
  #anchor: Anchor<T> | undefined
  #lastTop = 0
  #width = 0
  readonly #rows = new Map<Element, T>()
  readonly #elements = new Map<string, HTMLElement>()
  readonly #fresh = new Set<Element>()
  #observer: ResizeObserver | undefined
  /** Called with the rows that are mounted now. */
  onRange: ((range: Range) => void) | undefined

  /** @param options `follow`: the view begins at the end, and follows it there */
  constructor(window: ListWindow<T>, options: { follow: boolean }) {
    this.#window = window
    this.#follows = options.follow
    this.following = signal(options.follow)
  }

  attach(element: HTMLElement, top: HTMLElement, content: HTMLElement, bottom: HTMLElement): () => void {
    this.#element = element
    this.#top = top
    this.#bottom = bottom
    this.#width = element.clientWidth
    this.#observer = new ResizeObserver(entries => this.#resized(entries))
    this.#observer.observe(element)
    this.#observer.observe(content)
    for (const row of this.#rows.keys()) this.#observer.observe(row)
    this.settle()
    return () => {
      this.#observer?.disconnect()
      this.#element = undefined
    }
  }

  /** A row was mounted, or its item is another one now. */
  mount(element: HTMLElement, item: T): () => void {
    this.#rows.set(element, item)
    this.#elements.set(item.key, element)
    this.#fresh.add(element)
    this.#observer?.observe(element)
    return () => {
      this.#rows.delete(element)
      this.#fresh.delete(element)
      if (this.#elements.get(item.key) === element) this.#elements.delete(item.key)
      this.#observer?.unobserve(element)
    }
  }

  /** The element of a row that is mounted. */
  elementOf(key: string): HTMLElement | undefined {
    return this.#elements.get(key)
  }

  onScroll(): void {
    const element = this.#element
    if (!element) return
    const top = element.scrollTop
    const distance = element.scrollHeight - element.clientHeight - top
    const followed = this.following.peek()
    this.following.value = this.#follows && (distance <= atEnd || (followed && top >= this.#lastTop - 1))
    this.#lastTop = top
    if (!this.following.peek()) this.#anchor = this.#window.anchorAt(top)
    this.#updateRange()
  }

  /** The person is about to scroll up: do not take the view away from under them. */
  onWheel(event: WheelEvent): void {
    if (event.deltaY < 0 && (this.#element?.scrollTop ?? 0) > 0) this.release()
  }

  /** Stops following; what is in view stays. */
  release(): void {
    const element = this.#element
    if (!element || !this.following.peek()) return
    this.following.value = false
    this.#anchor = this.#window.anchorAt(element.scrollTop)
  }

  /** Keeps this row where it is on the screen while its height changes. */
  hold(item: T): void {
    const element = this.#element
    if (!element || item.index < 0) return
    this.following.value = false
    this.#anchor = { item, delta: element.scrollTop - this.#window.offsetOf(item.index) }
  }

  /** The row at the upper edge of the view. */
  get firstVisible(): Anchor<T> | undefined {
    // positions are fractions of a pixel, scroll positions may not be
    return this.#element && this.#window.anchorAt(this.#element.scrollTop + 2)
  }

  toEnd(): void {
    this.following.value = true
    this.#anchor = undefined
    this.settle()
  }

  /** Brings a row to the upper edge of the view. */
  toItem(item: T, margin = 16): void {
    if (item.index < 0) return
    this.following.value = false
    this.#anchor = { item, delta: -margin }
    this.settle()
  }

  /** Scrolls as little as needed to have the whole row in view. */
  reveal(item: T): void {
    const element = this.#element
    if (!element || item.index < 0) return
    const top = this.#window.offsetOf(item.index)
    const bottom = top + item.height
    const { scrollTop, clientHeight } = element
    // the first row comes with what stands above it
    if (top < scrollTop) this.toItem(item, item.index <= 1 ? top : 0)
    else if (bottom > scrollTop + clientHeight) this.toItem(item, clientHeight - item.height)
  }

  toTop(): void {
    this.following.value = false
    this.#anchor = undefined
    if (this.#element) this.#element.scrollTop = 0
    this.settle()
  }

  /** After every drawing: measures new rows, keeps the view in place, mounts what came near. */
  settle(): void {
    const element = this.#element
    if (!element || !this.#top || !this.#bottom) return
    for (const row of this.#fresh) this.#measure(row)
    this.#fresh.clear()
    const { start, end } = this.range.peek()
    this.#top.style.height = `${this.#window.offsetOf(Math.min(start, this.#window.count))}px`
    this.#bottom.style.height = `${Math.max(0, this.#window.height - this.#window.offsetOf(Math.min(end, this.#window.count)))}px`
    this.#place(element)
    this.#updateRange()
  }

  #place(element: HTMLElement): void {
    const most = element.scrollHeight - element.clientHeight
    let target: number | undefined
    if (this.following.peek()) target = most
    else {
      const anchor = this.#livingAnchor()
      target = anchor && this.#window.topOf(anchor)
    }
    if (target !== undefined && Math.abs(element.scrollTop - target) > 0.5) element.scrollTop = target
    this.#lastTop = element.scrollTop
    if (this.#follows && most <= 0) this.following.value = true
  }

  /** The anchor; its row may have been made anew since. */
  #livingAnchor(): Anchor<T> | undefined {
    const anchor = this.#anchor
    if (!anchor || anchor.item.index >= 0) return anchor
    const item = this.#window.items.find(one => one.key === anchor.item.key)
    this.#anchor = item && { item, delta: anchor.delta }
    return this.#anchor
  }

  #measure(row: Element): boolean {
    const item = this.#rows.get(row)
    if (!item) return false
    const { height } = row.getBoundingClientRect()
    if (item.measured && Math.abs(item.height - height) < 0.01) return false
    // without layout every height is 0: the estimate is better
    if (height === 0 && !item.measured) return false
    this.#window.setHeight(item, height)
    return true
  }

  #resized(entries: ResizeObserverEntry[]): void {
    const element = this.#element
    if (!element) return
    if (element.clientWidth !== this.#width) this.#width = element.clientWidth
    for (const { target } of entries) if (this.#rows.has(target)) this.#measure(target)
    this.settle()
  }

  #updateRange(): void {
    const element = this.#element
    if (!element) return
    const view = element.clientHeight || assumedHeight
    const top = this.following.peek() ? Math.max(0, this.#window.height - view) : element.scrollTop
    const near = (margin: number) => this.#window.range(top - margin, top + view + margin)
    // while the end is followed, rows pass by: what is far above it comes when somebody looks there
    const following = this.following.peek()
    const needed = near(following ? 0 : view / 2)
    const wanted = near(following ? view / 4 : view)
    const now = this.range.peek()
    const covers = now.start <= needed.start && now.end >= needed.end
    const tooMany = now.end - now.start > (wanted.end - wanted.start) * 2 + 8
    if (covers && !tooMany && now.end <= this.#window.count) return
    if (now.start === wanted.start && now.end === wanted.end) return
    this.range.value = wanted
    this.onRange?.(wanted)
  }
}

import { type Signal, signal } from '@preact/signals'
import type { Anchor, ListWindow, Range, WindowItem } from './window.ts'

/** Distance to the end that still counts as the end, in pixels, to tolerate rounding and small scroll movements. */
const END_TOLERANCE = 4
/**
 * The content of an expanded row may load late: for this long, the row is kept in place even if the whole list fits.
 * Milliseconds.
 */
const HOLD_MS = 1000
/** Rows with selected text stay in the page while they are within this number of rows from the view. */
const MAX_SELECTED = 160
/** The assumed height without a layout. */
const ASSUMED_HEIGHT = 800

/**
 * Controls a long list: mounts only the rows near the view, measures them, and keeps the visible rows in place when
 * heights above them change. At the end, the view follows new rows; elsewhere, it stays.
 */
export class ListController<T extends WindowItem> {
  /** the rows that are in the page */
  readonly range = signal<Range>({ start: 0, end: 0 })
  /** the view is at the end and follows */
  readonly following: Signal<boolean>
  /** the end is in view, whether or not it's followed: it was revealed, or everything fits */
  readonly atEnd = signal(true)
  /** Increases when the view or the rows in it have moved. */
  readonly moved = signal(0)
  readonly #follows: boolean
  readonly #cover: number
  readonly #window: ListWindow<T>
  #element: HTMLElement | undefined
  #top: HTMLElement | undefined
  #bottom: HTMLElement | undefined
  #anchor: Anchor<T> | undefined
  #heldUntil = 0
  /** the height of all rows when they were last in place */
  #placedHeight = 0
  /** the least height of all rows together */
  #minHeight: number | undefined
  /** the row under the pressed pointer, since a click must end on the element where it started */
  #pressed: Anchor<T> | undefined
  #lastTop = 0
  #viewHeight = 0
  #width = 0
  /** the rows that are mounted or being mounted */
  #drawn: Range = this.range.peek()
  /** the rows to mount instead; with a counter to trigger rendering */
  #next: Range | undefined
  readonly #redraws = signal(0)
  /** rows outside of the view are rendered after the current frame */
  #drawAhead: ReturnType<typeof setTimeout> | undefined
  /** whether the user last scrolled toward the start */
  #upwards = true
  readonly #rows = new Map<Element, T>()
  readonly #elements = new Map<string, HTMLElement>()
  readonly #fresh = new Set<Element>()
  #observer: ResizeObserver | undefined
  /** the first and last row with selected text */
  #selected: readonly [T, T] | undefined
  /** Called with the rows that are currently in the page. */
  onRange: ((range: Range) => void) | undefined

  /**
   * @param options `follow`: the view starts at the end and follows it · `cover`: the maximum covered height at its upper edge, in pixels
   */
  constructor(window: ListWindow<T>, options: { follow: boolean; cover?: number }) {
    this.#window = window
    this.#cover = options.cover ?? 0
    this.#follows = options.follow
    this.following = signal(options.follow)
  }

  attach(element: HTMLElement, top: HTMLElement, content: HTMLElement, bottom: HTMLElement): () => void {
    this.#element = element
    this.#top = top
    this.#bottom = bottom
    this.#viewHeight = element.clientHeight
    this.#minHeight = undefined
    this.#observer = new ResizeObserver(entries => this.#resized(entries))
    this.#observer.observe(element)
    this.#observer.observe(content)
    for (const row of this.#rows.keys()) this.#observer.observe(row)
    const select = () => this.#select(element)
    element.ownerDocument.addEventListener('selectionchange', select)
    const wheel = (event: WheelEvent) => this.#wheel(event)
    // passive: the browser scrolls immediately, even while the page is busy
    element.addEventListener('wheel', wheel, { passive: true })
    const endWatch = watchPress(
      element,
      on => this.#press(on),
      () => this.#unpress(),
    )
    const focus = () => this.#focused(element)
    element.addEventListener('focusin', focus)
    this.layout()
    return () => {
      endWatch()
      element.removeEventListener('focusin', focus)
      clearTimeout(this.#drawAhead)
      this.#drawAhead = undefined
      element.removeEventListener('wheel', wheel)
      element.ownerDocument.removeEventListener('selectionchange', select)
      this.#observer?.disconnect()
      this.#element = undefined
    }
  }

  /**
   * The rows to mount now. Call this while rendering, so that changes trigger another rendering. While following the end, new rows are
   * mounted immediately, the first ones together with the list, and rows that are now far above aren't rendered again.
   */
  toDraw(): Range {
    void this.#redraws.value
    this.#drawn = this.#next ?? this.#drawn
    this.#next = undefined
    if (this.#goesAlong()) this.#drawn = this.#wanted(this.#drawn) ?? this.#drawn
    return this.#drawn
  }

  /** A row was mounted, or its item changed. */
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

  /** Height of the visible part of the list, in pixels. */
  get viewHeight(): number {
    return this.#element?.clientHeight || ASSUMED_HEIGHT
  }

  /** Whether there is nothing to scroll. */
  get fits(): boolean {
    const element = this.#element
    return element !== undefined && element.scrollHeight <= element.clientHeight
  }

  /** Whether the whole row is visible. */
  isInView(item: T): boolean {
    const element = this.#element
    if (!element || item.index < 0) return false
    const top = this.#window.offsetOf(item.index)
    return top >= element.scrollTop && top + item.height <= element.scrollTop + element.clientHeight
  }

  /** The element of a mounted row. */
  elementOf(key: string): HTMLElement | undefined {
    return this.#elements.get(key)
  }

  onScroll(): void {
    const element = this.#element
    if (!element) return
    const top = element.scrollTop
    const distance = element.scrollHeight - element.clientHeight - top
    this.atEnd.value = distance <= END_TOLERANCE
    const followed = this.following.peek()
    this.following.value =
      this.#follows && (distance <= END_TOLERANCE || (followed && top >= this.#lastTop - 1))
    if (top !== this.#lastTop) this.#upwards = top < this.#lastTop
    this.#lastTop = top
    if (!this.following.peek()) this.#anchor = this.#window.anchorAt(top)
    // dragging a selection beyond the edge scrolls
    this.#pressed &&= this.#anchorOn(this.#pressed.item, top)
    this.moved.value++
    this.#scrolled(top)
  }

  /** Renders visible rows immediately, and rows near the view after the frame. */
  #scrolled(top: number): void {
    const { start, end } = this.#drawn
    const seen = this.#window.range(top, top + this.#viewHeight)
    if (seen.start < start || seen.end > end) this.#updateRange()
    else
      this.#drawAhead ??= setTimeout(() => {
        this.#drawAhead = undefined
        this.#updateRange()
      })
  }

  /**
   * The browser has scrolled to the focused element but reports that only with the next frame: an update before that
   * would scroll back, away from the focus.
   */
  #focused(element: HTMLElement): void {
    if (Math.abs(element.scrollTop - this.#lastTop) > 0.5) this.onScroll()
  }

  /** Keeps everything under the pointer in place while it's pressed. */
  #press(on: Element): void {
    const top = this.#element?.scrollTop ?? 0
    const item = this.#rowOf(on)
    this.#pressed = item ? this.#anchorOn(item, top) : this.#window.anchorAt(top)
  }

  #unpress(): void {
    this.#pressed = undefined
    this.layout()
  }

  #anchorOn(item: T, top: number): Anchor<T> {
    return { item, delta: top - this.#window.offsetOf(Math.max(0, item.index)) }
  }

  /** The view follows the end from now on. */
  #goesAlong(): boolean {
    return this.following.peek() && !this.#pressed
  }

  /** The user is about to scroll up, so stop following the end. */
  #wheel(event: WheelEvent): void {
    if (event.deltaY < 0 && (this.#element?.scrollTop ?? 0) > 0) this.release()
  }

  /** Stops following the end, without scrolling. */
  release(): void {
    const element = this.#element
    if (!element || !this.following.peek()) return
    this.following.value = false
    this.#anchor = this.#window.anchorAt(element.scrollTop)
  }

  /** Keeps the position of this row on the screen while its height changes. */
  hold(item: T): void {
    const element = this.#element
    if (!element || item.index < 0) return
    this.following.value = false
    this.#heldUntil = performance.now() + HOLD_MS
    this.#anchor = this.#anchorOn(item, element.scrollTop)
  }

  /** Whether a row ends above the view. */
  isAbove(item: T): boolean {
    if (!this.#element || item.index < 0) return false
    return this.#window.offsetOf(item.index) + item.height <= this.#element.scrollTop
  }

  /** The row at the upper edge of the view. */
  get firstVisible(): Anchor<T> | undefined {
    // positions are fractions of a pixel, scroll positions may not be
    return this.#element && this.#window.anchorAt(this.#element.scrollTop + 2)
  }

  /**
   * Keeps the rows below in place when a row gets smaller, until further rows fill the space, another turn starts or the width changes. At
   * most half of the view is left empty.
   */
  keepHeight(): void {
    this.#setMinHeight(this.#placedHeight)
  }

  dropHeight(): void {
    this.#setMinHeight(undefined)
  }

  #setMinHeight(height: number | undefined): void {
    if (height === this.#minHeight) return
    this.#minHeight = height
    const rows = this.#top?.parentElement
    if (rows) rows.style.minHeight = height === undefined ? '' : `${height}px`
  }

  toEnd(): void {
    this.following.value = true
    this.#anchor = undefined
    this.layout()
  }

  /** Scrolls a row to the upper edge of the view, by default below what may cover the edge. */
  toItem(item: T, margin = this.#cover + 12): void {
    if (item.index < 0) return
    this.following.value = false
    this.#anchor = { item, delta: -margin }
    this.layout()
  }

  /** Scrolls as little as necessary to show the whole row. */
  reveal(item: T): void {
    const element = this.#element
    if (!element || item.index < 0) return
    const top = this.#window.offsetOf(item.index)
    const bottom = top + item.height
    const { scrollTop, clientHeight } = element
    // the first row includes the space above it
    if (top < scrollTop + this.#cover) this.toItem(item, item.index <= 1 ? top : this.#cover)
    else if (bottom > scrollTop + clientHeight) this.toItem(item, clientHeight - item.height)
  }

  toTop(): void {
    this.following.value = false
    this.#anchor = undefined
    if (this.#element) this.#element.scrollTop = 0
    this.layout()
  }

  /**
   * Scrolls immediately by this many view heights. An animated scroll of the browser would end at a wrong position when rows with other
   * heights come into view.
   */
  scrollBy(views: number): void {
    if (!this.#element) return
    this.#element.scrollTop += this.#viewHeight * views
    this.onScroll()
  }

  /** After each rendering: measures new rows, keeps the view in place, and mounts rows near the view. */
  layout(): void {
    const element = this.#element
    if (!element || !this.#top || !this.#bottom) return
    for (const row of this.#fresh) this.#measure(row, row.getBoundingClientRect().height)
    this.#fresh.clear()
    const { start, end } = this.#drawn
    this.#top.style.height = `${this.#window.offsetOf(Math.min(start, this.#window.count))}px`
    this.#bottom.style.height = `${Math.max(0, this.#window.height - this.#window.offsetOf(Math.min(end, this.#window.count)))}px`
    const minHeight = this.#minHeight ?? 0
    if (this.#window.height >= minHeight) this.dropHeight()
    // otherwise nothing but the space of a long row would be in view
    else this.#setMinHeight(Math.min(minHeight, this.#window.height + element.clientHeight / 2))
    this.#placedHeight = this.#window.height
    this.#place(element)
    this.moved.value++
    this.#updateRange()
    if (this.range.peek() === this.#drawn) return
    this.range.value = this.#drawn
    this.onRange?.(this.#drawn)
  }

  #place(element: HTMLElement): void {
    this.#viewHeight = element.clientHeight
    const most = element.scrollHeight - this.#viewHeight
    const anchor = this.#living()
    const target = this.#goesAlong() ? most : anchor && this.#window.topOf(anchor)
    if (target !== undefined && Math.abs(element.scrollTop - target) > 0.5) element.scrollTop = target
    this.#lastTop = element.scrollTop
    this.atEnd.value = most - this.#lastTop <= END_TOLERANCE
    if (this.#follows && most <= 0 && performance.now() >= this.#heldUntil) this.following.value = true
  }

  /** The anchor, which stays in place; its row may have been recreated since. */
  #living(): Anchor<T> | undefined {
    const anchor = this.#pressed ?? this.#anchor
    if (!anchor || anchor.item.index >= 0) return anchor
    const item = this.#window.items.find(one => one.key === anchor.item.key)
    const living = item && { item, delta: anchor.delta }
    if (!this.#pressed) this.#anchor = living
    else if (living) this.#pressed = living
    return living
  }

  #measure(row: Element, height: number): boolean {
    const item = this.#rows.get(row)
    if (!item) return false
    if (item.measured && Math.abs(item.height - height) < 0.01) return false
    // without a layout, all heights are 0, so the estimate is better
    if (height === 0 && !item.measured) return false
    this.#window.setHeight(item, height)
    return true
  }

  /** Uses the sizes reported by the browser, since reading them would force a layout. */
  #resized(entries: ResizeObserverEntry[]): void {
    const element = this.#element
    if (!element) return
    let moved = false
    for (const { target, borderBoxSize } of entries) {
      const { blockSize: height = 0, inlineSize: width = 0 } = borderBoxSize[0] ?? {}
      if (target === element && width !== this.#width) {
        this.#width = width
        this.dropHeight()
      }
      if (this.#rows.has(target)) moved = this.#measure(target, height) || moved
      else moved = true
    }
    if (moved) this.layout()
  }

  #updateRange(): void {
    if (!this.#element) return
    this.#next = this.#wanted(this.#drawn)
    if (this.#next) this.#redraws.value++
  }

  /** The rows to mount; `undefined` if the mounted ones are sufficient. */
  #wanted(now: Range): Range | undefined {
    const view = this.#viewHeight || ASSUMED_HEIGHT
    const following = this.#goesAlong()
    const top = following ? Math.max(0, this.#window.height - view) : this.#element!.scrollTop
    const near = (ahead: number, behind: number) =>
      this.#upwards
        ? this.#window.range(top - ahead, top + view + behind)
        : this.#window.range(top - behind, top + view + ahead)
    // while following the end, don't mount rows far above: they are measured when scrolled into view
    const needed = following ? near(0, 0) : near(view, view / 2)
    // draw only the visible rows at first, which is faster
    const margin = now.end > now.start ? view / 4 : 0
    const wanted = this.#withSelected(following ? near(margin, margin) : near(view * 1.5, view))
    const covers = now.start <= needed.start && now.end >= needed.end
    const tooMany = now.end - now.start > (wanted.end - wanted.start) * 2 + 8
    if (covers && !tooMany && now.end <= this.#window.count) return undefined
    return now.start === wanted.start && now.end === wanted.end ? undefined : wanted
  }

  /** Selected text would be lost if its rows left the page. */
  #select(element: HTMLElement): void {
    const selection = element.ownerDocument.getSelection()
    const one = selection && !selection.isCollapsed ? this.#rowOf(selection.anchorNode) : undefined
    const other = one && this.#rowOf(selection?.focusNode ?? null)
    this.#selected = one && other && (one.index <= other.index ? [one, other] : [other, one])
  }

  /** The row with the focus. */
  get focusedRow(): T | undefined {
    return this.#rowOf(this.#element?.ownerDocument.activeElement ?? null)
  }

  #rowOf(node: Node | null): T | undefined {
    for (let at = node; at && at !== this.#element; at = at.parentNode) {
      const row = this.#rows.get(at as Element)
      if (row) return row
    }
    return undefined
  }

  #withSelected(range: Range): Range {
    const [first, last] = this.#selected ?? []
    if (!first || !last || first.index < 0 || last.index < 0) return range
    const start = Math.min(range.start, first.index)
    const end = Math.max(range.end, last.index + 1)
    return end - start > Math.max(MAX_SELECTED, range.end - range.start) ? range : { start, end }
  }
}

const ends = ['pointerup', 'pointercancel', 'blur'] as const

/**
 * Reports when the primary button is pressed on something in an element, and when it's released, after the resulting
 * click. Ignores the element's scroll bar.
 */
function watchPress(element: HTMLElement, press: (on: Element) => void, release: () => void): () => void {
  const window = element.ownerDocument.defaultView!
  let timer: ReturnType<typeof setTimeout> | undefined
  const end = () => {
    forget()
    // the click event follows in the same task
    timer = setTimeout(release)
  }
  // a release outside of the window isn't reported
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

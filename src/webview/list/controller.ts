import { type Signal, signal } from '@preact/signals'
import { DrawnRows, type View } from './drawn-rows.ts'
import { ListSpace } from './list-space.ts'
import { MountedRows } from './mounted-rows.ts'
import { anchorOn, ScrollAnchor } from './scroll-anchor.ts'
import { SelectedRows } from './selected-rows.ts'
import type { Anchor, ListWindow, Range, WindowItem } from './window.ts'

/** Distance to the end that still counts as the end, in pixels, to tolerate rounding and small scroll movements. */
const END_TOLERANCE = 4
/**
 * The content of an expanded row may load late: for this long, the row is kept in place even if the whole list fits.
 * Milliseconds.
 */
const HOLD_MS = 1000
/** The assumed height of the view before the browser lays it out, in pixels. */
const ASSUMED_HEIGHT = 800

/**
 * Controls a long list: mounts only the rows near the view, measures them, and keeps the visible rows in place when
 * heights above them change. At the end, the view follows new rows; elsewhere, it stays.
 */
export class ListController<T extends WindowItem> {
  /** whether the view is at the end and follows new rows */
  readonly following: Signal<boolean>
  /** whether the end is in view, followed or not: the user scrolled there, or the whole list fits */
  readonly atEnd = signal(true)
  /** Increases when the view or the rows in it have moved. */
  readonly moved = signal(0)
  readonly rows: MountedRows<T>
  readonly space: ListSpace<T>
  readonly drawn: DrawnRows<T>
  readonly #follows: boolean
  readonly #cover: number
  readonly #window: ListWindow<T>
  readonly #selection: SelectedRows<T>
  readonly #anchor: ScrollAnchor<T>
  #element: HTMLElement | undefined
  #heldUntil = 0
  #lastTop = 0
  #viewHeight = 0
  #width = 0
  /** renders rows outside of the view after the current frame */
  #drawAhead: ReturnType<typeof setTimeout> | undefined
  /** whether the user last scrolled toward the start */
  #upwards = true

  /**
   * @param options `follow`: the view starts at the end and follows it · `cover`: the maximum covered height at its upper edge, in pixels
   */
  constructor(window: ListWindow<T>, options: { follow: boolean; cover?: number }) {
    this.#window = window
    this.rows = new MountedRows(window)
    this.space = new ListSpace(window)
    this.#selection = new SelectedRows(this.rows)
    this.drawn = new DrawnRows(window, this.#selection)
    this.#anchor = new ScrollAnchor(window)
    this.#cover = options.cover ?? 0
    this.#follows = options.follow
    this.following = signal(options.follow)
  }

  attach(element: HTMLElement, top: HTMLElement, content: HTMLElement, bottom: HTMLElement): () => void {
    this.#element = element
    this.#viewHeight = element.clientHeight
    this.space.attach(top, bottom)
    const unobserve = this.rows.attach(element, content, entries => this.#resized(entries))
    const document = element.ownerDocument
    const select = () => this.#selection.update(document.getSelection())
    document.addEventListener('selectionchange', select)
    // the user is about to scroll up, so stop following the end
    const wheel = (event: WheelEvent) => event.deltaY < 0 && element.scrollTop > 0 && this.release()
    // passive: the browser scrolls immediately, even while the page is busy
    element.addEventListener('wheel', wheel, { passive: true })
    const endWatch = watchPress(
      element,
      on => this.#anchor.press(this.rows.rowOf(on), element.scrollTop),
      () => {
        this.#anchor.unpress()
        this.layout()
      },
    )
    // the browser has scrolled to the focused element but reports the new position only with the next frame: an update before then would
    // scroll back, away from the focus
    const focus = () => Math.abs(element.scrollTop - this.#lastTop) > 0.5 && this.onScroll()
    element.addEventListener('focusin', focus)
    this.layout()
    return () => {
      endWatch()
      element.removeEventListener('focusin', focus)
      clearTimeout(this.#drawAhead)
      this.#drawAhead = undefined
      element.removeEventListener('wheel', wheel)
      document.removeEventListener('selectionchange', select)
      unobserve()
      this.#element = undefined
    }
  }

  /**
   * The rows to mount now. Call this while rendering, so that changes trigger another rendering. While following the end, new rows are
   * mounted immediately, the first ones together with the list, and rows that are now far above aren't rendered again.
   */
  toDraw(): Range {
    return this.drawn.toDraw(this.#goesAlong ? this.#view : undefined)
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
    if (!this.following.peek()) this.#anchor.set(this.#window.anchorAt(top))
    this.#anchor.scrolled(top)
    this.moved.value++
    // visible rows are rendered immediately, and rows near the view after the frame
    if (!this.drawn.covers(top, top + this.#viewHeight)) this.#updateRange()
    else
      this.#drawAhead ??= setTimeout(() => {
        this.#drawAhead = undefined
        this.#updateRange()
      })
  }

  /** Whether the view follows the end now: not while the pointer is pressed. */
  get #goesAlong(): boolean {
    return this.following.peek() && !this.#anchor.isPressed
  }

  get #view(): View {
    const height = this.#viewHeight || ASSUMED_HEIGHT
    const follows = this.#goesAlong
    const top = follows ? Math.max(0, this.#window.height - height) : this.#element!.scrollTop
    return { top, height, follows, upwards: this.#upwards }
  }

  /** Stops following the end, without scrolling. */
  release(): void {
    const element = this.#element
    if (!element || !this.following.peek()) return
    this.following.value = false
    this.#anchor.set(this.#window.anchorAt(element.scrollTop))
  }

  /** Keeps the position of this row on the screen while its height changes. */
  hold(item: T): void {
    const element = this.#element
    if (!element || item.index < 0) return
    this.following.value = false
    this.#heldUntil = performance.now() + HOLD_MS
    this.#anchor.set(anchorOn(this.#window, item, element.scrollTop))
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

  toEnd(): void {
    this.following.value = true
    this.#anchor.set(undefined)
    this.layout()
  }

  /** Scrolls a row to the upper edge of the view, by default below the element that may cover the edge. */
  toItem(item: T, margin = this.#cover + 12): void {
    if (item.index < 0) return
    this.following.value = false
    this.#anchor.set({ item, delta: -margin })
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
    this.#anchor.set(undefined)
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
    if (!element) return
    this.rows.measureNew()
    this.space.place(this.drawn.rows, element)
    this.#place(element)
    this.moved.value++
    this.#updateRange()
    this.drawn.mounted()
  }

  #place(element: HTMLElement): void {
    this.#viewHeight = element.clientHeight
    const most = element.scrollHeight - this.#viewHeight
    const anchored = this.#anchor.top
    const target = this.#goesAlong ? most : anchored
    if (target !== undefined && Math.abs(element.scrollTop - target) > 0.5) element.scrollTop = target
    this.#lastTop = element.scrollTop
    this.atEnd.value = most - this.#lastTop <= END_TOLERANCE
    if (this.#follows && most <= 0 && performance.now() >= this.#heldUntil) this.following.value = true
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
        this.space.drop()
      }
      if (this.rows.has(target)) moved = this.rows.measure(target, height) || moved
      else moved = true
    }
    if (moved) this.layout()
  }

  #updateRange(): void {
    if (this.#element) this.drawn.update(this.#view)
  }
}

const ends = ['pointerup', 'pointercancel', 'blur'] as const

/**
 * Calls `press` when the primary button is pressed in an element, and `release` when it's released, after the resulting
 * click. Ignores the element's scroll bar.
 */
function watchPress(element: HTMLElement, press: (on: Element) => void, release: () => void): () => void {
  const window = element.ownerDocument.defaultView!
  let timer: ReturnType<typeof setTimeout> | undefined
  const end = () => {
    forget()
    // the click event follows in the same task, before the timer
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

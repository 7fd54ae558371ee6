import type { ListWindow, Range, WindowItem } from './window.ts'

/** The empty space in a long list: in place of the rows that aren't in the page, and at the end where rows got smaller. */
export class ListSpace<T extends WindowItem> {
  readonly #window: ListWindow<T>
  #top: HTMLElement | undefined
  #bottom: HTMLElement | undefined
  /** the height of all rows at the last call of {@link place}, in pixels */
  #placed = 0
  /** the minimum height of the content, in pixels */
  #min: number | undefined

  constructor(window: ListWindow<T>) {
    this.#window = window
  }

  /** `top`, `bottom`: the elements before the first row in the page, and after the last */
  attach(top: HTMLElement, bottom: HTMLElement): void {
    this.#top = top
    this.#bottom = bottom
    this.#min = undefined
  }

  /**
   * Keeps the rows below in place when a row gets smaller, until further rows fill the space, another turn starts or the width changes. At
   * most half of the view is left empty.
   */
  keep(): void {
    this.#setMin(this.#placed)
  }

  drop(): void {
    this.#setMin(undefined)
  }

  /** Sets the space around the rows that are in the page. `view`: the scrolling element. */
  place({ start, end }: Range, view: Pick<Element, 'clientHeight'>): void {
    if (!this.#top || !this.#bottom) return
    const { count, height } = this.#window
    this.#top.style.height = `${this.#window.offsetOf(Math.min(start, count))}px`
    this.#bottom.style.height = `${Math.max(0, height - this.#window.offsetOf(Math.min(end, count)))}px`
    const min = this.#min ?? 0
    if (height >= min) this.drop()
    // otherwise, only the empty space of a long row that was collapsed could be in view
    else this.#setMin(Math.min(min, height + view.clientHeight / 2))
    this.#placed = height
  }

  #setMin(height: number | undefined): void {
    if (height === this.#min) return
    this.#min = height
    const rows = this.#top?.parentElement
    if (rows) rows.style.minHeight = height === undefined ? '' : `${height}px`
  }
}

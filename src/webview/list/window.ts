/** A row of a long list. `height` is an estimate until the row was measured. Heights in CSS pixels, gaps included. */
export interface WindowItem {
  readonly key: string
  height: number
  measured: boolean
  /** the row's current position; maintained by the window */
  index: number
}

/** A row and the offset of the view's upper edge in the row, which stay in place when heights above change. */
export interface Anchor<T extends WindowItem> {
  item: T
  delta: number
}

export interface Range {
  /** first row */
  start: number
  /** row after the last */
  end: number
}

/**
 * Determines which rows of a long list are near the view, and their offsets. Heights may change at any time; the cost of
 * a change is in proportion to the distance to the next requested row, so appending to a long list is cheap.
 */
export class ListWindow<T extends WindowItem> {
  readonly #items: T[] = []
  #offsets = new Float64Array(64)
  /** offsets up to this index are valid; `#offsets[count]` is the total height */
  #valid = 0

  get items(): readonly T[] {
    return this.#items
  }

  get count(): number {
    return this.#items.length
  }

  get height(): number {
    return this.offsetOf(this.#items.length)
  }

  splice(start: number, remove: number, add: readonly T[]): void {
    for (const item of this.#items.slice(start, start + remove)) item.index = -1
    // not with `splice`, since a call can have only a limited number of arguments
    if (start + remove >= this.#items.length) {
      this.#items.length = start
      for (const item of add) this.#items.push(item)
    } else this.#items.splice(start, remove, ...add)
    const end = remove === add.length ? start + add.length : this.#items.length
    for (let i = start; i < end; i++) this.#items[i]!.index = i
    this.#invalidate(start)
  }

  setHeight(item: T, height: number): void {
    item.measured = true
    if (item.height === height) return
    item.height = height
    if (item.index >= 0) this.#invalidate(item.index)
  }

  /** Returns the offset of a row from the top of the list. */
  offsetOf(index: number): number {
    const to = Math.min(index, this.#items.length)
    if (to > this.#valid) {
      if (this.#offsets.length <= this.#items.length) this.#growOffsets()
      for (let i = this.#valid; i < to; i++) this.#offsets[i + 1] = this.#offsets[i]! + this.#items[i]!.height
      this.#valid = to
    }
    return this.#offsets[to]!
  }

  /** Returns the index of the row at an offset from the top of the list, or of the nearest row. */
  indexAt(offset: number): number {
    let low = 0
    let high = this.#items.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (this.offsetOf(middle) <= offset) low = middle
      else high = middle - 1
    }
    return low
  }

  /** Returns the rows that overlap the part of the list from `top` to `bottom`. */
  range(top: number, bottom: number): Range {
    if (this.#items.length === 0) return { start: 0, end: 0 }
    return { start: this.indexAt(Math.max(0, top)), end: this.indexAt(Math.max(0, bottom)) + 1 }
  }

  anchorAt(top: number): Anchor<T> | undefined {
    const item = this.#items[this.indexAt(top)]
    return item && { item, delta: top - this.offsetOf(item.index) }
  }

  /** The scroll position that keeps the anchor in place; `undefined` if its row no longer exists. */
  topOf(anchor: Anchor<T>): number | undefined {
    return anchor.item.index < 0 ? undefined : this.offsetOf(anchor.item.index) + anchor.delta
  }

  #invalidate(from: number): void {
    if (from < this.#valid) this.#valid = from
  }

  #growOffsets(): void {
    const larger = new Float64Array(Math.max(this.#items.length + 1, this.#offsets.length * 2))
    larger.set(this.#offsets.subarray(0, this.#valid + 1))
    this.#offsets = larger
  }
}

import type { Anchor, ListWindow, WindowItem } from './window.ts'

/** The row that stays in place in the view, whatever the heights of the rows above. */
export class ScrollAnchor<T extends WindowItem> {
  readonly #window: ListWindow<T>
  /** the row at the position that the user scrolled to */
  #anchor: Anchor<T> | undefined
  /** the row under the pressed pointer, since a click must end on the element where it started */
  #pressed: Anchor<T> | undefined

  constructor(window: ListWindow<T>) {
    this.#window = window
  }

  /** Whether the pointer is pressed: everything under it stays in place meanwhile. */
  get isPressed(): boolean {
    return this.#pressed !== undefined
  }

  set(anchor: Anchor<T> | undefined): void {
    this.#anchor = anchor
  }

  /** The pointer was pressed. `item`: the row under the pointer, if any. */
  press(item: T | undefined, top: number): void {
    this.#pressed = item ? anchorOn(this.#window, item, top) : this.#window.anchorAt(top)
  }

  unpress(): void {
    this.#pressed = undefined
  }

  /** The view scrolled, perhaps because the user drags a selection beyond its edge: the pressed row stays at its new place. */
  scrolled(top: number): void {
    this.#pressed &&= anchorOn(this.#window, this.#pressed.item, top)
  }

  /** The scroll position at which the row stays in place, in pixels. */
  get top(): number | undefined {
    if (this.#pressed) this.#pressed = this.#living(this.#pressed) ?? this.#pressed
    else this.#anchor &&= this.#living(this.#anchor)
    const anchor = this.#pressed ?? this.#anchor
    return anchor && this.#window.topOf(anchor)
  }

  /** Returns the anchor with the current item of its row, which may have been recreated since. */
  #living(anchor: Anchor<T>): Anchor<T> | undefined {
    if (anchor.item.index >= 0) return anchor
    const item = this.#window.items.find(one => one.key === anchor.item.key)
    return item && { item, delta: anchor.delta }
  }
}

/** Returns an anchor for a row at its current place in a view whose upper edge is at `top`. */
export function anchorOn<T extends WindowItem>(window: ListWindow<T>, item: T, top: number): Anchor<T> {
  return { item, delta: top - window.offsetOf(Math.max(0, item.index)) }
}

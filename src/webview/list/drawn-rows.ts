import { signal } from '@preact/signals'
import type { SelectedRows } from './selected-rows.ts'
import type { ListWindow, Range, WindowItem } from './window.ts'

/** The visible part of the list, in pixels. */
export interface View {
  top: number
  height: number
  /** whether the view stays at the end when rows are added */
  follows: boolean
  /** whether the user last scrolled toward the start */
  upwards: boolean
}

/** Which rows of a long list are in the page: those near the view, and those with selected text. */
export class DrawnRows<T extends WindowItem> {
  /** the rows that are in the page */
  readonly range = signal<Range>({ start: 0, end: 0 })
  /** Called with the rows that are currently in the page. */
  onRange: ((range: Range) => void) | undefined
  readonly #window: ListWindow<T>
  readonly #selection: Pick<SelectedRows<T>, 'extend'>
  #rows: Range = this.range.peek()
  /** the rows to mount next instead; `#redraws` triggers the rendering */
  #next: Range | undefined
  readonly #redraws = signal(0)

  constructor(window: ListWindow<T>, selection: Pick<SelectedRows<T>, 'extend'>) {
    this.#window = window
    this.#selection = selection
  }

  /** The rows that are mounted or being mounted. */
  get rows(): Range {
    return this.#rows
  }

  covers(top: number, bottom: number): boolean {
    const seen = this.#window.range(top, bottom)
    return seen.start >= this.#rows.start && seen.end <= this.#rows.end
  }

  /** Returns the rows to mount now. `following`: the view, if it follows the end. */
  toDraw(following: View | undefined): Range {
    void this.#redraws.value
    this.#rows = this.#next ?? this.#rows
    this.#next = undefined
    if (following) this.#rows = this.#wanted(following) ?? this.#rows
    return this.#rows
  }

  /** Triggers a rendering if other rows should be in the page now. */
  update(view: View): void {
    this.#next = this.#wanted(view)
    if (this.#next) this.#redraws.value++
  }

  /** Call this when the rendered rows are in the page. */
  mounted(): void {
    if (this.range.peek() === this.#rows) return
    this.range.value = this.#rows
    this.onRange?.(this.#rows)
  }

  /** Returns the rows to mount; `undefined` if the mounted rows are sufficient. */
  #wanted({ top, height, follows, upwards }: View): Range | undefined {
    const now = this.#rows
    const near = (ahead: number, behind: number) =>
      upwards
        ? this.#window.range(top - ahead, top + height + behind)
        : this.#window.range(top - behind, top + height + ahead)
    // while following the end, don't mount rows far above: they are measured when scrolled into view
    const needed = follows ? near(0, 0) : near(height, height / 2)
    // draw only the visible rows at first, which is faster
    const margin = now.end > now.start ? height / 4 : 0
    const wanted = this.#selection.extend(follows ? near(margin, margin) : near(height * 1.5, height))
    const covers = now.start <= needed.start && now.end >= needed.end
    const tooMany = now.end - now.start > (wanted.end - wanted.start) * 2 + 8
    if (covers && !tooMany && now.end <= this.#window.count) return undefined
    return now.start === wanted.start && now.end === wanted.end ? undefined : wanted
  }
}

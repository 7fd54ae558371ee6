import { type Signal, signal } from '@preact/signals'
import { ListController } from '../list/controller.ts'
import { ChosenRows } from './chosen-rows.ts'
import type { HistoryItem, HistoryLines, RowItem } from './items.ts'

/** The row that keys act on, and the row whose title is being edited. The search field keeps the focus meanwhile. */
export class HistorySelection {
  readonly list: ListController<HistoryItem>
  readonly chosen: ChosenRows
  readonly #lines: HistoryLines
  readonly #selected = signal<string | undefined>(undefined)
  /** where the selected row was */
  #index = 0
  readonly #renamed: Signal<string | undefined>

  /** @param renamed the key of the row whose title is being edited */
  constructor(lines: HistoryLines, renamed: Signal<string | undefined>) {
    this.#lines = lines
    this.#renamed = renamed
    this.chosen = new ChosenRows(lines)
    this.list = new ListController(lines.window, { follow: false })
  }

  get key(): string | undefined {
    return this.#selected.value
  }

  /** The key of the row whose title is being edited. */
  get renamed(): string | undefined {
    return this.#renamed.value
  }

  /** The selected row, or the first row if the selected one isn't shown, since the user may press Enter before rows are rendered. */
  get item(): RowItem | undefined {
    const { rows, index } = this.#current()
    return rows[index]
  }

  /** Whether the selected row is in the page; rows far from the view aren't. */
  get isMounted(): boolean {
    const { start, end } = this.list.drawn.range.value
    return this.#lines.window.items.slice(start, end).some(item => item.key === this.key)
  }

  /** Call this after the rows changed: if the selected row is gone, selects the row at its position. */
  selectShown(): void {
    const { rows } = this.#lines
    const index = rows.findIndex(({ key }) => key === this.#selected.peek())
    if (index >= 0) this.#index = index
    else this.#selected.value = rows[Math.min(this.#index, rows.length - 1)]?.key
  }

  /** Moves by this number of rows, at most to the first or the last one. `extend`: chooses the rows on the way. */
  move(by: number, { extend }: { extend: boolean }): void {
    const { rows, index } = this.#current()
    const item = rows[Math.max(0, Math.min(rows.length - 1, index + by))]
    if (!item) return
    this.#renamed.value = undefined
    if (extend) this.chosen.extendTo(item, rows[index])
    else this.chosen.clear()
    this.#reveal(item)
  }

  /** Handles a press on a row with the mouse: with Ctrl, the row is also chosen; with Shift, all rows up to it. */
  press(item: RowItem, event: MouseEvent): void {
    const { key } = item
    if (event.shiftKey) this.chosen.extendTo(item, this.item)
    else if (isToggle(event)) this.chosen.toggle(item)
    else this.chosen.clear()
    this.#selected.value = key
    this.#index = this.#lines.positionOf(item) - 1
    if (this.renamed !== key) this.#renamed.value = undefined
  }

  /** Selects nothing and scrolls to the start: the user is looking for other rows. */
  clear(): void {
    this.#renamed.value = undefined
    this.chosen.clear()
    this.#selected.value = undefined
    this.#index = 0
    this.list.toTop()
  }

  rename({ key }: RowItem): void {
    this.#selected.value = key
    this.#renamed.value = key
  }

  /** Ends editing the title of this row, or of any row. Has no effect if another row's title is being edited meanwhile. */
  endRename(row?: RowItem): void {
    if (!row || this.renamed === row.key) this.#renamed.value = undefined
  }

  /** Selects the row whose title is being edited, and scrolls to it. */
  revealRenamed(): void {
    const item = this.#lines.item(this.renamed)
    if (item) this.#reveal(item)
  }

  #reveal(item: RowItem): void {
    this.#selected.value = item.key
    this.#index = this.#lines.positionOf(item) - 1
    this.list.reveal(item)
  }

  #current(): { rows: RowItem[]; index: number } {
    const { rows } = this.#lines
    const index = rows.findIndex(item => item.key === this.key)
    return { rows, index: index < 0 && rows.length > 0 ? 0 : index }
  }
}

/** Whether a click only chooses rows and opens nothing. */
export function isChoosing(event: MouseEvent): boolean {
  return event.shiftKey || isToggle(event)
}

/** Whether a click adds a row to the chosen rows, or removes it. On macOS, a click with Ctrl opens the menu. */
function isToggle({ ctrlKey, metaKey, button }: MouseEvent): boolean {
  return button === 0 && (ctrlKey || metaKey)
}

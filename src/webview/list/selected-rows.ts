import type { MountedRows } from './mounted-rows.ts'
import type { Range, WindowItem } from './window.ts'

/** Rows with selected text stay in the page while they are within this number of rows from the view. */
const MAX_SELECTED = 160

/** The rows with selected text. The selection would be lost if its rows left the page. */
export class SelectedRows<T extends WindowItem> {
  readonly #rows: Pick<MountedRows<T>, 'rowOf'>
  /** the first and the last row with selected text */
  #selected: readonly [T, T] | undefined

  constructor(rows: Pick<MountedRows<T>, 'rowOf'>) {
    this.#rows = rows
  }

  update(selection: Selection | null): void {
    const one = selection && !selection.isCollapsed ? this.#rows.rowOf(selection.anchorNode) : undefined
    const other = one && this.#rows.rowOf(selection?.focusNode ?? null)
    this.#selected = one && other && (one.index <= other.index ? [one, other] : [other, one])
  }

  /** Returns the range extended to the selected rows, unless they are far away. */
  extend(range: Range): Range {
    const [first, last] = this.#selected ?? []
    if (!first || !last || first.index < 0 || last.index < 0) return range
    const start = Math.min(range.start, first.index)
    const end = Math.max(range.end, last.index + 1)
    return end - start > Math.max(MAX_SELECTED, range.end - range.start) ? range : { start, end }
  }
}

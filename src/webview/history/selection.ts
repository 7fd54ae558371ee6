import { type Signal, signal } from '@preact/signals'
import { ListController } from '../list/controller.ts'
import type { HistoryItem, HistoryLines, RowItem, RowQuestion } from './items.ts'

/** The row that keys act on, and the question that a row shows. The search field keeps the focus meanwhile. */
export class HistorySelection {
  readonly list: ListController<HistoryItem>
  readonly #lines: HistoryLines
  readonly #selected = signal<string | undefined>(undefined)
  readonly #question: Signal<RowQuestion | undefined>

  constructor(lines: HistoryLines, question: Signal<RowQuestion | undefined>) {
    this.#lines = lines
    this.#question = question
    this.list = new ListController(lines.window, { follow: false })
  }

  /** The key of the selected row. */
  get key(): string | undefined {
    return this.#selected.value
  }

  get question(): RowQuestion | undefined {
    return this.#question.value
  }

  /** The selected row; the first one if that isn't shown, since the user may press Enter before rows are rendered. */
  get item(): RowItem | undefined {
    const { rows, index } = this.#current()
    return rows[index]
  }

  /** Whether the selected row is in the page; rows far from the view aren't. */
  get isMounted(): boolean {
    const { start, end } = this.list.range.value
    return this.#lines.window.items.slice(start, end).some(item => item.key === this.key)
  }

  /** After the rows changed: selects the first one if the selected one is gone. */
  selectShown(): void {
    if (!this.#lines.item(this.#selected.peek())) this.#selected.value = this.#lines.rows[0]?.key
  }

  /** Moves by this number of rows, at most to the first or the last one. */
  move(by: number): void {
    const { rows, index } = this.#current()
    const item = rows[Math.max(0, Math.min(rows.length - 1, index + by))]
    if (!item) return
    this.#question.value = undefined
    this.#reveal(item)
  }

  /** The user pressed a row with the mouse. */
  press({ key }: RowItem): void {
    this.#selected.value = key
    if (this.question?.key !== key) this.#question.value = undefined
  }

  /** Selects nothing and scrolls to the start: the user is looking for other rows. */
  clear(): void {
    this.#question.value = undefined
    this.#selected.value = undefined
    this.list.toTop()
  }

  ask(what: RowQuestion['what'], { key }: RowItem): void {
    this.#selected.value = key
    this.#question.value = { what, key }
  }

  /** Closes the question of a row, or of any. It may have moved to another row meanwhile. */
  closeQuestion(row?: RowItem): void {
    if (!row || this.question?.key === row.key) this.#question.value = undefined
  }

  /** Selects the row with the question, wherever it was asked, and scrolls to it. */
  revealQuestion(): { what: RowQuestion['what']; item: RowItem } | undefined {
    const { question } = this
    const item = this.#lines.item(question?.key)
    if (!question || !item) return undefined
    this.#reveal(item)
    return { what: question.what, item }
  }

  #reveal(item: RowItem): void {
    this.#selected.value = item.key
    this.list.reveal(item)
  }

  #current(): { rows: RowItem[]; index: number } {
    const { rows } = this.#lines
    const index = rows.findIndex(item => item.key === this.key)
    return { rows, index: index < 0 && rows.length > 0 ? 0 : index }
  }
}

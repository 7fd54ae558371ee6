import { signal } from '@preact/signals'
import type { HistoryLines, RowItem } from './items.ts'

/** The rows that the user chose, for actions on all of them. The row that keys act on is separate (see `HistorySelection`). */
export class ChosenRows {
  readonly #lines: HistoryLines
  readonly #keys = signal<ReadonlySet<string>>(new Set())
  /** the key of the row from which a range is chosen */
  #anchor: string | undefined

  constructor(lines: HistoryLines) {
    this.#lines = lines
  }

  get isEmpty(): boolean {
    return this.#keys.value.size === 0
  }

  has(key: string): boolean {
    return this.#keys.value.has(key)
  }

  /** The chosen rows that are shown, in order. */
  get rows(): RowItem[] {
    const keys = this.#keys.value
    return keys.size === 0 ? [] : this.#lines.rows.filter(({ key }) => keys.has(key))
  }

  toggle({ key }: RowItem): void {
    const keys = new Set(this.#keys.peek())
    if (!keys.delete(key)) keys.add(key)
    this.#anchor = key
    this.#keys.value = keys
  }

  /** Chooses exactly the rows from the start of the last range or toggle, or else from `start`, to this row. */
  extendTo({ key }: RowItem, start: RowItem | undefined): void {
    const { rows } = this.#lines
    const indexOf = (of: string | undefined) => rows.findIndex(row => row.key === of)
    this.#anchor = indexOf(this.#anchor) < 0 ? (start?.key ?? key) : this.#anchor
    const [from = 0, to = 0] = [indexOf(this.#anchor), indexOf(key)].sort((a, b) => a - b)
    this.#keys.value = new Set(rows.slice(from, to + 1).map(row => row.key))
  }

  all(): void {
    this.#keys.value = new Set(this.#lines.rows.map(({ key }) => key))
  }

  /** Chooses no rows; returns false if none was chosen. */
  clear(): boolean {
    this.#anchor = undefined
    if (this.#keys.peek().size === 0) return false
    this.#keys.value = new Set()
    return true
  }
}

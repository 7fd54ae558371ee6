import { signal } from '@preact/signals'
import { ListWindow } from '../../list/window.ts'
import type { Expansion } from '../expansion.ts'
import {
  endsTurn,
  gapBetween,
  isNamed,
  markdownRows,
  missingRow,
  NAME_HEIGHT,
  type Row,
  rowsOfEntry,
  runRow,
  turnRow,
} from '../row.ts'
import type { EntrySlot } from '../slot.ts'

/** Consecutive entries that are turned into rows together, nearly always one. */
interface Segment {
  /** first entry */
  from: number
  /** entry after the last */
  to: number
  rows: Row[]
  /** its position among the segments */
  position: number
}

/**
 * Turns entries into the rows of the list, and updates them as entries are added, change, expand and collapse. The cost
 * of a change depends only on what it affects: text at the end of a message of any length adds only the rows of its new
 * blocks.
 */
export class RowModel {
  readonly window = new ListWindow<Row>()
  /** Increases when rows were added, removed or moved. */
  readonly version = signal(0)
  /** by entry index; `undefined` if not fetched */
  slots: Array<EntrySlot | undefined> = []
  readonly #segments: Segment[] = []
  readonly #segmentOf: Segment[] = []
  #isPart = false
  readonly #expansion: Pick<Expansion, 'run' | 'hides'>

  constructor(expansion: Pick<Expansion, 'run' | 'hides'>) {
    this.#expansion = expansion
  }

  /**
   * Replaces all entries; rows that still exist keep their heights. `isPart`: the missing ones can't be fetched yet, so they get one
   * row, which is made much faster than thousands.
   */
  reset(slots: ReadonlyArray<EntrySlot | undefined>, isPart = false): void {
    this.#isPart = isPart
    const kept = keptRows(this.window.items)
    this.window.splice(0, this.window.count, [])
    this.#segments.length = 0
    this.#segmentOf.length = 0
    this.slots = [...slots]
    this.#replaceSegments(0, 0, 0, this.slots.length, kept)
    this.version.value++
  }

  /** Entries are new, were fetched, or changed their kind, status or openness: `from` inclusive, `to` exclusive. */
  changed(from: number, to: number): void {
    if (to - from === 1 && this.#changedInRun(from)) {
      this.version.value++
      return
    }
    let low = from
    let high = Math.max(to, from)
    for (;;) {
      const segment = this.#segmentOf[low]
      if (segment && segment.from < low) low = segment.from
      else if (low > 0 && this.#joins(low - 1, low)) low -= 1
      else break
    }
    for (;;) {
      const segment = this.#segmentOf[high - 1]
      if (segment && segment.to > high) high = segment.to
      else if (high < this.slots.length && this.#joins(high - 1, high)) high += 1
      else break
    }
    const first = low < this.#segmentOf.length ? this.#segmentOf[low]!.position : this.#segments.length
    let last = first
    while (last < this.#segments.length && this.#segments[last]!.from < high) last++
    const kept = keptRows(this.#segments.slice(first, last).flatMap(segment => segment.rows))
    this.#replaceSegments(first, last - first, low, high, kept)
    this.version.value++
  }

  /** A tool call of a run changed and stays in it, or is added to the last run, without affecting the others. */
  #changedInRun(index: number): boolean {
    const slot = this.slots[index]
    const isNew = index === this.#segmentOf.length
    const segment = this.#segmentOf[isNew ? index - 1 : index]
    const head = segment?.rows[0]
    if (!slot || !segment || head?.kind !== 'run' || !folds(slot)) return false
    if (endsTurn(slot) || segment.rows.at(-1)?.kind === 'turn') return false
    if (!isNew && head.slots[index - segment.from] !== slot) return false
    if (isNew) {
      if (index !== this.slots.length - 1 || !this.#joins(index - 1, index)) return false
      head.slots.push(slot)
      segment.to++
      this.#segmentOf.push(segment)
      if (this.#expansion.run(head.slots[0]!.id).peek()) this.#addRows(segment, rowsOfEntry(slot, true))
    }
    head.tally.count(slot)
    return true
  }

  /** For the last segment of the list. */
  #addRows(segment: Segment, rows: Row[]): void {
    for (const row of rows) {
      const lead = leadOf(segment.rows.at(-1), row)
      row.height += heightOf(lead)
      segment.rows.push(Object.assign(row, lead))
    }
    this.window.splice(this.window.count, 0, rows)
  }

  /** Text grew at the end of an entry. */
  grown(slot: EntrySlot): void {
    if (this.#hides(slot)) return
    const segment = this.#segmentOf[slot.index]
    if (!segment || segment.to - segment.from !== 1) {
      this.changed(slot.index, slot.index + 1)
      return
    }
    const entry = slot.entry.peek()
    if (entry.kind !== 'message' || entry.role === 'user') {
      this.changed(slot.index, slot.index + 1)
      return
    }
    if (entry.role === 'thought' && segment.rows.length > 0 && !slot.open.peek()) return
    const block = entry.blocks.length - 1
    const last = segment.rows.at(-1)
    if (last?.kind !== 'markdown' || last.block !== block) {
      this.changed(slot.index, slot.index + 1)
      return
    }
    const count = slot.documents[block]?.blocks.length ?? 0
    const have = last.part + 1
    if (count === have) return
    const at = last.index + 1
    if (count > have) {
      const added = markdownRows(slot, block, have)
      segment.rows.push(...added)
      this.window.splice(at, 0, added)
    } else {
      const remove = Math.min(have - count, segment.rows.length)
      segment.rows.length -= remove
      this.window.splice(at - remove, remove, [])
    }
    this.#mendGap(slot.index)
    this.version.value++
  }

  /**
   * The rows of an entry, in order, without the line at the end of its turn; those of its run if it's collapsed into one.
   * None if it's shown in the line of its tool call, or if its subagent or its turn is collapsed.
   */
  rowsOf(entryIndex: number): readonly Row[] {
    const rows = this.#segmentOf[entryIndex]?.rows ?? []
    return rows.at(-1)?.kind === 'turn' ? rows.slice(0, -1) : rows
  }

  /** The line at the end of a turn, by the turn's last entry. */
  turnRowOf(entryIndex: number): Row | undefined {
    const last = this.#segmentOf[entryIndex]?.rows.at(-1)
    return last?.kind === 'turn' ? last : undefined
  }

  /** Answered permissions, which the line of their tool call shows, and entries of a collapsed subagent or turn. Pending requests are always shown. */
  #hides(slot: EntrySlot): boolean {
    const entry = slot.entry.peek()
    if (slot.call && entry.kind === 'permission' && entry.outcome) return true
    if (!this.#expansion.hides(slot)) return false
    return !((entry.kind === 'permission' || entry.kind === 'elicitation') && entry.outcome === undefined)
  }

  #joins(a: number, b: number): boolean {
    const first = this.slots[a]
    const second = this.slots[b]
    if (!first && !second) return this.#isPart
    if (!first || !second || !folds(first) || !folds(second) || endsTurn(first)) return false
    // A subagent's entries don't form a run with those of others.
    return first.entry.peek().within === second.entry.peek().within
  }

  #replaceSegments(first: number, remove: number, from: number, to: number, kept: Map<string, Row>): void {
    const old = this.#segments.slice(first, first + remove)
    const start = this.#rowBefore(first)
    const removedRows = old.reduce((sum, segment) => sum + segment.rows.length, 0)
    const segments = this.#segment(from, to)
    let before = start > 0 ? this.window.items[start - 1] : undefined
    const rows: Row[] = []
    for (const segment of segments) {
      const { rows: own } = segment
      for (let i = 0; i < own.length; i++) {
        const row = own[i]!
        const lead = before?.kind === 'missing' && row.kind === 'missing' ? BOTH_MISSING : leadOf(before, row)
        before = keepHeight(kept.size > 0 ? kept.get(row.key) : undefined, row, lead)
        own[i] = before
        rows.push(before)
      }
    }
    this.window.splice(start, removedRows, rows)
    if (first === this.#segments.length) this.#segments.push(...segments)
    else this.#segments.splice(first, remove, ...segments)
    const until = remove === segments.length ? first + remove : this.#segments.length
    for (let i = first; i < until; i++) this.#segments[i]!.position = i
    if (this.#segmentOf.length < to) this.#segmentOf.length = to
    for (const segment of segments) this.#segmentOf.fill(segment, segment.from, segment.to)
    this.#mendGap(to - 1)
  }

  /** The space above the first row after an entry depends on the entry's last row. */
  #mendGap(entryIndex: number): void {
    const segment = this.#segmentOf[entryIndex]
    if (!segment) return
    const at = this.#rowBefore(segment.position + 1)
    const row = this.window.items[at]
    if (!row) return
    const lead = leadOf(this.window.items[at - 1], row)
    if (lead.gap === row.gap && lead.named === row.named) return
    const height = row.height + heightOf(lead) - heightOf(row)
    Object.assign(row, lead)
    const { measured } = row
    this.window.setHeight(row, height)
    row.measured = measured
  }

  /** Number of rows of the segments before a position. */
  #rowBefore(position: number): number {
    for (let i = position - 1; i >= 0; i--) {
      const last = this.#segments[i]!.rows.at(-1)
      if (last) return last.index + 1
    }
    return 0
  }

  #segment(from: number, to: number): Segment[] {
    const list: Segment[] = []
    for (let i = from; i < to; ) {
      let end = i + 1
      // of thousands of missing ones
      if (this.#isPart && !this.slots[i]) while (end < to && !this.slots[end]) end++
      else while (end < to && this.#joins(end - 1, end)) end++
      list.push({ from: i, to: end, rows: this.#rows(i, end), position: -1 })
      i = end
    }
    return list
  }

  #rows(from: number, to: number): Row[] {
    const first = this.slots[from]
    if (!first) return [missingRow(from, to - from)]
    const slots = this.slots.slice(from, to) as EntrySlot[]
    const last = slots.at(-1)!
    const rows = this.#hides(first) ? [] : this.#rowsOfSlots(slots)
    return endsTurn(last) ? [...rows, turnRow(last)] : rows
  }

  #rowsOfSlots(slots: EntrySlot[]): Row[] {
    const [first] = slots
    if (slots.length === 1) return rowsOfEntry(first!)
    const head = runRow(slots)
    if (!this.#expansion.run(first!.id).peek()) return [head]
    return [head, ...slots.flatMap(slot => rowsOfEntry(slot, true))]
  }
}

function keptRows(rows: readonly Row[]): Map<string, Row> {
  return new Map(rows.map(row => [row.key, row]))
}

/** A row's gap and name depend on the row before it. */
type Lead = Pick<Row, 'gap' | 'named'>

function leadOf(before: Row | undefined, row: Row): Lead {
  return { gap: gapBetween(before, row), named: isNamed(before, row) }
}

/** Of thousands, while only the end of a long conversation was fetched. */
const BOTH_MISSING: Lead = { gap: 16, named: false }

function heightOf({ gap, named }: Lead): number {
  return gap + (named ? NAME_HEIGHT : 0)
}

/** The old row if it's equal except for its height, otherwise the new one with the old one's height. */
function keepHeight(old: Row | undefined, row: Row, lead: Lead): Row {
  const isMissing = old?.kind === 'missing' && row.kind === 'missing'
  if (!old || old.kind !== row.kind || (isMissing && old.count !== row.count)) {
    row.height += heightOf(lead)
    return withLead(row, lead)
  }
  const height = old.height + heightOf(lead) - heightOf(old)
  const same =
    row.kind !== 'run' &&
    (!('slot' in row) ||
      (row.slot === (old as typeof row).slot &&
        !('nested' in row && row.nested !== (old as typeof row).nested)))
  const keep = withLead(same ? old : row, lead)
  keep.height = height
  keep.measured = old.measured
  return keep
}

function withLead(row: Row, { gap, named }: Lead): Row {
  row.gap = gap
  row.named = named
  return row
}

const foldable = new Set(['read', 'search', 'fetch'])

/**
 * Reads and searches without content of their own are collapsed together with their neighbors, except those that needed a
 * permission, whose line says how it was answered.
 */
function folds(slot: EntrySlot): boolean {
  const entry = slot.entry.peek()
  return (
    entry.kind === 'tool_call' &&
    foldable.has(entry.toolKind) &&
    slot.permissions.peek().length === 0 &&
    entry.content.every(content => content.type !== 'diff' && content.type !== 'terminal')
  )
}

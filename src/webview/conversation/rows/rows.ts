import { signal } from '@preact/signals'
import { chosenOption } from '../../../conversation/permission-outcome.ts'
import { ListWindow } from '../../list/window.ts'
import type { Expansion } from '../expansion.ts'
import {
  asideRow,
  endsTurn,
  gapBetween,
  isNamed,
  markdownRows,
  missingRow,
  NAME_HEIGHT,
  type Row,
  type RunKind,
  type RunRow,
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
  /** position among the segments */
  position: number
}

/**
 * Turns entries into the rows of the list, and updates them as entries are added, change, expand and collapse. The cost of a change depends
 * only on the affected rows: text at the end of a message of any length adds only the rows of its new blocks.
 */
export class RowModel {
  readonly window = new ListWindow<Row>()
  /** Increases when rows were added, removed or moved. */
  readonly version = signal(0)
  /** Returns the row with the focus, which isn't folded into a run, since it would lose the focus. */
  focusedRow: () => Row | undefined = () => undefined
  /** by entry index; `undefined` if not fetched */
  slots: Array<EntrySlot | undefined> = []
  readonly #segments: Segment[] = []
  readonly #segmentOf: Segment[] = []
  #isPart = false
  readonly #expansion: Pick<Expansion, 'run' | 'hides' | 'asideAt' | 'hiddenAsideAt'>

  constructor(expansion: Pick<Expansion, 'run' | 'hides' | 'asideAt' | 'hiddenAsideAt'>) {
    this.#expansion = expansion
  }

  /**
   * Replaces all entries; rows that still exist keep their heights. `isPart`: missing entries can't be fetched yet, so all of them get
   * a single row, which is much faster than thousands of rows.
   */
  reset(slots: ReadonlyArray<EntrySlot | undefined>, isPart = false): void {
    this.#isPart = isPart
    const earlier = rowsByKey(this.window.items)
    this.window.splice(0, this.window.count, [])
    this.#segments.length = 0
    this.#segmentOf.length = 0
    this.slots = [...slots]
    this.#replaceSegments(0, 0, 0, this.slots.length, earlier)
    this.version.value++
  }

  /** Updates the rows of entries that are new, were fetched, expanded or collapsed, or changed kind or status. `to` is exclusive. */
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
    const earlier = rowsByKey(this.#segments.slice(first, last).flatMap(segment => segment.rows))
    this.#replaceSegments(first, last - first, low, high, earlier)
    this.version.value++
  }

  /**
   * Updates a run if an entry changed and stays in it, or is added at its end, without affecting its other entries. Returns false
   * otherwise.
   */
  #changedInRun(index: number): boolean {
    const slot = this.slots[index]
    const own = this.#segmentOf[index]
    const head = own?.rows[0]
    if (!slot || !own || head?.kind !== 'run') return this.#addedToRun(index)
    if (runOf(slot) !== head.of || head.slots[index - own.from] !== slot) return false
    if (endsTurn(slot) || own.rows.at(-1)?.kind === 'turn') return false
    head.tally.count(slot)
    return true
  }

  /**
   * Adds a new entry, or a completed edit, to the run above it, together with following entries that belong to the run. Returns false if
   * the entry doesn't belong to the run, or rows in view would move.
   */
  #addedToRun(index: number): boolean {
    const run = this.#segmentOf[index - 1]
    const head = run?.rows[0]
    if (!run || head?.kind !== 'run' || run.to !== index || !this.#joins(index - 1, index)) return false
    let to = index + 1
    while (to < this.slots.length && this.#joins(to - 1, to)) to++
    const added = this.slots.slice(index, to) as EntrySlot[]
    if (endsTurn(added.at(-1)!)) return false
    const first = run.position + 1
    let last = first
    while (last < this.#segments.length && this.#segments[last]!.from < to) last++
    const old = this.#segments.slice(first, last)
    const isOpen = this.#isOpen(head)
    if (!isOpen && (this.#staysInView(added) || this.#inOpenRuns(old).size > 0)) return false

    const replaced = old.flatMap(segment => segment.rows)
    const earlier = rowsByKey(replaced)
    const start = run.rows.at(-1)!.index + 1
    const rows: Row[] = []
    for (const row of isOpen ? added.flatMap(rowsInRun) : []) {
      rows.push(keepHeight(earlier.get(row.key), row, leadOf(rows.at(-1) ?? run.rows.at(-1), row)))
    }
    this.window.splice(start, replaced.length, rows)
    this.#segments.splice(first, last - first)
    if (last > first) for (let i = first; i < this.#segments.length; i++) this.#segments[i]!.position = i
    for (const slot of added) {
      head.slots.push(slot)
      head.tally.count(slot)
    }
    run.rows.push(...rows)
    run.to = to
    if (this.#segmentOf.length < to) this.#segmentOf.length = to
    this.#segmentOf.fill(run, index, to)
    this.#mendGap(to - 1)
    return true
  }

  /** Updates the rows of an entry whose text grew at its end. */
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
   * Returns the rows of an entry, in order, without the line of entries that were set aside and the line at the end of the turn. For an
   * entry that is collapsed into a run, returns the rows of the run. Returns no rows if the entry is shown in the line of its tool call, or
   * if its subagent or its turn is collapsed.
   */
  rowsOf(entryIndex: number): readonly Row[] {
    const all = this.#segmentOf[entryIndex]?.rows ?? []
    const rows = all[0]?.kind === 'aside' ? all.slice(1) : all
    return rows.at(-1)?.kind === 'turn' ? rows.slice(0, -1) : rows
  }

  /** Returns the line at the end of a turn, by the index of the turn's last entry. */
  turnRowOf(entryIndex: number): Row | undefined {
    const last = this.#segmentOf[entryIndex]?.rows.at(-1)
    return last?.kind === 'turn' ? last : undefined
  }

  /** Whether an entry has no rows: an answered permission, which its tool call's line shows, or part of a collapsed subagent or turn. */
  #hides(slot: EntrySlot): boolean {
    const entry = slot.entry.peek()
    if (slot.call && entry.kind === 'permission' && entry.outcome) return true
    if (!this.#expansion.hides(slot)) return false
    return !((entry.kind === 'permission' || entry.kind === 'elicitation') && entry.outcome === undefined)
  }

  #joins(a: number, b: number): boolean {
    // the notice of a restore follows the turns that the restore set aside
    if (this.#expansion.asideAt(a) !== this.#expansion.asideAt(b)) return false
    const first = this.slots[a]
    const second = this.slots[b]
    if (!first && !second) return this.#isPart
    const of = first && !endsTurn(first) ? runOf(first) : undefined
    if (of === undefined || !second || runOf(second) !== of) return false
    // Entries of a subagent or a turn form a run only with each other.
    return first!.within === second.within && first!.entry.peek().turn === second.entry.peek().turn
  }

  #isOpen(run: RunRow): boolean {
    return this.#expansion.run(run.slots[0]!.id).peek()
  }

  /** Whether an entry must keep its row because the user looks at it: the entry is expanded, or its row has the focus. */
  #staysInView(slots: readonly EntrySlot[]): boolean {
    const row = this.focusedRow()
    const focused = row && 'slot' in row && !this.#hides(row.slot) ? row.slot : undefined
    return slots.some(slot => isOpened(slot) || slot === focused)
  }

  /** Returns the entries of the expanded runs. */
  #inOpenRuns(segments: readonly Segment[]): ReadonlySet<EntrySlot> {
    const slots = segments.flatMap(({ rows: [head] }) =>
      head?.kind === 'run' && this.#isOpen(head) ? head.slots : [],
    )
    return new Set(slots)
  }

  #replaceSegments(first: number, remove: number, from: number, to: number, earlier: Map<string, Row>): void {
    const old = this.#segments.slice(first, first + remove)
    const start = this.#rowBefore(first)
    const removedRows = old.reduce((sum, segment) => sum + segment.rows.length, 0)
    const segments = this.#segment(from, to, this.#inOpenRuns(old))
    let before = start > 0 ? this.window.items[start - 1] : undefined
    const rows: Row[] = []
    for (const segment of segments) {
      const { rows: own } = segment
      for (let i = 0; i < own.length; i++) {
        const row = own[i]!
        const lead = before?.kind === 'missing' && row.kind === 'missing' ? BOTH_MISSING : leadOf(before, row)
        before = keepHeight(earlier.size > 0 ? earlier.get(row.key) : undefined, row, lead)
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

  /** Updates the space above the first row after an entry, which depends on the entry's last row. */
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

  /** Returns the number of rows of the segments before a position. */
  #rowBefore(position: number): number {
    for (let i = position - 1; i >= 0; i--) {
      const last = this.#segments[i]!.rows.at(-1)
      if (last) return last.index + 1
    }
    return 0
  }

  /** Divides entries into segments. `seen`: the entries that were in expanded runs. */
  #segment(from: number, to: number, seen: ReadonlySet<EntrySlot>): Segment[] {
    const list: Segment[] = []
    for (let i = from; i < to; ) {
      let end = i + 1
      // one row for thousands of missing entries
      if (this.#isPart && !this.slots[i]) while (end < to && !this.slots[end]) end++
      else {
        while (end < to && this.#joins(end - 1, end)) end++
        if (this.slots[i] && !isRun(this.slots.slice(i, end) as EntrySlot[])) {
          for (; i < end; i++)
            list.push({ from: i, to: i + 1, rows: this.#rows(i, i + 1, seen), position: -1 })
          continue
        }
      }
      list.push({ from: i, to: end, rows: this.#rows(i, end, seen), position: -1 })
      i = end
    }
    return list
  }

  #rows(from: number, to: number, seen: ReadonlySet<EntrySlot>): Row[] {
    const aside = this.#expansion.asideAt(from)
    const rows = this.#expansion.hiddenAsideAt(from) && !this.slots[from] ? [] : this.#rowsIn(from, to, seen)
    return aside?.first === from ? [asideRow(aside), ...rows] : rows
  }

  #rowsIn(from: number, to: number, seen: ReadonlySet<EntrySlot>): Row[] {
    const first = this.slots[from]
    if (!first) return [missingRow(from, to - from)]
    const slots = this.slots.slice(from, to) as EntrySlot[]
    const last = slots.at(-1)!
    const shown = slots.find(slot => slot.entry.peek().kind === 'tool_call') ?? first
    const rows = this.#hides(shown) ? [] : this.#rowsOfSlots(slots, seen)
    return endsTurn(last) && !this.#expansion.hiddenAsideAt(from) ? [...rows, turnRow(last)] : rows
  }

  #rowsOfSlots(slots: EntrySlot[], seen: ReadonlySet<EntrySlot>): Row[] {
    const [first] = slots
    if (slots.length === 1) return rowsOfEntry(first!)
    const head = runRow(slots, runOf(first!)!)
    if (this.#staysInView(slots) || slots.some(slot => seen.has(slot)))
      this.#expansion.run(first!.id).value = true
    return this.#isOpen(head) ? [head, ...slots.flatMap(rowsInRun)] : [head]
  }
}

function rowsByKey(rows: readonly Row[]): Map<string, Row> {
  return new Map(rows.map(row => [row.key, row]))
}

/** The properties of a row that depend on the row before it. */
type Lead = Pick<Row, 'gap' | 'named'>

function leadOf(before: Row | undefined, row: Row): Lead {
  return { gap: gapBetween(before, row), named: isNamed(before, row) }
}

/** The lead of a missing entry after another one, which thousands have while only the end of a long conversation was fetched. */
const BOTH_MISSING: Lead = { gap: 16, named: false }

function heightOf({ gap, named }: Lead): number {
  return gap + (named ? NAME_HEIGHT : 0)
}

/** Returns the old row if it differs only in its height, otherwise the new row with the old row's height. */
function keepHeight(old: Row | undefined, row: Row, lead: Lead): Row {
  const isOther = old && 'count' in old && 'count' in row && old.count !== row.count
  if (!old || old.kind !== row.kind || isOther) {
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

const lookups = new Set(['read', 'search', 'fetch'])

/** Minimum number of tool calls that become one line. */
const MIN_CALLS: Readonly<Record<RunKind, number>> = { lookup: 2, edit: 4 }

/** Whether entries that may form a run are enough for one. */
function isRun(slots: readonly EntrySlot[]): boolean {
  const least = MIN_CALLS[runOf(slots[0]!) ?? 'lookup']
  let calls = 0
  for (const slot of slots) if (slot.entry.peek().kind === 'tool_call' && ++calls >= least) return true
  return false
}

/**
 * Returns the kind of run that an entry may be part of, if any. A run may contain reads and searches without content of their own, except
 * those that needed a permission, since their line shows the answer; and completed edits that nobody refused, since the user must see all
 * other edits. An answered permission has no row, so it doesn't separate the edits before and after it.
 */
function runOf(slot: EntrySlot): RunKind | undefined {
  const entry = slot.entry.peek()
  if (entry.kind === 'permission') return slot.call && entry.outcome ? 'edit' : undefined
  if (entry.kind !== 'tool_call') return undefined
  const permissions = slot.permissions.peek()
  if (entry.toolKind === 'edit') {
    const isDone = entry.status === 'completed' && permissions.every(isAllowed)
    return isDone && entry.content.every(({ type }) => type !== 'terminal') ? 'edit' : undefined
  }
  const hasContent = entry.content.some(({ type }) => type === 'diff' || type === 'terminal')
  return lookups.has(entry.toolKind) && permissions.length === 0 && !hasContent ? 'lookup' : undefined
}

function isAllowed(slot: EntrySlot): boolean {
  const entry = slot.entry.peek()
  if (entry.kind !== 'permission' || entry.outcome?.type !== 'selected') return false
  return !chosenOption(entry)?.kind.startsWith('reject')
}

function isOpened(slot: EntrySlot): boolean {
  return slot.entry.peek().kind === 'tool_call' && slot.open.peek()
}

function rowsInRun(slot: EntrySlot): Row[] {
  return slot.entry.peek().kind === 'tool_call' ? rowsOfEntry(slot, true) : []
}

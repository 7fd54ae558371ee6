import { signal } from '@preact/signals'
import type { ToolKind } from '../../../acp/model.ts'
import type { Entry, ToolCallEntry } from '../../../conversation/state.ts'
import type { WindowItem } from '../../list/window.ts'
import { blocksOf, type EntrySlot } from './slot.ts'

/** Space above a row: steps of the 4 px grid. */
export type Gap = 0 | 2 | 4 | 8 | 12 | 16 | 24

interface RowBase extends WindowItem {
  gap: Gap
  /** The first of a subagent's rows, which starts with the subagent's name. */
  named: boolean
}
/** A row about one entry as a whole. */
interface EntryRow extends RowBase {
  kind:
    | 'prompt'
    | 'thought'
    | 'tool'
    | 'permission'
    | 'elicitation'
    | 'notice'
    | 'compaction'
    | 'subagent'
    | 'session_message'
    | 'turn_end'
    | 'unknown'
  slot: EntrySlot
  /** inside an expanded run */
  nested: boolean
}
/** One markdown block of a text. */
export interface MarkdownRow extends RowBase {
  kind: 'markdown'
  slot: EntrySlot
  /** position of the text among the entry's content blocks */
  block: number
  /** position of the markdown block in the text */
  part: number
}
/** A content block that is not text. */
interface ContentRow extends RowBase {
  kind: 'content'
  slot: EntrySlot
  block: number
}
/** Several reads and searches in a row, folded into one line. */
export interface RunRow extends RowBase {
  kind: 'run'
  slots: EntrySlot[]
  tally: RunTally
}
/** An entry that wasn't fetched yet. */
export interface MissingRow extends RowBase {
  kind: 'missing'
  entryIndex: number
}
export type Row = EntryRow | MarkdownRow | ContentRow | RunRow | MissingRow

/** The index of the first entry of a row. */
export function firstEntry(row: Row): number {
  return row.kind === 'missing' ? row.entryIndex : row.kind === 'run' ? row.slots[0]!.index : row.slot.index
}

/** The index of the last entry of a row. */
export function lastEntry(row: Row): number {
  return row.kind === 'run' ? row.slots.at(-1)!.index : firstEntry(row)
}

/** The rows of one entry, without gaps. */
export function rowsOfEntry(slot: EntrySlot, nested = false): Row[] {
  const entry = slot.entry.peek()
  switch (entry.kind) {
    case 'message':
      if (entry.role === 'user') return entry.blocks.length > 0 ? [entryRow(slot, 'prompt', 40)] : []
      if (entry.role === 'thought') {
        if (!hasContent(entry)) return []
        const head = entryRow(slot, 'thought', 24)
        return slot.open.peek() ? [head, ...contentRows(slot)] : [head]
      }
      return contentRows(slot)
    case 'compaction': {
      const head = entryRow(slot, 'compaction', 24)
      return slot.open.peek() ? [head, ...contentRows(slot)] : [head]
    }
    case 'subagent':
      return [entryRow(slot, 'subagent', slot.open.peek() ? 90 : 24)]
    case 'session_message': {
      const head = entryRow(slot, 'session_message', 24)
      return slot.open.peek() ? [head, ...contentRows(slot)] : [head]
    }
    case 'tool_call':
      return [entryRow(slot, 'tool', slot.open.peek() ? 120 : 24, nested)]
    case 'permission':
      return [entryRow(slot, 'permission', entry.outcome ? 24 : 140)]
    case 'elicitation':
      return [entryRow(slot, 'elicitation', entry.outcome ? 24 : 200)]
    case 'notice':
      return [entryRow(slot, 'notice', 24)]
    case 'turn_end':
      return [entryRow(slot, 'turn_end', 24)]
    case 'unknown':
      return [entryRow(slot, 'unknown', 24)]
  }
}

/** The rows of a text's Markdown blocks from `from` on. */
export function markdownRows(slot: EntrySlot, block: number, from = 0): Row[] {
  const blocks = slot.documents[block]?.blocks ?? []
  return blocks.slice(from).map((part): Row => {
    const key = `${slot.id}/${block}/${part.index}`
    return {
      kind: 'markdown',
      slot,
      block,
      part: part.index,
      key,
      gap: 8,
      height: estimate(part.source),
      named: false,
      measured: false,
      index: -1,
    }
  })
}

function contentRows(slot: EntrySlot): Row[] {
  const entry = slot.entry.peek()
  return blocksOf(entry).flatMap((content, block): Row[] => {
    if (content.type === 'text' && !content.agentOnly) return markdownRows(slot, block)
    const key = `${slot.id}/${block}`
    return [
      { kind: 'content', slot, block, key, gap: 8, named: false, height: 40, measured: false, index: -1 },
    ]
  })
}

function entryRow(slot: EntrySlot, kind: EntryRow['kind'], height: number, nested = false): EntryRow {
  return { kind, slot, nested, key: slot.id, gap: 0, named: false, height, measured: false, index: -1 }
}

/** The counts for the line of a run, updated incrementally as its tool calls are added and change. */
export class RunTally {
  readonly counts: Partial<Record<ToolKind, number>> = {}
  failed = 0
  /** Increases with every change. */
  readonly version = signal(0)
  readonly #counted = new Map<EntrySlot, ToolCallEntry>()
  readonly #active = new Set<EntrySlot>()

  constructor(slots: readonly EntrySlot[]) {
    for (const slot of slots) this.count(slot)
  }

  /** A tool call is new, or changed. */
  count(slot: EntrySlot): void {
    const before = this.#counted.get(slot)
    const entry = slot.entry.peek() as ToolCallEntry
    if (before) this.#add(before, -1)
    this.#add(entry, 1)
    this.#counted.set(slot, entry)
    if (entry.status === 'in_progress') this.#active.add(slot)
    else this.#active.delete(slot)
    this.version.value = this.version.peek() + 1
  }

  /** The last tool call that runs. */
  get active(): ToolCallEntry | undefined {
    const last = [...this.#active].reduce<EntrySlot | undefined>(
      (last, slot) => (last && last.index > slot.index ? last : slot),
      undefined,
    )
    return last && this.#counted.get(last)
  }

  #add({ toolKind, status }: ToolCallEntry, by: 1 | -1): void {
    this.counts[toolKind] = (this.counts[toolKind] ?? 0) + by
    if (status === 'failed') this.failed += by
  }
}

export function runRow(slots: EntrySlot[]): RunRow {
  const key = `run/${slots[0]!.id}`
  return {
    kind: 'run',
    slots,
    tally: new RunTally(slots),
    key,
    gap: 0,
    named: false,
    height: 24,
    measured: false,
    index: -1,
  }
}

export function missingRow(entryIndex: number): MissingRow {
  return {
    kind: 'missing',
    entryIndex,
    key: `missing/${entryIndex}`,
    gap: 0,
    named: false,
    height: 64,
    measured: false,
    index: -1,
  }
}

function hasContent(entry: Extract<Entry, { kind: 'message' }>): boolean {
  return entry.blocks.some(block => block.type !== 'text' || block.text.trim() !== '')
}

/** An estimate of the height of a Markdown block in pixels: 20 per line of 70 characters. */
function estimate(source: string): number {
  let lines = 0
  for (const line of source.trim().split('\n', 200)) lines += Math.max(1, Math.ceil(line.length / 70))
  return lines * 20
}

/** A line of work: such lines are stacked closely. */
function isLine(row: Row): boolean {
  switch (row.kind) {
    case 'thought':
    case 'tool':
    case 'run':
    case 'compaction':
    case 'subagent':
    case 'session_message':
    case 'unknown':
    case 'turn_end':
      return true
    case 'permission':
    case 'elicitation':
      return !isQuestion(row)
    default:
      return false
  }
}

/** Whether the row is a box of a pending request. */
function isQuestion(row: Row): boolean {
  if (row.kind !== 'permission' && row.kind !== 'elicitation') return false
  const entry = row.slot.entry.peek()
  return (entry.kind === 'permission' || entry.kind === 'elicitation') && entry.outcome === undefined
}

/** The entry of a row; for a run, its first one. */
export function slotOf(row: Row): EntrySlot | undefined {
  return row.kind === 'missing' ? undefined : row.kind === 'run' ? row.slots[0] : row.slot
}

/** The subagent to which a row belongs, by its session's id. */
function subagentOf(row: Row): string | undefined {
  return slotOf(row)?.entry.peek().within
}

/** Height of the name of a subagent above a row, in pixels. */
export const NAME_HEIGHT = 22

/** Whether a subagent's row follows one that is neither its own nor its announcement. */
export function isNamed(before: Row | undefined, row: Row): boolean {
  const subagent = subagentOf(row)
  if (subagent === undefined || (before && subagentOf(before) === subagent)) return false
  const entry = before && slotOf(before)?.entry.peek()
  return !(entry?.kind === 'subagent' && entry.sessionId === subagent)
}

/** The space between a row and the one before it: 8 px in a message, 16 between messages, 24 between turns. */
export function gapBetween(before: Row | undefined, row: Row): Gap {
  if (!before) return 12
  if (row.kind === 'prompt') return before.kind === 'prompt' ? 8 : 24
  if (before.kind === 'prompt') return 16
  const slot = 'slot' in row ? row.slot : undefined
  const same = slot !== undefined && 'slot' in before && before.slot === slot
  if (same) {
    const heads = ['thought', 'compaction', 'session_message']
    return heads.includes(before.kind) ? 4 : 8
  }
  if (subagentOf(before) !== subagentOf(row)) return isNamed(before, row) ? 8 : leavesTo(before, row)
  if (isLine(before) && isLine(row)) return 0
  if (before.kind === 'notice' && row.kind === 'notice') return 8
  if (isLine(before) || isLine(row) || isQuestion(row) || isQuestion(before)) return 8
  return 16
}

/** The space between a subagent's announcement and its work, and after its work. */
function leavesTo(before: Row, row: Row): Gap {
  if (subagentOf(row) !== undefined) return isLine(row) ? 0 : 4
  return isLine(before) && isLine(row) ? 8 : 16
}

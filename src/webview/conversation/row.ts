import { signal } from '@preact/signals'
import type { ToolKind } from '../../acp/model.ts'
import { growingBlocks } from '../../conversation/entries/growing-blocks.ts'
import type { Entry, EntryId, ToolCallEntry } from '../../conversation/state.ts'
import { isNotable } from '../../conversation/turn-summary.ts'
import { t } from '../l10n.ts'
import type { WindowItem } from '../list/window.ts'
import { filesOf, type PathRoots, titleParts } from '../tools/title.ts'
import type { Aside } from './expansion.ts'
import type { EntrySlot } from './slot.ts'

/** Space above a row: steps of the 4 px grid. */
export type Gap = 0 | 2 | 4 | 8 | 12 | 16 | 24

interface RowBase extends WindowItem {
  gap: Gap
  /** whether the row has the subagent's name above it, as the first of consecutive rows of a subagent */
  named: boolean
}
/** The rows about an entry as a whole: messages by their role, others by their kind. */
export type EntryRowKind = 'prompt' | 'thought' | 'tool' | Exclude<Entry['kind'], 'message' | 'tool_call'>

/** A row about one entry as a whole. */
interface EntryRow extends RowBase {
  kind: EntryRowKind
  slot: EntrySlot
  /** whether the row is inside an expanded run */
  nested: boolean
}
/** One Markdown block of a text. */
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
/** The kind of tool calls in a run: lookups or edits. */
export type RunKind = 'lookup' | 'edit'
/** Several tool calls in a row, folded into one line. */
export interface RunRow extends RowBase {
  kind: 'run'
  of: RunKind
  /** the tool calls of the run, and the answered permissions between them, which have no rows */
  slots: EntrySlot[]
  tally: RunTally
}
/** The summary of a finished turn, below its last entry. */
interface TurnRow extends RowBase {
  kind: 'turn'
  slot: EntrySlot
}
/** An entry that wasn't fetched yet, or several entries while they can't be fetched. */
export interface MissingRow extends RowBase {
  kind: 'missing'
  entryIndex: number
  count: number
}
/** The line of turns that a restore set aside. */
export interface AsideRow extends RowBase {
  kind: 'aside'
  /** the ID of the entry with the notice of the restore */
  id: EntryId
  entryIndex: number
  count: number
}
export type Row = AsideRow | EntryRow | MarkdownRow | ContentRow | RunRow | TurnRow | MissingRow

/** Returns the index of the first entry of a row. */
export function firstEntry(row: Row): number {
  if (row.kind === 'missing' || row.kind === 'aside') return row.entryIndex
  return row.kind === 'run' ? row.slots[0]!.index : row.slot.index
}

/** Returns the index of the last entry of a row. */
export function lastEntry(row: Row): number {
  if (row.kind === 'missing') return row.entryIndex + row.count - 1
  // hidden entries aren't fetched
  if (row.kind === 'aside') return row.entryIndex
  return row.kind === 'run' ? row.slots.at(-1)!.index : row.slot.index
}

/** The agent's current activity; `code` is a command or a file, rendered as code. */
export interface Activity {
  text: string
  code?: string
}

/** The page's knowledge about a kind of entry, except for its component (see `rows/row-view.tsx`). */
interface EntryRowStyle {
  /** The estimated height in pixels. */
  height(slot: EntrySlot): number
  /** Whether it's a line of work: such lines are stacked closely. */
  isLine(slot: EntrySlot): boolean
  /** whether the text of an expanded entry is in rows below this row */
  hasText?: boolean
  /** The agent's activity while this is the last entry; `undefined` once the activity has ended. */
  activity?(entry: Entry, roots: PathRoots | undefined): Activity | undefined
}

const isAnswered = (slot: EntrySlot): boolean => {
  const entry = slot.entry.peek()
  return 'outcome' in entry && entry.outcome !== undefined
}
const line = { height: () => 24, isLine: () => true }

const ENTRY_ROWS: Readonly<Record<EntryRowKind, EntryRowStyle>> = {
  prompt: { height: () => 40, isLine: () => false },
  thought: {
    ...line,
    hasText: true,
    activity: ({ endedAt }) => (endedAt === undefined ? { text: t('Thinking') } : undefined),
  },
  tool: { ...line, height: ({ open }) => (open.peek() ? 120 : 24), activity: toolActivity },
  permission: { height: slot => (isAnswered(slot) ? 24 : 140), isLine: isAnswered },
  elicitation: { height: slot => (isAnswered(slot) ? 24 : 200), isLine: isAnswered },
  notice: { height: () => 24, isLine: () => false },
  compaction: {
    ...line,
    hasText: true,
    activity: entry =>
      entry.kind === 'compaction' && entry.status === 'in_progress' ? { text: t('Compacting') } : undefined,
  },
  subagent: { ...line, height: ({ open }) => (open.peek() ? 90 : 24) },
  session_message: { ...line, hasText: true },
  turn_end: line,
  unknown: line,
}

function toolActivity(entry: Entry, roots: PathRoots | undefined): Activity | undefined {
  if (entry.kind !== 'tool_call' || (entry.status !== 'in_progress' && entry.status !== 'pending'))
    return undefined
  const title = titleParts(entry.title, roots)
  switch (entry.toolKind) {
    case 'execute':
      return { text: t('Running'), code: title.full }
    case 'read':
      return { text: t('Reading'), code: title.tail }
    case 'edit':
      return { text: t('Editing'), code: title.tail }
    case 'search':
      return { text: t('Searching') }
    case 'fetch':
      return { text: t('Fetching') }
    case 'think':
      return { text: t('Thinking') }
    default:
      return undefined
  }
}

/** Returns the agent's current activity, if this last entry shows it. */
export function activityOf(entry: Entry, roots: PathRoots | undefined): Activity | undefined {
  const kind = rowKindOf(entry)
  return kind === undefined ? { text: t('Writing') } : ENTRY_ROWS[kind].activity?.(entry, roots)
}

/** Returns the kind of the entry's own row; `undefined` for a message of the agent, which has only rows of text. */
function rowKindOf(entry: Entry): EntryRowKind | undefined {
  if (entry.kind === 'tool_call') return 'tool'
  if (entry.kind !== 'message') return entry.kind
  return entry.role === 'user' ? 'prompt' : entry.role === 'thought' ? 'thought' : undefined
}

/** Whether the text of an entry is below a row about the entry: that of a thought, for example. */
export function isTextBelow(entry: Entry): boolean {
  const kind = rowKindOf(entry)
  return kind !== undefined && ENTRY_ROWS[kind].hasText === true
}

/** Returns the rows of one entry, without gaps. */
export function rowsOfEntry(slot: EntrySlot, nested = false): Row[] {
  const entry = slot.entry.peek()
  const kind = rowKindOf(entry)
  if (kind === undefined) return contentRows(slot)
  if (kind === 'prompt' && growingBlocks(entry).length === 0) return []
  if (kind === 'thought' && !hasContent(entry)) return []
  const { height, hasText } = ENTRY_ROWS[kind]
  const row = entryRow(slot, kind, height(slot), nested)
  return hasText && slot.open.peek() ? [row, ...contentRows(slot)] : [row]
}

/** Returns the rows of a text's Markdown blocks from `from` on. */
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
  return growingBlocks(entry).flatMap((content, block): Row[] => {
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
  /** number of tool calls that edited each file, by path */
  readonly #files = new Map<string, number>()
  readonly #counted = new Map<EntrySlot, ToolCallEntry>()
  readonly #active = new Set<EntrySlot>()

  constructor(slots: readonly EntrySlot[]) {
    for (const slot of slots) this.count(slot)
  }

  /** Updates the counts for a tool call that is new or has changed. */
  count(slot: EntrySlot): void {
    const before = this.#counted.get(slot)
    const entry = slot.entry.peek()
    if (entry.kind !== 'tool_call') return
    if (before) this.#add(before, -1)
    this.#add(entry, 1)
    this.#counted.set(slot, entry)
    if (entry.status === 'in_progress') this.#active.add(slot)
    else this.#active.delete(slot)
    this.version.value = this.version.peek() + 1
  }

  /** Number of files that the tool calls edited; a call with unknown files counts as one. */
  get files(): number {
    return this.#files.size
  }

  /** The last tool call that is running. */
  get active(): ToolCallEntry | undefined {
    const last = [...this.#active].reduce<EntrySlot | undefined>(
      (last, slot) => (last && last.index > slot.index ? last : slot),
      undefined,
    )
    return last && this.#counted.get(last)
  }

  #add(entry: ToolCallEntry, by: 1 | -1): void {
    const { toolKind, status } = entry
    this.counts[toolKind] = (this.counts[toolKind] ?? 0) + by
    if (status === 'failed') this.failed += by
    if (toolKind !== 'edit') return
    for (const path of editedFiles(entry)) {
      const count = (this.#files.get(path) ?? 0) + by
      if (count > 0) this.#files.set(path, count)
      else this.#files.delete(path)
    }
  }
}

function editedFiles(entry: ToolCallEntry): ReadonlySet<string> {
  const changed = entry.content.flatMap(part =>
    part.type === 'diff' ? part.changes.map(({ path }) => path) : [],
  )
  const files = changed.length > 0 ? changed : filesOf(entry)
  return new Set(files.length > 0 ? files : [entry.id])
}

export function runRow(slots: EntrySlot[], of: RunKind): RunRow {
  const key = `run/${slots[0]!.id}`
  return {
    kind: 'run',
    of,
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

/** Whether an entry is the last one of a turn that ends with a line. */
export function endsTurn(slot: EntrySlot): boolean {
  const { turnSummary } = slot.entry.peek()
  return turnSummary !== undefined && isNotable(turnSummary)
}

export function turnRow(slot: EntrySlot): TurnRow {
  const key = `turn/${slot.id}`
  return { kind: 'turn', slot, key, gap: 0, named: false, height: 24, measured: false, index: -1 }
}

export function asideRow({ id, first, end }: Aside): AsideRow {
  return {
    kind: 'aside',
    id,
    entryIndex: first,
    count: end - first,
    key: `aside/${id}`,
    gap: 0,
    named: false,
    height: 24,
    measured: false,
    index: -1,
  }
}

/** Estimates the height of entries that weren't fetched yet, with the gaps between them. Pixels. */
export function heightOfMissing(count: number): number {
  return 64 + (count - 1) * 80
}

export function missingRow(entryIndex: number, count: number): MissingRow {
  return {
    kind: 'missing',
    entryIndex,
    count,
    key: `missing/${entryIndex}`,
    gap: 0,
    named: false,
    height: heightOfMissing(count),
    measured: false,
    index: -1,
  }
}

function hasContent(entry: Entry): boolean {
  return growingBlocks(entry).some(block => block.type !== 'text' || block.text.trim() !== '')
}

/** Estimates the height of a Markdown block in pixels: 20 per line of 70 characters. */
function estimate(source: string): number {
  let lines = 0
  for (const line of source.trim().split('\n', 200)) lines += Math.max(1, Math.ceil(line.length / 70))
  return lines * 20
}

/** A line of work: such lines are stacked closely. */
function isLine(row: Row): boolean {
  if (row.kind === 'run' || row.kind === 'aside') return true
  if (row.kind === 'markdown' || row.kind === 'content' || row.kind === 'turn' || row.kind === 'missing')
    return false
  return ENTRY_ROWS[row.kind].isLine(row.slot)
}

/** Whether the row is a pending request. */
function isQuestion(row: Row): boolean {
  return (row.kind === 'permission' || row.kind === 'elicitation') && !isAnswered(row.slot)
}

/** Returns the entry of a row; for a run, its first entry. */
export function slotOf(row: Row): EntrySlot | undefined {
  if (row.kind === 'missing' || row.kind === 'aside') return undefined
  return row.kind === 'run' ? row.slots[0] : row.slot
}

/** Returns the ID of the subagent's work that a row belongs to. */
function subagentOf(row: Row): string | undefined {
  return slotOf(row)?.within
}

/** Height of the name of a subagent above a row, in pixels. */
export const NAME_HEIGHT = 22

/** Whether a subagent's row needs the subagent's name above it, because the row before it has another origin. */
export function isNamed(before: Row | undefined, row: Row): boolean {
  const subagent = row.kind === 'turn' ? undefined : subagentOf(row)
  if (subagent === undefined || (before && subagentOf(before) === subagent)) return false
  return !before || slotOf(before)?.work !== subagent
}

/** Returns the space between a row and the row before it: 8 px in a message, 16 between messages, 24 between turns. */
export function gapBetween(before: Row | undefined, row: Row): Gap {
  if (!before) return 12
  if (row.kind === 'prompt') return before.kind === 'prompt' ? 8 : 24
  if (row.kind === 'turn') return 8
  if (row.kind === 'aside') return 16
  if (before.kind === 'prompt') return 16
  const slot = 'slot' in row ? row.slot : undefined
  const same = slot !== undefined && 'slot' in before && before.slot === slot
  if (same) return before.kind !== 'markdown' && before.kind !== 'content' ? 4 : 8
  if (subagentOf(before) !== subagentOf(row)) return isNamed(before, row) ? 8 : leavesTo(before, row)
  if (isLine(before) && isLine(row)) return 0
  if (before.kind === 'notice' && row.kind === 'notice') return 8
  if (isLine(before) || isLine(row) || isQuestion(row) || isQuestion(before)) return 8
  return 16
}

/** Returns the space between a subagent's announcement and its work, and after its work. */
function leavesTo(before: Row, row: Row): Gap {
  if (subagentOf(row) !== undefined) return isLine(row) ? 0 : 4
  return isLine(before) && isLine(row) ? 8 : 16
}

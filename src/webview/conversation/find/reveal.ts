import type { ConversationMessages } from '../../../bridge/conversation-messages.ts'
import { countMatches } from '../../../common/find-pattern.ts'
import { markdownText } from '../../../common/markdown-text.ts'
import { blockText } from '../../../conversation/block-text.ts'
import { growingBlocks } from '../../../conversation/entries/growing-blocks.ts'
import type { HostClient } from '../../host/connection.ts'
import type { ListController } from '../../list/controller.ts'
import { lineSourcesIn } from '../../tools/visible-lines.ts'
import { LOADING_PART } from '../../ui/lazy.tsx'
import type { Row } from '../row.ts'
import type { EntrySlot } from '../slot.ts'
import type { ConversationStore } from '../store.ts'
import type { CurrentMatch, Highlights } from './highlights.ts'
import type { FindPosition, FoundEntries } from './results.ts'

/** The displayed conversation and its composer, as used by find. */
export interface FindContext {
  host: HostClient<ConversationMessages>
  list: ListController<Row>
  store: ConversationStore
  composer: { current: { readonly isWriting: boolean; focus(): void; type(text: string): void } | undefined }
}

/** The number of frames to wait for a row to be rendered. */
const MAX_FRAMES = 60

/**
 * Reveals a match: fetches its entry, expands the elements around it, scrolls there and highlights it. Stops if `isWanted` returns false
 * because of a newer search.
 */
export async function revealMatch(
  context: FindContext,
  highlights: Highlights,
  found: FoundEntries,
  pattern: RegExp,
  position: FindPosition,
  isWanted: () => boolean,
): Promise<void> {
  highlights.setCurrent(undefined)
  context.list.release()
  const slot = await context.store.load(position.entry)
  if (!slot || !isWanted()) return
  // an answered permission has no row: it's in the line of its tool call
  const hasRow = context.store.rows.rowsOf(slot.index).some(row => 'slot' in row && row.slot === slot)
  if (slot.call && !hasRow) return revealIn(context, highlights, slot.call, pattern, 0, true, isWanted)
  const isHead = position.occurrence < (found.of(position.entry)?.head ?? 0)
  await revealIn(context, highlights, slot, pattern, position.occurrence, isHead, isWanted)
}

async function revealIn(
  context: FindContext,
  highlights: Highlights,
  slot: EntrySlot,
  pattern: RegExp,
  occurrence: number,
  isHead: boolean,
  isWanted: () => boolean,
): Promise<void> {
  context.store.expandFor(slot)
  unfoldRun(context, slot)
  if (!isHead && !slot.open.peek()) open(context, slot)
  const target = findRow(context, slot, pattern, occurrence)
  if (!target) return
  if (!context.list.isInView(target.row)) context.list.toItem(target.row, context.list.viewHeight / 3)
  const element = await mounted(context, target.row.key, isWanted)
  if (!element || !isWanted()) return
  const match = await matchAt(context, highlights, slot, element, pattern, target.occurrence, isWanted)
  if (!match || !isWanted()) return
  highlights.setCurrent({ ...match, row: () => context.list.rows.elementOf(target.row.key) })
  scrollTo(context, target.row, match.range)
}

/** Gives an entry within a collapsed run its own line. */
function unfoldRun(context: FindContext, slot: EntrySlot): void {
  const [first] = context.store.rows.rowsOf(slot.index)
  if (first?.kind !== 'run') return
  const state = context.store.expansion.run(first.slots[0]!.id)
  if (state.peek()) return
  state.value = true
  const from = first.slots[0]!.index
  context.store.rows.changed(from, from + first.slots.length)
}

function open(context: FindContext, slot: EntrySlot): void {
  slot.open.value = true
  context.store.rows.changed(slot.index, slot.index + 1)
}

/** Returns the row that contains a match, and the match's index in that row. */
function findRow(
  context: FindContext,
  slot: EntrySlot,
  pattern: RegExp,
  occurrence: number,
): { row: Row; occurrence: number } | undefined {
  const rows = context.store.rows.rowsOf(slot.index).filter(row => 'slot' in row && row.slot === slot)
  let remaining = occurrence
  let last: { row: Row; occurrence: number } | undefined
  for (const row of rows) {
    if (row.kind !== 'markdown' && row.kind !== 'content') {
      // the line above an entry's text contains nothing searchable
      if (rows.length > 1) continue
      return { row, occurrence }
    }
    const count = countMatches(pattern, textOfRow(slot, row), remaining + 1)
    if (count > remaining) return { row, occurrence: remaining }
    if (count > 0 || !last) last = { row, occurrence: Math.max(0, count - 1) }
    remaining -= count
  }
  return last ?? (rows[0] && { row: rows[0], occurrence })
}

function textOfRow(slot: EntrySlot, row: Extract<Row, { kind: 'markdown' | 'content' }>): string {
  if (row.kind === 'markdown') return markdownText(slot.documents[row.block]?.blocks[row.part]?.source ?? '')
  const block = growingBlocks(slot.entry.peek())[row.block]
  return block ? blockText(block, true) : ''
}

async function mounted(
  context: FindContext,
  key: string,
  isWanted: () => boolean,
): Promise<HTMLElement | undefined> {
  for (let tries = 0; tries < MAX_FRAMES && isWanted(); tries++) {
    const element = context.list.rows.elementOf(key)
    if (element?.isConnected) return element
    await frame()
  }
  return undefined
}

/** How long a part may take to load, in milliseconds, since the extension's machine may be remote. */
const LOAD_MS = 30_000

/** Waits for a diff or terminal that wasn't shown yet to load. */
async function loaded(element: HTMLElement, isWanted: () => boolean): Promise<void> {
  const end = performance.now() + LOAD_MS
  while (performance.now() < end && isWanted() && element.querySelector(`.${LOADING_PART}`)) await frame()
}

type Match = Omit<CurrentMatch, 'row'>

/** Resolves to the match in the page; expands collapsed elements that contain the match. */
async function matchAt(
  context: FindContext,
  highlights: Highlights,
  slot: EntrySlot,
  element: HTMLElement,
  pattern: RegExp,
  occurrence: number,
  isWanted: () => boolean,
): Promise<Match | undefined> {
  await loaded(element, isWanted)
  const match =
    (await sought(highlights, element, pattern, occurrence, isWanted)) ??
    nth(highlights.of(element), occurrence) ??
    last(highlights.of(element))
  if (!match) return undefined
  const { range } = match
  let opened = false
  for (let node = range.startContainer.parentElement; node && node !== element; node = node.parentElement) {
    if (node instanceof HTMLDetailsElement && !node.open) {
      node.open = true
      opened = true
    } else if (node.matches('.prompt-text.folded') && isCutOff(node, range) && !slot.open.peek()) {
      open(context, slot)
      opened = true
    }
  }
  if (!opened) return match
  await frame()
  const after = highlights.of(element)
  return nth(after, occurrence) ?? last(after)
}

function nth(ranges: readonly Range[], occurrence: number): Match | undefined {
  const range = ranges[occurrence]
  return range && { range, occurrence }
}

function last(ranges: readonly Range[]): Match | undefined {
  return nth(ranges, ranges.length - 1)
}

/** Scrolls to the match's line in an element of which only the visible lines are in the page; resolves to the match. */
async function sought(
  highlights: Highlights,
  element: HTMLElement,
  pattern: RegExp,
  occurrence: number,
  isWanted: () => boolean,
): Promise<Match | undefined> {
  const sources = lineSourcesIn(element)
  if (sources.length === 0) return undefined
  const isInLines = ({ startContainer }: Range) =>
    sources.some(({ element: box }) => box.contains(startContainer))
  const all = highlights.of(element)
  let before = all.findIndex(isInLines)
  // matches above the lines come first
  if (before < 0) before = all.length
  if (occurrence < before) return undefined
  let remaining = occurrence - before
  for (const { element: box, source } of sources) {
    for (let line = 0; line < source.count; line++) {
      const count = countMatches(pattern, source.text(line), remaining + 1)
      if (count <= remaining) {
        remaining -= count
        continue
      }
      source.show(line)
      return lineMatch(highlights, element, box, line, remaining, isWanted)
    }
  }
  return undefined
}

/** Resolves to the match in a line that is being added to the page. */
async function lineMatch(
  highlights: Highlights,
  element: HTMLElement,
  box: HTMLElement,
  line: number,
  occurrence: number,
  isWanted: () => boolean,
): Promise<Match | undefined> {
  for (let tries = 0; tries < MAX_FRAMES && isWanted(); tries++) {
    await frame()
    const drawn = [...box.querySelectorAll(`[data-row="${line}"]`)].flatMap(one => highlights.of(one))
    const range = drawn[occurrence] ?? drawn.at(-1)
    if (!range) continue
    const ranges = highlights.of(element)
    const index = ranges.findIndex(
      one => one.startContainer === range.startContainer && one.startOffset === range.startOffset,
    )
    return { range, occurrence: Math.max(0, index), among: ranges.length }
  }
  return undefined
}

function isCutOff(box: Element, range: Range): boolean {
  return range.getBoundingClientRect().bottom > box.getBoundingClientRect().bottom + 1
}

/** Scrolls nested scroll areas, then the list, as little as necessary to show the match with context. */
function scrollTo(context: FindContext, row: Row, range: Range): void {
  const list = document.querySelector('.transcript')
  for (let box = range.startContainer.parentElement; box && box !== list; box = box.parentElement) {
    if (box.scrollHeight <= box.clientHeight + 1 && box.scrollWidth <= box.clientWidth + 1) continue
    const outer = box.getBoundingClientRect()
    const inner = range.getBoundingClientRect()
    if (inner.top < outer.top || inner.bottom > outer.bottom) {
      box.scrollTop += inner.top - outer.top - box.clientHeight / 2
    }
    if (inner.left < outer.left || inner.right > outer.right) {
      box.scrollLeft += inner.left - outer.left - box.clientWidth / 3
    }
  }
  if (!list) return
  const view = list.getBoundingClientRect()
  const at = range.getBoundingClientRect()
  if (at.top >= view.top && at.bottom <= view.bottom) return
  const element = context.list.rows.elementOf(row.key)
  if (!element) return
  context.list.toItem(row, view.height / 3 - (at.top - element.getBoundingClientRect().top))
}

function frame(): Promise<unknown> {
  return new Promise(requestAnimationFrame)
}

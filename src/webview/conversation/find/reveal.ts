import { countMatches } from '../../../common/find-pattern.ts'
import { markdownText } from '../../../common/markdown-text.ts'
import { blockText } from '../../../views/bridge/find-text.ts'
import { LOADING_PART } from '../../ui/lazy.tsx'
import type { App } from '../context.ts'
import type { Row } from '../rows/row.ts'
import { blocksOf, type EntrySlot } from '../rows/slot.ts'
import type { CurrentMatch, Highlights } from './highlights.ts'
import type { FindPlace, FoundEntries } from './results.ts'

/** So many frames a row may take to be in the page. */
const frames = 60

/**
 * Brings a match into view: fetches its entry, opens what it is folded in, scrolls there, marks it. Ends without a word
 * when `isWanted` says that something else is looked for meanwhile.
 */
export async function revealMatch(
  app: App,
  highlights: Highlights,
  found: FoundEntries,
  pattern: RegExp,
  place: FindPlace,
  isWanted: () => boolean,
): Promise<void> {
  highlights.setCurrent(undefined)
  app.list.release()
  const slot = await fetched(app, place.entry, isWanted)
  if (!slot || !isWanted()) return
  const head = found.of(place.entry)?.head ?? 0
  const { within } = slot.entry.peek()
  if (within !== undefined && app.store.rows.rowsOf(slot.index).length === 0)
    app.store.setHidden(within, false)
  unfoldRun(app, slot)
  if (place.occurrence >= head && !slot.open.peek()) open(app, slot)
  const target = rowOf(app, slot, pattern, place.occurrence)
  if (!target) return
  if (!app.list.isInView(target.row)) app.list.toItem(target.row, app.list.viewHeight / 3)
  const element = await mounted(app, target.row.key, isWanted)
  if (!element || !isWanted()) return
  const match = await matchAt(app, highlights, slot, element, target.occurrence, isWanted)
  if (!match || !isWanted()) return
  highlights.setCurrent({ ...match, row: () => app.list.elementOf(target.row.key) })
  scrollTo(app, target.row, match.range)
}

async function fetched(app: App, entry: number, isWanted: () => boolean): Promise<EntrySlot | undefined> {
  for (let tries = 0; tries < 300 && isWanted(); tries++) {
    const slot = app.store.rows.slots[entry]
    if (slot) return slot
    app.store.need(entry, entry + 1)
    await frame()
  }
  return undefined
}

/** An entry that is folded into one line with its neighbours gets a line of its own. */
function unfoldRun(app: App, slot: EntrySlot): void {
  const [first] = app.store.rows.rowsOf(slot.index)
  if (first?.kind !== 'run') return
  const state = app.store.openState(`run/${first.slots[0]!.id}`)
  if (state.peek()) return
  state.value = true
  const from = first.slots[0]!.index
  app.store.rows.changed(from, from + first.slots.length)
}

function open(app: App, slot: EntrySlot): void {
  slot.open.value = true
  app.store.rows.changed(slot.index, slot.index + 1)
}

/** The row that a match of an entry is in, and which of the row's matches it is. */
function rowOf(
  app: App,
  slot: EntrySlot,
  pattern: RegExp,
  occurrence: number,
): { row: Row; occurrence: number } | undefined {
  const rows = app.store.rows.rowsOf(slot.index).filter(row => 'slot' in row && row.slot === slot)
  let left = occurrence
  let last: { row: Row; occurrence: number } | undefined
  for (const row of rows) {
    if (row.kind !== 'markdown' && row.kind !== 'content') {
      // a line above its text has nothing that can be found
      if (rows.length > 1) continue
      return { row, occurrence }
    }
    const count = countMatches(pattern, textOfRow(slot, row), left + 1)
    if (count > left) return { row, occurrence: left }
    if (count > 0 || !last) last = { row, occurrence: Math.max(0, count - 1) }
    left -= count
  }
  return last ?? (rows[0] && { row: rows[0], occurrence })
}

function textOfRow(slot: EntrySlot, row: Extract<Row, { kind: 'markdown' | 'content' }>): string {
  if (row.kind === 'markdown') return markdownText(slot.documents[row.block]?.blocks[row.part]?.source ?? '')
  const block = blocksOf(slot.entry.peek())[row.block]
  return block ? blockText(block, true) : ''
}

async function mounted(app: App, key: string, isWanted: () => boolean): Promise<HTMLElement | undefined> {
  for (let tries = 0; tries < frames && isWanted(); tries++) {
    const element = app.list.elementOf(key)
    if (element?.isConnected) return element
    await frame()
  }
  return undefined
}

/** A diff or a terminal that nobody has seen yet is loaded first. */
async function loaded(element: HTMLElement, isWanted: () => boolean): Promise<void> {
  for (let tries = 0; tries < 300 && isWanted() && element.querySelector(`.${LOADING_PART}`); tries++)
    await frame()
}

type Match = Omit<CurrentMatch, 'row'>

/** The match in the page; what hides it there is opened. */
async function matchAt(
  app: App,
  highlights: Highlights,
  slot: EntrySlot,
  element: HTMLElement,
  occurrence: number,
  isWanted: () => boolean,
): Promise<Match | undefined> {
  await loaded(element, isWanted)
  const match =
    nth(highlights.of(element), occurrence) ??
    (await sought(highlights, element, occurrence, isWanted)) ??
    last(highlights.of(element))
  if (!match) return undefined
  const { range } = match
  let opened = false
  for (let node = range.startContainer.parentElement; node && node !== element; node = node.parentElement) {
    if (node instanceof HTMLDetailsElement && !node.open) {
      node.open = true
      opened = true
    } else if (node.matches('.prompt-text.folded') && isCutOff(node, range) && !slot.open.peek()) {
      open(app, slot)
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

/** The match in a long part of which only the lines near its view are in the page: it is scrolled through. */
async function sought(
  highlights: Highlights,
  element: HTMLElement,
  occurrence: number,
  isWanted: () => boolean,
): Promise<Match | undefined> {
  const seen = new Set<string>()
  for (const box of element.querySelectorAll<HTMLElement>('.diff-scroll')) {
    if (box.scrollHeight <= box.clientHeight + 1) continue
    box.scrollTop = 0
    for (let steps = 0; steps < 400; steps++) {
      // scrolled, then drawn
      await frame()
      await frame()
      if (!isWanted()) return undefined
      const outer = box.getBoundingClientRect()
      const ranges = highlights.of(element)
      for (const [index, range] of ranges.entries()) {
        const { top, left } = range.getBoundingClientRect()
        const inside = box.contains(range.startContainer)
        const line = inside ? Math.round(top - outer.top + box.scrollTop) : `out ${Math.round(top)}`
        seen.add(`${line} ${Math.round(left)}`)
        if (seen.size > occurrence) return { range, occurrence: index, among: ranges.length }
      }
      if (box.scrollTop + box.clientHeight >= box.scrollHeight - 1) break
      box.scrollTop += box.clientHeight
    }
  }
  return undefined
}

function isCutOff(box: Element, range: Range): boolean {
  return range.getBoundingClientRect().bottom > box.getBoundingClientRect().bottom + 1
}

/** Scrolls what is scrolled by itself, then the list, as little as needed to have the match well in view. */
function scrollTo(app: App, row: Row, range: Range): void {
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
  const element = app.list.elementOf(row.key)
  if (!element) return
  app.list.toItem(row, view.height / 3 - (at.top - element.getBoundingClientRect().top))
}

function frame(): Promise<unknown> {
  return new Promise(requestAnimationFrame)
}

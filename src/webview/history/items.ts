import { type Signal, signal } from '@preact/signals'
import type { HistoryChanges, HistoryHit, HistoryRow } from '../../bridge/history.ts'
import type { ActionForMany, HistoryMessages } from '../../bridge/history-messages.ts'
import { type DateGroupKey, groupByDate, newestFirst } from '../../common/date-groups.ts'
import {
  hasText,
  matchesFilters,
  matchesNames,
  parseSearch,
  type SearchQuery,
} from '../../common/search-query.ts'
import type { HostClient } from '../host/connection.ts'
import { ListWindow, type WindowItem } from '../list/window.ts'

export interface HistoryFilter {
  text: string
  /** only sessions of the folders that are open in this window */
  here: boolean
  /** also archived sessions */
  archived: boolean
  /** how sessions are grouped; by date if absent */
  group?: 'agent' | 'folder' | undefined
  /** whether the start and the end of the selected conversation are shown */
  preview?: boolean
}

/** Identifies a group. The group of pinned sessions is the first. */
export type HistoryGroupKey =
  | DateGroupKey
  | { kind: 'pinned' }
  | { kind: 'agent' | 'folder'; name: string; tooltip?: string }

/** A line of the list. A session keeps its line object as long as it's shown, even when the session changes. */
export type HistoryItem = WindowItem &
  (
    | { kind: 'group'; group: HistoryGroupKey }
    | { kind: 'row'; row: Signal<HistoryRow>; hit: Signal<HistoryHit | undefined> }
  )
export type RowItem = Extract<HistoryItem, { kind: 'row' }>

/** The height of a row, and of the line with a part of the conversation below it. CSS pixels. */
const ROW_HEIGHT = 44
const HIT_HEIGHT = 19

/**
 * The sessions, and the lines to show: the rows that pass the filter in groups, pinned ones first, then the newest. With a search text:
 * first the sessions whose title matches, then those whose conversation matches, the best first. Updating a session in place takes constant
 * time.
 */
export class HistoryLines {
  readonly window = new ListWindow<HistoryItem>()
  /** Increases when lines were added, removed or moved. */
  readonly version = signal(0)
  /** the number of all sessions, shown or not, and of archived sessions */
  readonly count = signal({ all: 0, archived: 0 })
  readonly #rows = new Map<string, HistoryRow>()
  #lines = new Map<string, HistoryItem>()
  #groups: HistoryItem[] = []
  #filter: HistoryFilter = { text: '', here: false, archived: false }
  #query: SearchQuery = parseSearch('', 0)
  /** by the row's key: matches in conversations, the best first */
  #hits: ReadonlyMap<string, HistoryHit> = new Map()
  #now = 0

  /** The lines of sessions (not of groups), in order. */
  get rows(): RowItem[] {
    void this.version.value
    return this.window.items.filter(item => item.kind === 'row')
  }

  /** The number of session lines. */
  get rowCount(): number {
    void this.version.value
    return this.window.count - this.#groups.length
  }

  /** The position of a line among session lines, from 1. */
  positionOf({ index }: RowItem): number {
    void this.version.value
    return index + 1 - this.#groups.filter(group => group.index < index).length
  }

  /** All sessions, shown or not. */
  get all(): Iterable<HistoryRow> {
    return this.#rows.values()
  }

  item(key: string | undefined): RowItem | undefined {
    const line = key === undefined ? undefined : this.#lines.get(key)
    return line?.kind === 'row' ? line : undefined
  }

  /** @param now milliseconds since the epoch */
  show(filter: HistoryFilter, now: number): void {
    if (filter.text === '') this.#hits = new Map()
    this.#filter = filter
    this.#query = parseSearch(filter.text, now)
    this.#now = now
    this.#arrange()
  }

  /** Shows the results so far of the search in conversations for the filter's text. */
  found(hits: readonly HistoryHit[]): void {
    if (hits.length === 0 && this.#hits.size === 0) return
    this.#hits = new Map(hits.map(hit => [rowKey(hit), hit]))
    this.#arrange()
  }

  update({ rows, removed }: HistoryChanges): void {
    let { archived } = this.count.peek()
    const count = (row: HistoryRow | undefined, by: number) => {
      if (row?.archived) archived += by
    }
    if (!removed) {
      this.#rows.clear()
      archived = 0
    }
    for (const key of removed?.map(rowKey) ?? []) {
      count(this.#rows.get(key), -1)
      this.#rows.delete(key)
    }
    let inPlace = removed?.length === 0
    for (const row of rows) {
      const key = rowKey(row)
      count(this.#rows.get(key), -1)
      count(row, 1)
      this.#rows.set(key, row)
      inPlace &&= this.#replace(key, row)
    }
    this.count.value = { all: this.#rows.size, archived }
    if (!inPlace) this.#arrange()
  }

  /** Updates the line of a changed session in place; returns false if the change may move, add or remove the line. */
  #replace(key: string, row: HistoryRow): boolean {
    const item = this.item(key)
    const isShown = this.#passes(row)
    if (!item || !isShown) return !item && !isShown
    if (row.pinned !== item.row.peek().pinned) return false
    if (row.updatedAt !== item.row.peek().updatedAt && !hasText(this.#query)) {
      const neighbors = [this.#rowAt(item.index - 1), row, this.#rowAt(item.index + 1)].filter(one => one)
      const isInOrder = neighbors.every((one, i) => i === 0 || newestFirst(neighbors[i - 1]!, one!) <= 0)
      // groups other than dates are ordered by their newest session
      const changesGroup =
        !row.pinned &&
        (this.#filter.group !== undefined || groupByDate([row, item.row.peek()], this.#now).length > 1)
      if (!isInOrder || changesGroup) return false
    }
    item.row.value = row
    return true
  }

  #rowAt(index: number): HistoryRow | undefined {
    const line = this.window.items[index]
    return line?.kind === 'row' ? line.row.peek() : undefined
  }

  #arrange(): void {
    const lines = new Map<string, HistoryItem>()
    this.#groups = []
    const base = { measured: false, index: -1 }
    const shown = [...this.#rows.values()].filter(row => this.#passes(row))
    const add = (row: HistoryRow) => {
      const key = rowKey(row)
      const hit = this.#hits.get(key)
      const item = this.item(key) ?? {
        ...base,
        kind: 'row',
        row: signal(row),
        hit: signal(hit),
        key,
        height: 0,
      }
      item.row.value = row
      item.hit.value = hit
      const height = hit ? ROW_HEIGHT + HIT_HEIGHT : ROW_HEIGHT
      if (item.height !== height) Object.assign(item, { height, measured: false })
      lines.set(key, item)
    }
    if (hasText(this.#query)) for (const row of this.#ranked(shown)) add(row)
    else {
      const pinned = shown.filter(row => row.pinned).sort(newestFirst)
      const rest = shown.filter(row => !row.pinned)
      const { group } = this.#filter
      const groups: HistoryGroup[] = group ? groupBy(group, rest) : groupByDate(rest, this.#now)
      if (pinned.length > 0) groups.unshift({ id: 'pinned', key: { kind: 'pinned' }, rows: pinned })
      for (const { id, key: group, rows } of groups) {
        const key = `group/${id}`
        const head = this.#lines.get(key) ?? { ...base, kind: 'group', group, key, height: 26 }
        this.#groups.push(head)
        lines.set(key, head)
        for (const row of rows) add(row)
      }
    }
    this.#lines = lines
    this.window.splice(0, this.window.count, [...lines.values()])
    this.version.value = this.version.peek() + 1
  }

  #passes(row: HistoryRow): boolean {
    const { here, archived } = this.#filter
    const { states } = this.#query
    const isHidden = row.archived && !archived && !row.open && !states.includes('archived')
    if ((here && !row.here) || isHidden) return false
    if (!matchesFilters(this.#query, row) || !states.every(state => isIn(state, row))) return false
    return matchesNames(this.#query, row) || this.#hits.has(rowKey(row))
  }

  #ranked(rows: HistoryRow[]): HistoryRow[] {
    const named = rows.filter(row => matchesNames(this.#query, row)).sort(newestFirst)
    const others = new Map(rows.map(row => [rowKey(row), row]))
    for (const row of named) others.delete(rowKey(row))
    return [...named, ...[...this.#hits.keys()].flatMap(key => others.get(key) ?? [])]
  }
}

interface HistoryGroup {
  id: string
  key: HistoryGroupKey
  rows: HistoryRow[]
}

/**
 * Groups the rows; the group with the newest session comes first. Folders with equal names are shown with the parent folders that differ.
 */
function groupBy(by: 'agent' | 'folder', rows: HistoryRow[]): HistoryGroup[] {
  const groups = new Map<string, HistoryGroup>()
  for (const row of rows.sort(newestFirst)) {
    const id = by === 'agent' ? row.agentId : row.cwd
    const key: HistoryGroupKey =
      by === 'agent' ? { kind: by, name: row.agentName } : { kind: by, name: row.folder, tooltip: row.cwd }
    const group = groups.get(id)
    if (group) group.rows.push(row)
    else groups.set(id, { id: `${by}/${id}`, key, rows: [row] })
  }
  const all = [...groups.values()]
  return by === 'agent' ? all : all.map(group => withDistinctName(group, all))
}

function withDistinctName(group: HistoryGroup, all: readonly HistoryGroup[]): HistoryGroup {
  const [{ cwd, folder } = { cwd: '', folder: '' }] = group.rows
  const others = all.flatMap(({ rows: [row] }) =>
    row && row.cwd !== cwd && row.folder === folder ? [splitPath(row.cwd)] : [],
  )
  if (others.length === 0) return group
  const parts = splitPath(cwd)
  const tail = (path: readonly string[], count: number) => path.slice(-count).join('/')
  let count = 2
  while (count < parts.length && others.some(other => tail(other, count) === tail(parts, count))) count++
  const name = tail(parts, count)
  // another ID and so another line, since the name of a group's line never changes
  return { ...group, id: `${group.id} ${name}`, key: { kind: 'folder', name, tooltip: cwd } }
}

function splitPath(path: string): string[] {
  return path.split(/[\\/]+/).filter(Boolean)
}

/** The states that can be searched for with `is:`. */
export const SESSION_STATES = [
  'running',
  'waiting',
  'done',
  'failed',
  'interrupted',
  'open',
  'pinned',
  'archived',
  'unlisted',
] as const

/** Whether a session is in the state that is searched for with `is:`. Every session matches an unknown or incomplete state. */
export function isIn(state: string, row: HistoryRow): boolean {
  const { activity = row.elsewhere, ended, unlisted, archived, pinned } = row
  const isOpen = row.open || row.inWindow !== undefined || row.elsewhere === 'open'
  switch (state) {
    case 'running':
      return activity === 'running'
    case 'waiting':
      return activity === 'requires_action'
    case 'done':
    case 'failed':
    case 'interrupted':
      return ended === state
    case 'open':
      return isOpen || activity === 'running' || activity === 'requires_action'
    case 'archived':
      return archived
    case 'pinned':
      return pinned
    case 'unlisted':
      return unlisted !== undefined
    default:
      return true
  }
}

/** Returns the IDs that identify a row's session in messages. */
export function idOf({ agentId, sessionId }: HistoryRow): { agentId: string; sessionId: string } {
  return { agentId, sessionId }
}

export function rowKey(row: { agentId: string; sessionId: string }): string {
  return `row/${row.agentId}/${row.sessionId}`
}

/** Opens the session, at the place where the searched text was found. */
export function open(host: HostClient<HistoryMessages>, row: HistoryRow, hit: HistoryHit | undefined): void {
  const action = defaultAction(row)
  if (!action) return
  const matches = hit?.excerpt.filter((_, i) => i % 2 === 1) ?? []
  if (hit && matches.length > 0 && (row.open || action !== 'show'))
    host.send('history/showHit', { ...idOf(row), entry: hit.entry, matches })
  else host.send('history/act', { action, ...idOf(row) })
}

export function actOnMany(
  host: HostClient<HistoryMessages>,
  action: ActionForMany,
  rows: readonly HistoryRow[],
): void {
  host.send('history/actOnMany', { action, sessions: rows.map(idOf) })
}

/**
 * Returns the action for Enter: an open session is shown, any other is loaded if possible, or else resumed. A session that only another
 * window can show is shown there.
 */
export function defaultAction(row: HistoryRow): 'show' | 'load' | 'resume' | undefined {
  if (row.open) return 'show'
  if (row.canLoad) return 'load'
  if (row.canResume) return 'resume'
  return row.inWindow && 'show'
}

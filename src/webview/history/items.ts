import { type DateGroupKey, groupByDate } from '../../common/date-groups.ts'
import { filterRows } from '../../common/filter-rows.ts'
import type { HistoryRow, HistoryState } from '../../views/bridge/history.ts'
import type { WindowItem } from '../list/window.ts'

export interface HistoryFilter {
  text: string
  /** only sessions of the folders that are open in this window */
  here: boolean
  /** also those that were put away */
  archived: boolean
}

/** A row that the person is asked about, in its own place: what it shall be called, whether it is to be deleted. */
export interface RowQuestion {
  what: 'rename' | 'delete'
  /** the row's */
  key: string
}

/** One line of the list. */
export type HistoryItem = WindowItem &
  ({ kind: 'group'; group: DateGroupKey } | { kind: 'row'; row: HistoryRow })

/** The lines to show, in order: the rows that pass the filter, the newest first, under their dates. */
export function historyItems(state: HistoryState, filter: HistoryFilter, now: number): HistoryItem[] {
  const shown = state.rows.filter(
    row => (!filter.here || row.here) && (filter.archived || !row.archived || row.open),
  )
  const rows = filterRows(shown, { text: filter.text })
  const items: HistoryItem[] = []
  const add = (key: string, height: number, item: ItemContent) =>
    items.push({ ...item, key, height, measured: false, index: -1 } as HistoryItem)
  for (const group of groupByDate(rows, now)) {
    add(`group/${group.id}`, 26, { kind: 'group', group: group.key })
    for (const row of group.rows) add(rowKey(row), 44, { kind: 'row', row })
  }
  return items
}

type ItemContent = { kind: 'group'; group: DateGroupKey } | { kind: 'row'; row: HistoryRow }

/** What names the row's session in a message. */
export function idOf({ agentId, sessionId }: HistoryRow): { agentId: string; sessionId: string } {
  return { agentId, sessionId }
}

export function rowKey(row: { agentId: string; sessionId: string }): string {
  return `row/${row.agentId}/${row.sessionId}`
}

/** What Enter does with a row: the session that is open is shown, one that can be loaded is, else resumed. */
export function defaultAction(row: HistoryRow): 'show' | 'load' | 'resume' | undefined {
  if (row.open) return 'show'
  if (row.canLoad) return 'load'
  return row.canResume ? 'resume' : undefined
}

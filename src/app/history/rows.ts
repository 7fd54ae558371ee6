import path from 'node:path'
import * as l10n from '@vscode/l10n'
import type { HistoryChanges, HistoryRow, HistorySummary } from '../../bridge/history.ts'
import { newestFirst } from '../../common/date-groups.ts'
import { sessionKey } from '../../common/session-key.ts'
import { visible } from '../../common/visible.ts'
import type { HistoryItem, HistoryList } from '../../sessions/listing/history-list.ts'
import type { DeletableSession } from '../../sessions/listing/session-deletions.ts'
import type { OtherSession } from '../window-sessions.ts'
import type { WorktreeNote } from '../worktrees/window-worktrees.ts'

export interface HistorySurroundings {
  trusted: boolean
  hasFolder: boolean
  /** whether the directory belongs to a folder that is open in this window */
  isHere: (cwd: string) => boolean
  worktreeOf: (cwd: string) => WorktreeNote | undefined
  /** the active sessions of the other windows */
  others: readonly OtherSession[]
  /** size of all saved conversations in bytes, and its limit; 0 for no limit */
  storage: { used: number; max: number }
  search: HistorySummary['search']
  /** what the user can bring back */
  deleted: DeletableSession[]
  /** as in `AgentChoice` */
  iconOf: (agentId: string) => string | undefined
  /** who is signed in to the agent, as text */
  accountOf: (agentId: string) => string | undefined
  /** how a session's work ended, if the user hasn't viewed it since */
  endedOf: (item: HistoryItem) => HistoryRow['ended']
}

/** What the History view shows: the sessions of the list, and those that other windows work in. */
export function historyState(
  list: HistoryList,
  around: HistorySurroundings,
): HistorySummary & { rows: HistoryRow[] } {
  // in Restricted Mode none can be started
  const agents = list.agents().filter(({ state }) => around.trusted || state !== 'not-started')
  return {
    rows: withOtherWindows(
      list.items().map(item => rowOf(item, around)),
      around.others,
      around.isHere,
    ),
    agents: agents.map(note => {
      const account = around.accountOf(note.agentId)
      const icon = around.iconOf(note.agentId)
      return { ...note, ...(icon !== undefined && { icon }), ...(account !== undefined && { account }) }
    }),
    trusted: around.trusted,
    hasFolder: around.hasFolder,
    storage: around.storage,
    search: around.search,
    deleted: around.deleted.map(({ agentName, title, deletesCopy }) => ({
      agentName,
      title: titleOrPlaceholder(title),
      deletesCopy,
    })),
  }
}

function rowOf(item: HistoryItem, { isHere, worktreeOf, trusted, endedOf }: HistorySurroundings): HistoryRow {
  const worktree = worktreeOf(item.cwd)
  const title = item.title?.trim()
  return {
    agentId: item.agentId,
    agentName: item.agentName,
    sessionId: item.sessionId,
    title: titleOrPlaceholder(title),
    untitled: !title,
    formerTitles: item.formerTitles?.filter(former => former !== title),
    cwd: item.cwd,
    folder: path.basename(item.cwd) || item.cwd,
    here: isHere(item.cwd),
    ...(worktree && { worktree }),
    updatedAt: item.updatedAt,
    open: item.open,
    activity: item.activity,
    ended: endedOf(item),
    canLoad: trusted && item.canLoad,
    canResume: trusted && item.canResume && !item.open,
    canClose: item.canClose,
    canDelete: (trusted || item.deletesCopy) && item.canDelete,
    deletesCopy: item.deletesCopy,
    canFork: trusted && item.canFork,
    canArchive: trusted && item.canArchive,
    archived: item.archived,
    pinned: item.pinned,
    ...elsewhere(item),
    ...(item.unlisted && { unlisted: item.unlisted }),
  }
}

/** The sessions with those that other windows work in. */
export function withOtherWindows(
  rows: HistoryRow[],
  others: readonly OtherSession[],
  isHere: (cwd: string) => boolean,
): HistoryRow[] {
  if (others.length === 0) return rows
  const keyOf = ({ agentId, sessionId }: { agentId: string; sessionId: string }) =>
    sessionKey(agentId, sessionId)
  const there = new Map(others.map(other => [keyOf(other), other]))
  const known = rows.map(row => {
    const other = row.open ? undefined : there.get(keyOf(row))
    return other ? { ...row, ...inWindow(other) } : row
  })
  for (const row of rows) there.delete(keyOf(row))
  return [...known, ...[...there.values()].map(other => otherRow(other, isHere))]
}

function inWindow({ indicator, at }: OtherSession): Partial<HistoryRow> {
  const state: Pick<HistoryRow, 'activity' | 'ended'> =
    indicator === 'running'
      ? { activity: 'running' }
      : indicator === 'waiting'
        ? { activity: 'requires_action' }
        : { ended: indicator }
  return { inWindow: true, ...state, ...(at !== undefined && { updatedAt: at }) }
}

/** What isn't in the list: its agent isn't one of this window, for example. */
function otherRow(other: OtherSession, isHere: (cwd: string) => boolean): HistoryRow {
  const { agentId, agentName, sessionId, cwd } = other
  const title = visible(other.title ?? '').trim()
  return {
    ...{ agentId, agentName: visible(agentName), sessionId, cwd },
    title: titleOrPlaceholder(title),
    untitled: title === '',
    folder: path.basename(cwd) || cwd,
    here: isHere(cwd),
    ...{ open: false, archived: false, pinned: false, deletesCopy: false },
    ...{ canLoad: false, canResume: false, canClose: false },
    ...{ canDelete: false, canFork: false, canArchive: false },
    ...inWindow(other),
    inWindow: 'only',
  }
}

function titleOrPlaceholder(title: string | undefined): string {
  return title?.trim() || l10n.t('Untitled session')
}

function elsewhere({ open, status }: HistoryItem): Pick<HistoryRow, 'elsewhere'> {
  if (open || !status) return {}
  // An unknown status counts as saved.
  if (status.status !== 'open') return { elsewhere: 'saved' }
  const { activity } = status
  return { elsewhere: activity === 'running' || activity === 'requires_action' ? activity : 'open' }
}

/** How many rows a page gets first: more than it can show. The others follow. */
const FIRST_ROWS = 100

/** What a page knows about History, so that only changes are sent. */
export class SentHistory {
  #rows: ReadonlyMap<string, HistoryRow> | undefined
  #summary = ''

  /** The page has no state: everything is sent next time. */
  forget(): void {
    this.#rows = undefined
  }

  /** The changes that the page doesn't have yet; `undefined` if there are none. */
  update({ rows, ...summary }: HistorySummary & { rows: HistoryRow[] }): HistoryChanges | undefined {
    const before = this.#rows
    const summaryBefore = this.#summary
    this.#summary = JSON.stringify(summary)
    if (!before && rows.length > FIRST_ROWS) {
      const first = [...rows].sort(firstInList).slice(0, FIRST_ROWS)
      this.#rows = byKey(first)
      return { rows: first, more: true, ...summary }
    }
    const after = byKey(rows)
    this.#rows = after
    if (!before) return { rows, ...summary }
    const changed = rows.filter(row => !isSame(row, before.get(sessionKey(row.agentId, row.sessionId))))
    const removed = [...before]
      .filter(([key]) => !after.has(key))
      .map(([, { agentId, sessionId }]) => ({ agentId, sessionId }))
    const isNews = changed.length > 0 || removed.length > 0 || this.#summary !== summaryBefore
    return isNews ? { rows: changed, removed, ...summary } : undefined
  }
}

function byKey(rows: readonly HistoryRow[]): Map<string, HistoryRow> {
  return new Map(rows.map(row => [sessionKey(row.agentId, row.sessionId), row]))
}

function firstInList(a: HistoryRow, b: HistoryRow): number {
  return Number(b.pinned) - Number(a.pinned) || newestFirst(a, b)
}

function isSame(row: HistoryRow, other: HistoryRow | undefined): boolean {
  if (!other) return false
  const keys = new Set([...Object.keys(row), ...Object.keys(other)]) as Set<keyof HistoryRow>
  return [...keys].every(
    key => row[key] === other[key] || JSON.stringify(row[key]) === JSON.stringify(other[key]),
  )
}

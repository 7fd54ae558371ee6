import path from 'node:path'
import * as l10n from '@vscode/l10n'
import type { HistoryChanges, HistoryRow, HistorySummary } from '../../bridge/history.ts'
import { newestFirst } from '../../common/date-groups.ts'
import { sessionKey } from '../../common/session-key.ts'
import { visible } from '../../common/visible.ts'
import type { HistoryItem } from '../../sessions/listing/history-item.ts'
import type { HistoryList } from '../../sessions/listing/history-list.ts'
import type { DeletableSession } from '../../sessions/listing/session-deletions.ts'
import type { OtherSession } from '../window-sessions.ts'
import type { WorktreeNote } from '../window-worktrees.ts'

export interface HistorySurroundings {
  trusted: boolean
  hasFolder: boolean
  /** returns whether the directory belongs to a folder that is open in this window */
  isHere: (cwd: string) => boolean
  worktreeOf: (cwd: string) => WorktreeNote | undefined
  /** the active sessions of the other windows */
  others: readonly OtherSession[]
  /** size of all saved conversations in bytes, and its limit; 0 for no limit */
  storage: { used: number; max: number }
  search: HistorySummary['search']
  /** sessions whose deletion can be undone */
  deleted: DeletableSession[]
  /** returns the agent's icon, in the form of `AgentChoice` */
  iconOf: (agentId: string) => string | undefined
  /** returns who is signed in to the agent, as text */
  accountOf: (agentId: string) => string | undefined
  /** returns how a session's work ended, if the user hasn't viewed the session since */
  endedOf: (item: HistoryItem) => HistoryRow['ended']
  /** returns whether a view of this window shows the session */
  isShown: (item: HistoryItem) => boolean
}

/** The data that a page shows. `isPart` means that `rows` contains only the first rows. */
type HistoryState = HistorySummary & { rows: HistoryRow[]; isPart: boolean }

/**
 * Returns what History shows: the sessions of the list, and sessions that run in other windows. With `most`, returns only the first
 * sessions of the list, which is much faster if there are thousands.
 */
export function historyState(
  list: HistoryList,
  around: HistorySurroundings,
  most = Number.POSITIVE_INFINITY,
): HistoryState {
  const all = list.items()
  const isPart = all.length > most
  const rows = (isPart ? firstOf(all, most) : all).map(item => rowOf(item, around))
  // in Restricted Mode, no agent can be started
  const agents = list.agents().filter(({ state }) => around.trusted || state !== 'not-started')
  return {
    // only the complete list of rows shows which sessions are in other windows alone
    rows: isPart ? rows : withOtherWindows(rows, around.others, around.isHere),
    isPart,
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

/** A cached row, with the inputs from which it was created besides its item. */
interface Made {
  row: HistoryRow
  trusted: boolean
}

/** Caches the rows of unchanged items, since a change of one item computes all rows again, and there may be thousands. */
const made = new WeakMap<HistoryItem, Made>()

function rowOf(
  item: HistoryItem,
  { isHere, worktreeOf, trusted, endedOf, isShown }: HistorySurroundings,
): HistoryRow {
  const worktree = worktreeOf(item.cwd)
  const [here, ended] = [isHere(item.cwd), endedOf(item)]
  const shown = item.open && isShown(item)
  const before = made.get(item)
  if (before?.trusted === trusted) {
    const { row } = before
    const isIn = row.worktree?.name === worktree?.name && row.worktree?.branch === worktree?.branch
    const isSame = row.here === here && row.ended === ended && (row.shown ?? false) === shown
    if (isIn && isSame) return row
  }
  const title = item.title?.trim()
  const row = {
    agentId: item.agentId,
    agentName: item.agentName,
    sessionId: item.sessionId,
    title: titleOrPlaceholder(title),
    untitled: !title,
    formerTitles: item.formerTitles?.filter(former => former !== title),
    cwd: item.cwd,
    folder: path.basename(item.cwd) || item.cwd,
    here,
    ...(worktree && { worktree }),
    updatedAt: item.updatedAt,
    open: item.open,
    ...(shown && { shown: true as const }),
    activity: item.activity,
    ended,
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
  made.set(item, { row, trusted })
  return row
}

/** Returns the rows with the sessions that run in other windows. */
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

/** Returns the row of another window's session that isn't in the list, for example because this window doesn't have its agent. */
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
  // a session with an unknown status counts as saved
  if (status.status !== 'open') return { elsewhere: 'saved' }
  const { activity } = status
  return { elsewhere: activity === 'running' || activity === 'requires_action' ? activity : 'open' }
}

type Sorted = Pick<HistoryRow, 'pinned' | 'updatedAt'>

/** The number of rows that a page gets first, which is more than it can show. */
const FIRST_ROWS = 100
/**
 * The number of further rows that a page gets at once. Small batches keep both sides responsive, so that the user can open a session in the
 * meantime.
 */
const MORE_ROWS = 1000

/** The state of History that a page has, so that only changes are sent. */
export class HistoryPageState {
  #rows: Map<string, HistoryRow> | undefined
  #summary: HistorySummary | undefined
  /** the changed rows that didn't fit in the last message, with their keys */
  #waiting: Array<[string, HistoryRow]> = []

  /**
   * Returns the next rows for the page, if the last message didn't contain all of them. Changes since then are computed only with the last
   * rows, since computing them takes longer than drawing thousands of rows.
   */
  rest(stateOf: (most?: number) => HistoryState): HistoryChanges | undefined {
    if (!this.#rows || !this.#summary || this.#waiting.length <= MORE_ROWS) return this.update(stateOf)
    const next = this.#waiting.splice(0, MORE_ROWS)
    for (const [key, row] of next) this.#rows.set(key, row)
    return { rows: next.map(([, row]) => row), removed: [], more: true, ...this.#summary }
  }

  /** Returns the changes that the page doesn't have yet, or the first of them; `undefined` if there are none. */
  update(stateOf: (most?: number) => HistoryState): HistoryChanges | undefined {
    const before = this.#rows
    const { rows, isPart, ...summary } = before ? stateOf() : stateOf(FIRST_ROWS)
    const isOther = JSON.stringify(summary) !== JSON.stringify(this.#summary)
    this.#summary = summary
    const sent = before ?? new Map<string, HistoryRow>()
    this.#rows = sent
    const after = byKey(rows)
    const changed = [...after].filter(([key, row]) => !isSame(row, sent.get(key)))
    if (changed.length > MORE_ROWS) changed.sort(([, a], [, b]) => firstInList(a, b))
    const news = changed.slice(0, MORE_ROWS)
    this.#waiting = changed.slice(MORE_ROWS)
    const removed = [...sent].filter(([key]) => !after.has(key))
    for (const [key, row] of news) sent.set(key, row)
    for (const [key] of removed) sent.delete(key)
    const isNews = !before || news.length > 0 || removed.length > 0 || isOther
    if (!isNews) return undefined
    return {
      rows: news.map(([, row]) => row),
      ...(before && { removed: removed.map(([, { agentId, sessionId }]) => ({ agentId, sessionId })) }),
      ...((isPart || news.length < changed.length) && { more: true as const }),
      ...summary,
    }
  }
}

function byKey(rows: readonly HistoryRow[]): Map<string, HistoryRow> {
  return new Map(rows.map(row => [sessionKey(row.agentId, row.sessionId), row]))
}

/**
 * Returns the first `count` items in order, without sorting the whole list: most items are compared only with the last one of the result.
 */
function firstOf(items: readonly HistoryItem[], count: number): HistoryItem[] {
  const first: HistoryItem[] = []
  for (const item of items) {
    if (first.length === count && firstInList(first.at(-1)!, item) <= 0) continue
    const at = first.findIndex(other => firstInList(other, item) > 0)
    first.splice(at < 0 ? first.length : at, 0, item)
    first.length = Math.min(first.length, count)
  }
  return first
}

function firstInList(a: Sorted, b: Sorted): number {
  return Number(b.pinned) - Number(a.pinned) || newestFirst(a, b)
}

function isSame(row: HistoryRow, other: HistoryRow | undefined): boolean {
  if (!other || row === other) return other !== undefined
  const keys = new Set([...Object.keys(row), ...Object.keys(other)]) as Set<keyof HistoryRow>
  return [...keys].every(
    key => row[key] === other[key] || JSON.stringify(row[key]) === JSON.stringify(other[key]),
  )
}

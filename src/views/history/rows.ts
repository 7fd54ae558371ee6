import path from 'node:path'
import * as l10n from '@vscode/l10n'
import type { HistoryItem, HistoryList } from '../../sessions/history-list.ts'
import type { HistoryRow, HistoryState } from '../bridge/history.ts'

export interface HistorySurroundings {
  trusted: boolean
  hasFolder: boolean
  /** whether the directory belongs to a folder that is open in this window */
  isHere: (cwd: string) => boolean
}

/** What the History view shows. */
export function historyState(list: HistoryList, around: HistorySurroundings): HistoryState {
  const rows = list.items().map(item => rowOf(item, around))
  rows.sort((a, b) => (b.updatedAt ?? 0) - (a.updatedAt ?? 0))
  return { rows, agents: list.agents(), trusted: around.trusted, hasFolder: around.hasFolder }
}

function rowOf(item: HistoryItem, { isHere, trusted }: HistorySurroundings): HistoryRow {
  const title = item.title?.trim()
  return {
    agentId: item.agentId,
    agentName: item.agentName,
    sessionId: item.sessionId,
    title: title || l10n.t('Untitled session'),
    untitled: !title,
    cwd: item.cwd,
    folder: path.basename(item.cwd) || item.cwd,
    here: isHere(item.cwd),
    updatedAt: item.updatedAt,
    open: item.open,
    activity: item.activity,
    canLoad: trusted && item.canLoad,
    canResume: trusted && item.canResume && !item.open,
    canClose: item.canClose,
    canDelete: trusted && item.canDelete,
    canFork: trusted && item.canFork,
  }
}

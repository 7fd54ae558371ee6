import path from 'node:path'
import * as l10n from '@vscode/l10n'
import type { HistoryItem } from '../../sessions/listing/history-item.ts'
import type { PickItem } from '../workbench.ts'

/** Sessions that are selected together: all, those of an agent, or those of a folder. A separator has no sessions. */
export interface SessionChoice extends PickItem {
  sessions: HistoryItem[]
  of: 'all' | 'agent' | 'folder'
}

/** Returns a choice with the label `all` for all sessions, then one for each agent and each folder if there are several. */
export function sessionChoices(sessions: HistoryItem[], all: string): SessionChoice[] {
  const agents = grouped(sessions, ({ agentId }) => agentId)
  const folders = grouped(sessions, ({ cwd }) => cwd)
  const choice = (label: string, of: SessionChoice['of'], chosen: HistoryItem[]): SessionChoice => ({
    label,
    description: countText(chosen.length),
    sessions: chosen,
    of,
  })
  const line = (label: string): SessionChoice => ({ label, isSeparator: true, sessions: [], of: 'all' })
  return [
    choice(all, 'all', sessions),
    ...(agents.length > 1
      ? [line(l10n.t('By Agent')), ...agents.map(each => choice(each[0]!.agentName, 'agent', each))]
      : []),
    ...(folders.length > 1
      ? [
          line(l10n.t('By Folder')),
          ...folders.map(each => ({
            ...choice(path.basename(each[0]!.cwd) || each[0]!.cwd, 'folder', each),
            detail: each[0]!.cwd,
          })),
        ]
      : []),
  ]
}

/** Groups sessions by key. The group with the most sessions comes first. */
function grouped(sessions: HistoryItem[], key: (item: HistoryItem) => string): HistoryItem[][] {
  const groups = new Map<string, HistoryItem[]>()
  for (const item of sessions) {
    const group = groups.get(key(item))
    if (group) group.push(item)
    else groups.set(key(item), [item])
  }
  return [...groups.values()].sort((a, b) => b.length - a.length)
}

export function countText(count: number): string {
  return count === 1 ? l10n.t('1 session') : l10n.t('{0} sessions', count)
}

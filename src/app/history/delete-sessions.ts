import path from 'node:path'
import * as l10n from '@vscode/l10n'
import type { HistoryItem, HistoryList } from '../../sessions/listing/history-list.ts'
import type { SessionActions } from '../session-actions.ts'
import type { Dialogs, PickItem } from '../workbench.ts'

interface Choice extends PickItem {
  sessions: HistoryItem[]
  question: string
}

/**
 * *Delete Sessions…*: those of an agent, of a folder, or all. Open sessions and pinned ones are kept, as are sessions
 * that only an agent could delete, and can't.
 */
export async function deleteSessions(
  dialogs: Dialogs,
  history: HistoryList,
  actions: SessionActions,
): Promise<void> {
  const sessions = history.items().filter(({ open, pinned, canDelete }) => canDelete && !open && !pinned)
  if (sessions.length === 0) {
    void dialogs.info(l10n.t('There are no sessions to delete. Open and pinned sessions are kept.'))
    return
  }
  const chosen = await dialogs.pick(choicesOf(sessions), {
    title: l10n.t('Delete Sessions'),
    placeholder: l10n.t('Select which sessions to delete. Open and pinned sessions are kept.'),
    matchOnDescription: true,
  })
  if (!chosen || chosen.sessions.length === 0) return
  const all = l10n.t('Delete All')
  const answer = await dialogs.confirm(chosen.question, { detail: whatRemains(chosen.sessions) }, all)
  if (answer !== all) return
  const undo = l10n.t('Undo')
  const deleted = await actions.deleteAll(chosen.sessions)
  const skipped = chosen.sessions.length - deleted
  const done = [
    deleted === 1 ? l10n.t('1 session deleted.') : l10n.t('{0} sessions deleted.', deleted),
    ...(skipped > 0 ? [keptText(skipped)] : []),
  ].join(' ')
  if ((await dialogs.info(done, ...(deleted > 0 ? [undo] : []))) !== undo) return
  if (!actions.undoDeletion(chosen.sessions))
    void dialogs.info(l10n.t('The sessions have been deleted and can no longer be restored.'))
}

/** Says that this number of sessions wasn't deleted. */
export function keptText(count: number): string {
  return count === 1
    ? l10n.t("1 session was kept because it's open in another window or can't be deleted.")
    : l10n.t("{0} sessions were kept because they're open in another window or can't be deleted.", count)
}

function choicesOf(sessions: HistoryItem[]): Choice[] {
  const agents = grouped(sessions, ({ agentId }) => agentId).map(of => ({
    label: of[0]!.agentName,
    description: countText(of.length),
    sessions: of,
    question: l10n.t('Delete all sessions of {0}?', of[0]!.agentName),
  }))
  const folders = grouped(sessions, ({ cwd }) => cwd).map(of => ({
    label: path.basename(of[0]!.cwd) || of[0]!.cwd,
    description: countText(of.length),
    detail: of[0]!.cwd,
    sessions: of,
    question: l10n.t('Delete all sessions in the folder {0}?', of[0]!.cwd),
  }))
  const line = (label: string) => ({ label, isSeparator: true, sessions: [], question: '' })
  return [
    {
      label: l10n.t('All Sessions'),
      description: countText(sessions.length),
      sessions,
      question: l10n.t('Delete all sessions?'),
    },
    ...(agents.length > 1 ? [line(l10n.t('By Agent')), ...agents] : []),
    ...(folders.length > 1 ? [line(l10n.t('By Folder')), ...folders] : []),
  ]
}

/** Groups in the order of their number of sessions, the largest first. */
export function grouped(sessions: HistoryItem[], key: (item: HistoryItem) => string): HistoryItem[][] {
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

function whatRemains(sessions: HistoryItem[]): string {
  const count = countText(sessions.length)
  const kept = [...new Set(sessions.flatMap(one => (one.deletesCopy ? one.agentName : [])))].sort()
  return kept.length === 0
    ? count
    : [count, l10n.t('These agents keep their own copies: {0}.', kept.join(', '))].join('\n')
}

import * as l10n from '@vscode/l10n'
import type { HistoryItem } from '../../sessions/listing/history-item.ts'
import type { HistoryList } from '../../sessions/listing/history-list.ts'
import type { SessionActions } from '../session-actions.ts'
import type { Dialogs } from '../workbench.ts'
import { countText, type SessionChoice, sessionChoices } from './session-choices.ts'

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
  const chosen = await dialogs.pick(sessionChoices(sessions, l10n.t('All Sessions')), {
    title: l10n.t('Delete Sessions'),
    placeholder: l10n.t('Select which sessions to delete. Open and pinned sessions are kept.'),
    matchOnDescription: true,
  })
  if (!chosen || chosen.sessions.length === 0) return
  const all = l10n.t('Delete All')
  const answer = await dialogs.confirm(questionOf(chosen), { detail: whatRemains(chosen.sessions) }, all)
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

function questionOf({ of, sessions: [first] }: SessionChoice): string {
  switch (of) {
    case 'all':
      return l10n.t('Delete all sessions?')
    case 'agent':
      return l10n.t('Delete all sessions of {0}?', first!.agentName)
    case 'folder':
      return l10n.t('Delete all sessions in the folder {0}?', first!.cwd)
  }
}

function whatRemains(sessions: HistoryItem[]): string {
  const count = countText(sessions.length)
  const kept = [...new Set(sessions.flatMap(one => (one.deletesCopy ? one.agentName : [])))].sort()
  return kept.length === 0
    ? count
    : [count, l10n.t('These agents keep their own copies: {0}.', kept.join(', '))].join('\n')
}

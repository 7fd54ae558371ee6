import * as l10n from '@vscode/l10n'
import { isCancelled, messageOf, UnavailableError } from '../../common/errors.ts'
import { sessionKey } from '../../common/session-key.ts'
import type { ConversationStorage } from '../../history/conversation-storage.ts'
import { isSignInAsked } from '../../sessions/failures.ts'
import type { HistoryItem } from '../../sessions/listing/history-item.ts'
import type { HistoryList } from '../../sessions/listing/history-list.ts'
import type { DeletableSession, SessionDeletions } from '../../sessions/listing/session-deletions.ts'
import type { SessionActions } from '../session-actions.ts'
import type { Dialogs } from '../workbench.ts'
import { countText, type SessionChoice, sessionChoices } from './session-choices.ts'

/**
 * *Delete Sessions…*: deletes the sessions of an agent or a folder, or all sessions. Open and pinned sessions stay. Sessions that only
 * their agent could delete also stay if the agent can't delete sessions.
 */
export async function deleteSessions(
  dialogs: Dialogs,
  history: HistoryList,
  actions: SessionActions,
  storage: Pick<ConversationStorage, 'hasDamaged' | 'removeDamaged'>,
): Promise<void> {
  const sessions = history.items().filter(isForAll)
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
  const hasDamaged = chosen.of === 'all' && storage.hasDamaged
  const details = [whatRemains(chosen.sessions), ...(hasDamaged ? [damagedText()] : [])]
  const answer = await dialogs.confirm(questionOf(chosen), { detail: details.join('\n') }, all)
  if (answer !== all) return
  if (hasDamaged) {
    storage.removeDamaged()
    if (storage.hasDamaged) void dialogs.warn(damagedRemainText())
  }
  const undo = l10n.t('Undo')
  // a session may have been opened, pinned or deleted while the dialog was open
  const now = new Map(history.items().map(item => [sessionKey(item.agentId, item.sessionId), item]))
  const remaining = chosen.sessions.flatMap(item => {
    const current = now.get(sessionKey(item.agentId, item.sessionId))
    return current ? { item, current } : []
  })
  const wanted = remaining.flatMap(({ item, current }) => (isForAll(current) ? item : []))
  const deleted = await actions.deleteAll(wanted)
  const skipped = remaining.length - deleted
  const done = [
    deleted === 1 ? l10n.t('1 session deleted.') : l10n.t('{0} sessions deleted.', deleted),
    ...(skipped > 0 ? [notDeletedOfAllText(skipped)] : []),
  ].join(' ')
  if ((await dialogs.info(done, ...(deleted > 0 ? [undo] : []))) !== undo) return
  if (!actions.undoDeletion(wanted)) void dialogs.info(cannotUndoText())
}

/** Whether *Delete Sessions…* deletes the session. */
function isForAll({ open, pinned, canDelete }: HistoryItem): boolean {
  return canDelete && !open && !pinned
}

/**
 * Deletes sessions whose deletion can't be undone anymore. The sessions of one agent are deleted one after the other, so an agent that
 * doesn't respond doesn't delay other agents. The failures of an agent are reported together. Never rejects.
 * @param tell shows an error of the deletion, and repeats the deletion once the user has signed in
 */
export async function deleteExpired(
  items: readonly DeletableSession[],
  actions: Pick<SessionActions, 'delete'>,
  deletions: Pick<SessionDeletions, 'ended'>,
  tell: (agentId: string, work: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const agentIds = [...new Set(items.map(({ agentId }) => agentId))]
  await Promise.all(
    agentIds.map(agentId => {
      const remaining = new Set(items.filter(item => item.agentId === agentId))
      const end = (item: DeletableSession) => {
        remaining.delete(item)
        deletions.ended(item)
      }
      return tell(agentId, async () => {
        const failures: unknown[] = []
        for (const item of remaining) {
          try {
            await actions.delete(item)
          } catch (error) {
            if (isSignInAsked(error)) {
              // the agent's other sessions can't be deleted either, and stay in the list until the user has signed in
              for (const one of remaining) deletions.ended(one)
              throw error
            }
            if (!isCancelled(error)) failures.push(error)
          }
          end(item)
        }
        if (failures.length > 1)
          throw new UnavailableError(
            l10n.t("{0} sessions couldn't be deleted: {1}", failures.length, messageOf(failures[0])),
          )
        if (failures.length > 0) throw failures[0]
      })
    }),
  )
}

export function cannotUndoText(): string {
  return l10n.t('The sessions have been deleted and can no longer be restored.')
}

function notDeletedOfAllText(count: number): string {
  return count === 1
    ? l10n.t("1 session was kept because it's open, pinned, or can't be deleted.")
    : l10n.t("{0} sessions were kept because they're open, pinned, or can't be deleted.", count)
}

/** Returns a sentence that says that this number of sessions wasn't deleted. */
export function notDeletedText(count: number): string {
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

function damagedText(): string {
  return l10n.t(
    "Damaged files of earlier conversations, which Parley had set aside, are deleted at once and can't be restored.",
  )
}

function damagedRemainText(): string {
  return l10n.t(
    "Damaged files of earlier conversations couldn't be deleted, for example because another program has them open. Try again later.",
  )
}

function whatRemains(sessions: HistoryItem[]): string {
  const count = countText(sessions.length)
  const agentsWithCopy = [...new Set(sessions.flatMap(one => (one.deletesCopy ? one.agentName : [])))].sort()
  return agentsWithCopy.length === 0
    ? count
    : [count, l10n.t('These agents keep their own copies: {0}.', agentsWithCopy.join(', '))].join('\n')
}

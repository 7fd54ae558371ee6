import * as l10n from '@vscode/l10n'
import { UnavailableError } from '../../common/errors.ts'
import { confirmUndo, restoreStored, restoreUndone, type UndoServices } from '../changes/undo-changes.ts'
import type { ConversationSurfaces } from '../conversation/conversation-surface.ts'
import { type CommandHandlers, CommandId } from '../ids.ts'

/** Commands about agents' changes that don't depend on what editors show. */
export function changeCommands(services: UndoServices & { surfaces: ConversationSurfaces }) {
  const { tracker, decisions, surfaces } = services
  return {
    [CommandId.revertTurnChanges]: async () => {
      const { current } = surfaces.active.controller
      if (!current) throw new UnavailableError(l10n.t('No conversation is open.'))
      const { changes, session } = current
      const { turn } = session.state
      await changes.refresh()
      if (changes.list(turn).length === 0)
        throw new UnavailableError(l10n.t('The last turn changed no files.'))
      await confirmUndo(changes, { turn }, services)
    },
    [CommandId.restoreReverted]: async () => {
      const [last] = tracker.review.undone
      if (!last) throw new UnavailableError(l10n.t('There are no reverted changes to restore.'))
      await restoreUndone(last.id, services)
    },
    [CommandId.undoDecision]: async () => {
      if (!(await decisions.undo(revert => restoreStored(revert, services))))
        throw new UnavailableError(l10n.t('There is no keep or revert to undo.'))
    },
  } satisfies Partial<CommandHandlers>
}

import { useEffect } from 'preact/hooks'
import type { HistorySummary } from '../../bridge/history.ts'
import { plural, t } from '../l10n.ts'
import { announce } from '../ui/live-region.tsx'

interface DeletedNoteProps {
  deleted: HistorySummary['deleted']
  onUndo: () => void
}

/** Shown below the list for some time after a deletion: the deleted sessions, and a button to undo. */
export function DeletedNote({ deleted, onUndo }: DeletedNoteProps) {
  const text = deleted.length > 0 ? describeDeleted(deleted) : undefined
  useEffect(() => {
    if (text !== undefined) announce(t('{0} Press Ctrl+Z to undo.', text))
  }, [text])
  if (text === undefined) return null
  return (
    <div class="history-bar history-deleted">
      <span class="history-bar-text truncate" title={deleted.map(({ title }) => title).join('\n')} dir="auto">
        {text}
      </span>
      <button type="button" class="link-button" title={t('Undo (Ctrl+Z)')} onClick={onUndo}>
        {t('Undo')}
      </button>
    </div>
  )
}

function describeDeleted(deleted: HistorySummary['deleted']): string {
  const [first] = deleted
  if (first && deleted.length === 1)
    return first.deletesCopy
      ? t("Deleted Parley's copy of “{0}”. {1} keeps its own.", first.title, first.agentName)
      : t('Deleted “{0}”.', first.title)
  const count = plural(deleted.length, '1 session deleted.', '{0} sessions deleted.')
  return deleted.some(({ deletesCopy }) => deletesCopy)
    ? t("{0} Agents that weren't asked keep their own copies.", count)
    : count
}

import { useEffect } from 'preact/hooks'
import type { ActionForMany } from '../../bridge/history-messages.ts'
import { plural, t } from '../l10n.ts'
import { IconButton } from '../ui/button.tsx'
import { announce } from '../ui/live-region.tsx'
import type { ChosenRows } from './chosen-rows.ts'
import { useHistory } from './context.ts'
import { actOnMany } from './items.ts'

/** The bar below the list while several rows are selected: their number, and actions on all of them. */
export function ChosenBar({ chosen }: { chosen: ChosenRows }) {
  const { host } = useHistory()
  const rows = chosen.rows.map(({ row }) => row.value)
  const text =
    rows.length > 0 ? plural(rows.length, '1 session selected', '{0} sessions selected') : undefined
  useEffect(() => {
    if (text !== undefined) announce(text)
  }, [text])
  if (text === undefined) return null
  const act = (action: ActionForMany) => {
    chosen.clear()
    actOnMany(host, action, rows)
  }
  const allPinned = rows.every(({ pinned }) => pinned)
  return (
    <div class="history-bar">
      <span class="history-bar-text truncate">{text}</span>
      {allPinned ? (
        <IconButton icon="pinned" label={t('Unpin')} onClick={() => act('unpin')} />
      ) : (
        <IconButton icon="pin" label={t('Pin')} onClick={() => act('pin')} />
      )}
      {rows.some(({ canArchive, archived }) => canArchive && !archived) && (
        <IconButton icon="archive" label={t('Archive')} onClick={() => act('archive')} />
      )}
      {rows.some(({ canArchive, archived }) => canArchive && archived) && (
        <IconButton icon="inbox" label={t('Unarchive')} onClick={() => act('unarchive')} />
      )}
      {rows.some(({ canDelete }) => canDelete) && (
        <IconButton icon="trash" label={t('Delete Sessions (Delete)')} onClick={() => act('delete')} />
      )}
      <IconButton icon="close" label={t('Clear Selection (Escape)')} onClick={() => chosen.clear()} />
    </div>
  )
}

import type { HistoryHit, HistoryRow, HistorySurface } from '../../bridge/history.ts'
import type { HistoryAction } from '../../bridge/history-messages.ts'
import { plural, t } from '../l10n.ts'
import { Icon } from '../ui/icon.tsx'
import { SessionRow, sessionTooltip } from '../ui/session-row.tsx'
import { TitleField } from '../ui/title-field.tsx'
import { useHistory } from './context.ts'
import { defaultAction, idOf, open } from './items.ts'
import { isChoosing } from './selection.ts'

interface RowProps {
  row: HistoryRow
  /** the match of the searched text in the conversation */
  hit: HistoryHit | undefined
  id: string
  active: boolean
  /** whether the row is one of the chosen rows; absent if no rows are chosen */
  chosen: boolean | undefined
  /** position among the rows, 1-based, and the number of rows */
  position: number
  count: number
  onPress: (event: MouseEvent) => void
  /** the title is being edited */
  isRenamed: boolean
  /** Editing the title ended. `byKey`: a key ended it, so the focus returns to the list. */
  onRenamed: (byKey: boolean) => void
}

/** A row for a session: its title and state; below, its agent, folder and time, or its buttons. */
export function HistoryRowView({
  row,
  hit,
  id,
  active,
  chosen,
  position,
  count,
  onPress,
  isRenamed,
  onRenamed,
}: RowProps) {
  const { host, place, iconOf } = useHistory()
  const action = defaultAction(row)
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the list handles the keys
    <div
      id={id}
      class={`history-row${active ? ' active' : ''}${chosen ? ' chosen' : ''}${action ? '' : ' inert'}${hit ? ' found' : ''}`}
      role="option"
      tabIndex={-1}
      aria-selected={chosen ?? active}
      aria-posinset={position}
      aria-setsize={count}
      title={sessionTooltip(row)}
      onPointerDown={onPress}
      onClick={event => !isRenamed && !isChoosing(event) && open(host, row, hit)}
      data-vscode-context={row.inWindow === 'only' ? noMenu : menuContext(row, place)}
    >
      <SessionRow
        row={row}
        icon={iconOf(row.agentId)}
        folder
        title={
          isRenamed && (
            <TitleField
              title={row.untitled ? '' : row.title}
              label={t('Session title')}
              placeholder={t('Automatic title')}
              onRename={title => host.send('history/rename', { title, ...idOf(row) })}
              onClose={onRenamed}
            />
          )
        }
        actions={!isRenamed && <RowActions row={row} />}
        third={hit && <Hit hit={hit} />}
      />
    </div>
  )
}

/** The part of the conversation in which the text was found. */
function Hit({ hit: { excerpt, count } }: { hit: HistoryHit }) {
  return (
    <span class="history-hit" title={excerpt.join('')}>
      <span class="history-excerpt truncate" dir="auto">
        {excerpt.map((part, i) => (i % 2 === 0 ? part : <mark>{part}</mark>))}
      </span>
      {count > 1 && (
        <span class="history-count" title={plural(count, '1 match', '{0} matches')}>
          {count}
        </span>
      )}
    </span>
  )
}

/** Buttons that are shown on hover and for the active row; their actions also have shortcuts. */
function RowActions({ row }: Pick<RowProps, 'row'>) {
  const { host } = useHistory()
  // not buttons, since an element with the role `option` can't contain focusable elements
  const button = (action: HistoryAction, icon: string, label: string) => (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the list handles the keys
    // biome-ignore lint/a11y/noStaticElementInteractions: for the mouse alone
    <span
      class="icon-button"
      title={label}
      onClick={event => {
        event.stopPropagation()
        host.send('history/act', { action, ...idOf(row) })
      }}
    >
      <Icon name={icon} />
    </span>
  )
  return (
    <span class="history-actions" aria-hidden="true">
      {row.canLoad &&
        !row.open &&
        button('load', 'history', t('Load Session: Show the whole conversation (Enter)'))}
      {row.canResume &&
        button(
          'resume',
          'debug-continue',
          t('Resume Session: Continue without reloading its history (Shift+Enter)'),
        )}
      {row.canFork &&
        button('fork', 'repo-forked', t('Fork Session: Start a new session with this conversation'))}
      {row.pinned && button('unpin', 'pinned', t('Unpin'))}
      {row.canArchive &&
        (row.archived
          ? button('unarchive', 'inbox', t('Unarchive'))
          : button('archive', 'archive', t('Archive')))}
      {row.canClose && button('close', 'close', t('Close Session'))}
      {row.canDelete && button('delete', 'trash', t('Delete Session (Delete)'))}
    </span>
  )
}

/** The context of a row without a menu. */
const noMenu = JSON.stringify({ preventDefaultContextMenuItems: true })

/** The context for the row's context menu, used by `when` clauses in `package.json`. */
function menuContext(row: HistoryRow, parleyPlace: HistorySurface): string {
  return JSON.stringify({
    webviewSection: 'session',
    preventDefaultContextMenuItems: true,
    parleyPlace,
    parleyAgentId: row.agentId,
    parleySessionId: row.sessionId,
    parleyOpen: row.open,
    parleyCanLoad: row.canLoad && !row.open,
    parleyCanResume: row.canResume,
    parleyCanFork: row.canFork,
    parleyPinned: row.pinned,
    parleyCanArchive: row.canArchive && !row.archived,
    parleyCanUnarchive: row.canArchive && row.archived,
    parleyCanClose: row.canClose,
    parleyCanDelete: row.canDelete,
  })
}

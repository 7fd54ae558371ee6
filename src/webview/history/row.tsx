import type { HistoryRow } from '../../views/bridge/history.ts'
import { t } from '../l10n.ts'
import { now } from '../ui/clock.ts'
import { Icon } from '../ui/icon.tsx'
import { useHost } from './context.ts'
import { longTime, shortTime } from './dates.ts'
import { defaultAction } from './items.ts'

interface RowProps {
  row: HistoryRow
  id: string
  active: boolean
  /** position among the rows, 1-based, and how many there are */
  position: number
  count: number
  onPress: () => void
  /** the person is asked whether it is to be deleted */
  deleting: boolean
  /** Asks, or takes the question back. */
  onDelete: (ask: boolean) => void
}

/** One session: its title and what it is doing; under it agent, folder and time, or what can be done with it. */
export function HistoryRowView({ row, id, active, position, count, onPress, deleting, onDelete }: RowProps) {
  const host = useHost()
  const action = defaultAction(row)
  const state = stateOf(row)
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the list hears the keys
    <div
      id={id}
      class={`history-row${active ? ' active' : ''}${action ? '' : ' inert'}`}
      role="option"
      tabIndex={-1}
      aria-selected={active}
      aria-posinset={position}
      aria-setsize={count}
      title={tooltip(row)}
      onPointerDown={onPress}
      onClick={() => action && !deleting && host.act(action, row)}
    >
      <span class={`dot dot-${dotOf(row)}`} aria-hidden="true" />
      <div class="history-text">
        <div class="history-first">
          <span class={`history-title${row.untitled ? ' untitled' : ''}`} dir="auto">
            {row.title}
          </span>
          {state && <span class={`history-state state-${row.activity}`}>{state}</span>}
        </div>
        {deleting ? (
          <Confirmation row={row} onDelete={onDelete} />
        ) : (
          <div class="history-second">
            <span class="history-place">
              {row.agentName} · {row.here ? row.folder : t('in {0}', row.folder)}
              {row.updatedAt !== undefined && <Time time={row.updatedAt} />}
            </span>
            <RowActions row={row} onDelete={onDelete} />
          </div>
        )}
      </div>
    </div>
  )
}

function Time({ time }: { time: number }) {
  return <> · {shortTime(time, now.value)}</>
}

/** Shown on hover and for the active row; the keyboard has its own ways to the same. */
function RowActions({ row, onDelete }: Pick<RowProps, 'row' | 'onDelete'>) {
  const host = useHost()
  const button = (action: 'load' | 'resume' | 'close' | 'delete' | 'fork', icon: string, label: string) => (
    <button
      type="button"
      class="icon-button"
      tabIndex={-1}
      title={label}
      aria-label={label}
      onClick={event => {
        event.stopPropagation()
        if (action === 'delete') onDelete(true)
        else host.act(action, row)
      }}
    >
      <Icon name={icon} />
    </button>
  )
  return (
    <span class="history-actions" aria-hidden="true">
      {row.canLoad && !row.open && button('load', 'history', t('Load: shows the whole conversation (Enter)'))}
      {row.canResume &&
        button('resume', 'debug-continue', t('Resume: goes on without showing it (Shift+Enter)'))}
      {row.canFork &&
        button('fork', 'repo-forked', t('Fork: a new session that begins with this conversation'))}
      {row.canClose && button('close', 'close', t('Close the session'))}
      {row.canDelete && button('delete', 'trash', t('Delete the session… (Delete)'))}
    </span>
  )
}

/** In the place of the second line, so that nothing moves. */
function Confirmation({ row, onDelete }: Pick<RowProps, 'row' | 'onDelete'>) {
  const host = useHost()
  const answer = (event: MouseEvent, remove: boolean) => {
    event.stopPropagation()
    onDelete(false)
    if (remove) host.act('delete', row)
  }
  return (
    <div class="history-second history-confirm">
      <span class="history-place">{t('Delete it for good?')}</span>
      <button type="button" class="link-button" tabIndex={-1} onClick={event => answer(event, true)}>
        {t('Delete')}
      </button>
      <button type="button" class="link-button" tabIndex={-1} onClick={event => answer(event, false)}>
        {t('Keep')}
      </button>
    </div>
  )
}

function dotOf(row: HistoryRow): string {
  if (row.activity === 'running') return 'running'
  if (row.activity === 'requires_action') return 'waiting'
  return row.open ? 'idle' : 'closed'
}

function stateOf(row: HistoryRow): string | undefined {
  if (row.activity === 'running') return t('running')
  if (row.activity === 'requires_action') return t('needs your answer')
  return row.open ? t('open') : undefined
}

function tooltip(row: HistoryRow): string {
  return [row.title, row.cwd, row.updatedAt === undefined ? undefined : longTime(row.updatedAt)]
    .filter(Boolean)
    .join('\n')
}

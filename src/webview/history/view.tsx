import { type Signal, useComputed, useSignal } from '@preact/signals'
import { useCallback, useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import type { HistoryState } from '../../views/bridge/history.ts'
import { plural, t } from '../l10n.ts'
import { ListController } from '../list/controller.ts'
import { VirtualList } from '../list/virtual-list.tsx'
import { ListWindow } from '../list/window.ts'
import { IconButton } from '../ui/button.tsx'
import { now } from '../ui/clock.ts'
import { Icon } from '../ui/icon.tsx'
import { announce, LiveRegion } from '../ui/live-region.tsx'
import { useHost } from './context.ts'
import { groupName } from './dates.ts'
import { defaultAction, type HistoryItem, historyItems } from './items.ts'
import { AgentNotes } from './note.tsx'
import { HistoryRowView } from './row.tsx'

interface HistoryViewProps {
  state: Signal<HistoryState | undefined>
  /** kept through a reload */
  filter: Signal<{ text: string; here: boolean }>
}

/** The whole History view. The search field keeps the focus; the arrow keys walk through the rows. */
export function HistoryView({ state, filter }: HistoryViewProps) {
  const host = useHost()
  const search = useRef<HTMLInputElement>(null)
  const active = useSignal<string | undefined>(undefined)
  const list = useMemo(() => {
    const window = new ListWindow<HistoryItem>()
    const controller = new ListController(window, { follow: false })
    return { window, controller }
  }, [])
  const version = useSignal(0)
  /** the row that is asked about: to be deleted or kept */
  const deleting = useSignal<string | undefined>(undefined)

  // once a minute is enough for the groups; the rows keep their own time
  const minute = useComputed(() => Math.floor(now.value / 60_000))
  const items = useComputed(() =>
    state.value ? historyItems(state.value, filter.value, minute.value * 60_000 + 59_999) : [],
  )
  useLayoutEffect(() => {
    list.window.splice(0, list.window.count, items.value)
    version.value++
    const rows = items.value.filter(item => item.kind === 'row')
    if (!rows.some(item => item.key === active.peek())) active.value = rows[0]?.key
  }, [items.value])

  const rows = items.value.flatMap(item => (item.kind === 'row' ? [item] : []))
  const activeIndex = rows.findIndex(item => item.key === active.value)

  const go = (index: number) => {
    const item = rows[Math.max(0, Math.min(rows.length - 1, index))]
    if (!item) return
    deleting.value = undefined
    active.value = item.key
    list.controller.reveal(item)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.isComposing) return
    const item = rows[activeIndex]
    switch (event.key) {
      case 'ArrowDown':
        go(activeIndex + 1)
        break
      case 'ArrowUp':
        go(activeIndex - 1)
        break
      case 'PageDown':
        go(activeIndex + 10)
        break
      case 'PageUp':
        go(activeIndex - 10)
        break
      case 'Enter': {
        if (!item) return
        if (deleting.value === item.key) {
          deleting.value = undefined
          host.act('delete', item.row)
          break
        }
        const action = event.shiftKey && item.row.canResume ? 'resume' : defaultAction(item.row)
        if (action) host.act(action, item.row)
        break
      }
      case 'Delete':
        if (!item || deletesText(event.target)) return
        if (item.row.canDelete) askToDelete(item.key, item.row.title)
        else if (item.row.canClose) host.act('close', item.row)
        else return
        break
      case 'Escape':
        if (deleting.value !== undefined) deleting.value = undefined
        else if (filter.value.text === '') return
        else setText('')
        break
      default:
        return
    }
    event.preventDefault()
  }
  const askToDelete = (key: string, title: string) => {
    active.value = key
    deleting.value = key
    announce(t('Delete “{0}”? Enter deletes it for good, Escape keeps it.', title))
  }
  const setText = (text: string) => {
    deleting.value = undefined
    filter.value = { ...filter.value, text }
    active.value = undefined
    list.controller.toTop()
    const found = items.value.filter(item => item.kind === 'row').length
    announce(plural(found, 'One session', '{0} sessions'))
  }

  const renderRow = useCallback(
    (item: HistoryItem) => <Item item={item} active={active} deleting={deleting} rows={items.value} />,
    [active, deleting, items.value],
  )
  if (!state.value) return <main class="history" />
  const { here } = filter.value
  return (
    <main
      class="history"
      onKeyDown={event => {
        if (event.target === search.current) return
        if (
          event.key.length === 1 &&
          event.key !== ' ' &&
          !event.ctrlKey &&
          !event.metaKey &&
          !event.altKey
        ) {
          search.current?.focus()
        } else if (!(event.target instanceof HTMLButtonElement)) onKeyDown(event)
      }}
    >
      <h1 class="visually-hidden">{t('History')}</h1>
      <div class="history-search">
        <div class="search-box">
          <Icon name="search" />
          <input
            ref={search}
            type="text"
            role="combobox"
            aria-expanded={items.value.length > 0}
            aria-controls={items.value.length > 0 ? 'history-list' : undefined}
            aria-activedescendant={active.value}
            aria-label={t('Search sessions')}
            placeholder={t('Search sessions')}
            spellcheck={false}
            value={filter.value.text}
            onInput={event => setText(event.currentTarget.value)}
            onKeyDown={onKeyDown}
          />
          {filter.value.text !== '' && (
            <IconButton icon="close" label={t('Clear')} onClick={() => setText('')} />
          )}
        </div>
        <IconButton
          icon="root-folder"
          label={t('Only sessions of this workspace')}
          pressed={here}
          class={here ? 'pressed' : ''}
          onClick={() => {
            filter.value = { ...filter.value, here: !here }
            list.controller.toTop()
          }}
        />
      </div>
      {items.value.length > 0 && (
        <VirtualList
          id="history-list"
          window={list.window}
          controller={list.controller}
          version={version}
          class="history-list"
          label={t('Sessions')}
          role="listbox"
          rowClass={itemClass}
          renderRow={renderRow}
          focusable={false}
          footer={<AgentNotes notes={state.value.agents} />}
        />
      )}
      {items.value.length === 0 && (
        <div class="history-empty">
          <Nothing state={state.value} filter={filter} />
          <AgentNotes notes={state.value.agents} />
        </div>
      )}
      <LiveRegion />
    </main>
  )
}

/** In the search field the key deletes text while there is some after the cursor. */
function deletesText(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLInputElement)) return false
  return target.selectionStart !== target.value.length
}

function itemClass(item: HistoryItem): string {
  return `history-item history-item-${item.kind}`
}

interface ItemProps {
  item: HistoryItem
  active: Signal<string | undefined>
  deleting: Signal<string | undefined>
  rows: readonly HistoryItem[]
}

function Item({ item, active, deleting, rows }: ItemProps) {
  switch (item.kind) {
    case 'group':
      return (
        <div class="history-group" role="presentation">
          {groupName(item.group)}
        </div>
      )
    case 'row': {
      const sessions = rows.filter(one => one.kind === 'row')
      return (
        <HistoryRowView
          row={item.row}
          id={item.key}
          active={active.value === item.key}
          position={sessions.indexOf(item) + 1}
          count={sessions.length}
          onPress={() => {
            active.value = item.key
            if (deleting.value !== item.key) deleting.value = undefined
          }}
          deleting={deleting.value === item.key}
          onDelete={ask => {
            active.value = item.key
            deleting.value = ask ? item.key : undefined
          }}
        />
      )
    }
  }
}

interface NothingProps {
  state: HistoryState
  filter: Signal<{ text: string; here: boolean }>
}

/** Why there are no rows, and what to do. */
function Nothing({ state, filter }: NothingProps) {
  const host = useHost()
  const { text, here } = filter.value
  if (text !== '' || (here && state.rows.length > 0)) {
    return (
      <div class="history-nothing">
        <p>{text === '' ? t('No session of this workspace yet.') : t('No session matches “{0}”.', text)}</p>
        <button
          type="button"
          class="link-button"
          onClick={() => {
            filter.value = { text: '', here: false }
          }}
        >
          {t('Show all sessions')}
        </button>
      </div>
    )
  }
  if (!state.trusted) {
    return (
      <div class="history-nothing">
        <p>{t('This workspace is not trusted. No agent is started, so no sessions are listed.')}</p>
      </div>
    )
  }
  if (state.agents.some(agent => agent.state === 'loading')) return null
  return (
    <div class="history-nothing">
      <p>{t('Your sessions will be listed here, so that you can load or resume them.')}</p>
      <button type="button" class="link-button" onClick={() => host.run('parley.newSession')}>
        {t('Start a session')}
      </button>
    </div>
  )
}

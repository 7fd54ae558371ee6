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
import { useHistory } from './context.ts'
import { groupName } from './dates.ts'
import {
  defaultAction,
  type HistoryFilter,
  type HistoryItem,
  historyItems,
  idOf,
  type RowQuestion,
} from './items.ts'
import { AgentNotes, StorageNote } from './note.tsx'
import { HistoryRowView } from './row.tsx'

interface HistoryViewProps {
  state: Signal<HistoryState | undefined>
  /** kept through a reload */
  filter: Signal<HistoryFilter>
  /** the row that the person is asked about */
  asked: Signal<RowQuestion | undefined>
  wantsFocus: Signal<boolean>
}

/** The whole of History. The search field keeps the focus; the arrow keys walk through the rows. */
export function HistoryView({ state, filter, asked, wantsFocus }: HistoryViewProps) {
  const { host, place } = useHistory()
  const search = useRef<HTMLInputElement>(null)
  const active = useSignal<string | undefined>(undefined)
  const list = useMemo(() => {
    const window = new ListWindow<HistoryItem>()
    const controller = new ListController(window, { follow: false })
    return { window, controller }
  }, [])
  const version = useSignal(0)

  // once a minute is enough for the groups; the rows keep their own time
  const minute = useComputed(() => Math.floor(now.value / 60_000))
  const items = useComputed(() =>
    state.value ? historyItems(state.value, filter.value, minute.value * 60_000 + 59_999) : [],
  )
  const focusNow = wantsFocus.value && state.value !== undefined
  useLayoutEffect(() => {
    if (!focusNow) return
    wantsFocus.value = false
    search.current?.focus()
  }, [focusNow, wantsFocus])
  useLayoutEffect(() => {
    list.window.splice(0, list.window.count, items.value)
    version.value++
    const rows = items.value.filter(item => item.kind === 'row')
    if (!rows.some(item => item.key === active.peek())) active.value = rows[0]?.key
  }, [items.value])

  /** As it is now: a fast hand presses Enter before what it typed is drawn. */
  const current = () => {
    const rows = items.value.flatMap(item => (item.kind === 'row' ? [item] : []))
    const index = rows.findIndex(item => item.key === active.value)
    return { rows, index: index < 0 && rows.length > 0 ? 0 : index }
  }

  /** The active row is in the page: those far from the view are not. */
  const isDrawn = () => {
    const { start, end } = list.controller.range.value
    return list.window.items.slice(start, end).some(item => item.key === active.value)
  }

  const go = (index: number) => {
    const { rows } = current()
    const item = rows[Math.max(0, Math.min(rows.length - 1, index))]
    if (!item) return
    asked.value = undefined
    active.value = item.key
    list.controller.reveal(item)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.isComposing) return
    const { rows, index } = current()
    const item = rows[index]
    switch (event.key) {
      case 'ArrowDown':
        go(index + 1)
        break
      case 'ArrowUp':
        go(index - 1)
        break
      case 'PageDown':
        go(index + 10)
        break
      case 'PageUp':
        go(index - 10)
        break
      case 'Enter': {
        if (!item) return
        if (asked.value?.what === 'delete' && asked.value.key === item.key) {
          asked.value = undefined
          host.send('history/act', { action: 'delete', ...idOf(item.row) })
          break
        }
        const action = event.shiftKey && item.row.canResume ? 'resume' : defaultAction(item.row)
        if (action) host.send('history/act', { action, ...idOf(item.row) })
        break
      }
      case 'F2':
        if (item) ask('rename', item)
        break
      case 'Delete':
        if (!item || deletesText(event.target)) return
        if (item.row.canDelete) ask('delete', item)
        else if (item.row.canClose) host.send('history/act', { action: 'close', ...idOf(item.row) })
        else return
        break
      case 'Escape':
        if (asked.value !== undefined) asked.value = undefined
        else if (filter.value.text !== '') setText('')
        else if (place === 'sideBar') back()
        else return
        break
      default:
        return
    }
    event.preventDefault()
  }
  const back = () => host.send('history/command', { command: 'parley.showConversation' })
  const ask = (what: RowQuestion['what'], { key }: HistoryItem) => {
    asked.value = { what, key }
  }
  // also when the context menu asks, which VS Code draws
  useLayoutEffect(() => {
    const question = asked.value
    const item = items.value.find(one => one.key === question?.key)
    if (!question || item?.kind !== 'row') return
    active.value = item.key
    list.controller.reveal(item)
    if (question.what === 'rename') return
    search.current?.focus()
    announce(
      item.row.deletesCopy
        ? t(
            'Delete the saved copy of “{0}”? The agent keeps its own history. Press Enter to delete or Escape to cancel.',
            item.row.title,
          )
        : t('Delete “{0}” permanently? Press Enter to delete or Escape to cancel.', item.row.title),
    )
  }, [asked.value])
  const setText = (text: string) => {
    asked.value = undefined
    filter.value = { ...filter.value, text }
    active.value = undefined
    list.controller.toTop()
    const found = items.value.filter(item => item.kind === 'row').length
    announce(plural(found, '1 session', '{0} sessions'))
  }

  const focusBack = useCallback(() => search.current?.focus(), [])
  const renderRow = useCallback(
    (item: HistoryItem) => (
      <Item item={item} active={active} asked={asked} rows={items.value} focusBack={focusBack} />
    ),
    [active, asked, items.value],
  )
  if (!state.value) return <main class="history" />
  const { here, archived } = filter.value
  return (
    <main
      class="history"
      onKeyDown={event => {
        if (event.key.toLowerCase() === 'f' && (event.ctrlKey || event.metaKey) && !event.altKey) {
          event.preventDefault()
          search.current?.select()
          return
        }
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
        {place === 'sideBar' && (
          <IconButton
            icon="arrow-left"
            label={t('Back to Conversation (Escape)')}
            class="history-back"
            onClick={back}
          />
        )}
        <div class="search-box">
          <Icon name="search" />
          <input
            ref={search}
            type="text"
            role="combobox"
            aria-expanded={items.value.length > 0}
            aria-controls={items.value.length > 0 ? 'history-list' : undefined}
            aria-activedescendant={isDrawn() ? active.value : undefined}
            aria-label={t('Search sessions')}
            placeholder={t('Search sessions')}
            spellcheck={false}
            value={filter.value.text}
            onInput={event => setText(event.currentTarget.value)}
            onKeyDown={onKeyDown}
            onContextMenu={event => menuByKey(event, active.value)}
          />
          {filter.value.text !== '' && (
            <IconButton icon="close" label={t('Clear')} onClick={() => setText('')} />
          )}
        </div>
        <IconButton
          icon="root-folder"
          label={t("Show Only This Workspace's Sessions")}
          pressed={here}
          class={here ? 'pressed' : ''}
          onClick={() => {
            filter.value = { ...filter.value, here: !here }
            list.controller.toTop()
          }}
        />
        {(archived || state.value.rows.some(row => row.archived)) && (
          <IconButton
            icon="archive"
            label={t('Include Archived Sessions')}
            pressed={archived}
            class={archived ? 'pressed' : ''}
            onClick={() => {
              filter.value = { ...filter.value, archived: !archived }
            }}
          />
        )}
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
          footer={
            <>
              <AgentNotes notes={state.value.agents} />
              <StorageNote storage={state.value.storage} />
            </>
          }
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

/** The menu key, with the search field in focus, means the row that is chosen. */
function menuByKey(event: MouseEvent, active: string | undefined): void {
  const row = active === undefined ? null : document.getElementById(active)
  if (event.button === 2 || !row) return
  event.preventDefault()
  event.stopPropagation()
  const { left, bottom } = row.getBoundingClientRect()
  const at = { clientX: left + 24, clientY: bottom - 8 }
  row.dispatchEvent(new MouseEvent('contextmenu', { bubbles: true, cancelable: true, ...at }))
}

function itemClass(item: HistoryItem): string {
  return `history-item history-item-${item.kind}`
}

interface ItemProps {
  item: HistoryItem
  active: Signal<string | undefined>
  asked: Signal<RowQuestion | undefined>
  rows: readonly HistoryItem[]
  focusBack: () => void
}

function Item({ item, active, asked, rows, focusBack }: ItemProps) {
  switch (item.kind) {
    case 'group':
      return (
        <div class="history-group" role="presentation">
          {groupName(item.group)}
        </div>
      )
    case 'row': {
      const sessions = rows.filter(one => one.kind === 'row')
      const question = asked.value?.key === item.key ? asked.value.what : undefined
      return (
        <HistoryRowView
          row={item.row}
          id={item.key}
          active={active.value === item.key}
          position={sessions.indexOf(item) + 1}
          count={sessions.length}
          onPress={() => {
            active.value = item.key
            if (!question) asked.value = undefined
          }}
          question={question}
          onAsk={(what, back = true) => {
            if (what) {
              active.value = item.key
              asked.value = { what, key: item.key }
              return
            }
            // the question may have gone to another row meanwhile
            if (asked.value?.key === item.key) asked.value = undefined
            if (back) focusBack()
          }}
        />
      )
    }
  }
}

interface NothingProps {
  state: HistoryState
  filter: Signal<HistoryFilter>
}

/** Why there are no rows, and what to do. */
function Nothing({ state, filter }: NothingProps) {
  const { host } = useHistory()
  const { text, here } = filter.value
  if (text !== '' || (here && state.rows.length > 0)) {
    return (
      <div class="history-nothing">
        <p>{text === '' ? t('No sessions in this workspace yet.') : t('No sessions match “{0}”.', text)}</p>
        <button
          type="button"
          class="link-button"
          onClick={() => {
            filter.value = { ...filter.value, text: '', here: false }
          }}
        >
          {t('Show All Sessions')}
        </button>
      </div>
    )
  }
  if (!state.trusted) {
    return (
      <div class="history-nothing">
        <p>
          {t(
            "Restricted Mode: agents don't start and sessions aren't listed until you trust this workspace.",
          )}
        </p>
      </div>
    )
  }
  if (state.agents.some(agent => agent.state === 'loading')) return null
  return (
    <div class="history-nothing">
      <p>{t('Your sessions appear here. You can load or resume them.')}</p>
      <button
        type="button"
        class="link-button"
        onClick={() => host.send('history/command', { command: 'parley.newSession' })}
      >
        {t('Start Session')}
      </button>
    </div>
  )
}

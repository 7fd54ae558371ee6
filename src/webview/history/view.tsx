import { computed, effect, type Signal, useSignal } from '@preact/signals'
import { useCallback, useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import type { HistorySummary } from '../../bridge/history.ts'
import { plural, t } from '../l10n.ts'
import { ListController } from '../list/controller.ts'
import { VirtualList } from '../list/virtual-list.tsx'
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
  type HistoryLines,
  idOf,
  type RowItem,
  type RowQuestion,
} from './items.ts'
import { AgentNotes, StorageNote } from './note.tsx'
import { HistoryRowView } from './row.tsx'

interface HistoryViewProps {
  summary: Signal<HistorySummary | undefined>
  lines: HistoryLines
  /** kept across reloads */
  filter: Signal<HistoryFilter>
  /** the row that shows a question */
  asked: Signal<RowQuestion | undefined>
  wantsFocus: Signal<boolean>
}

/** The whole History view. The search field keeps the focus; the arrow keys move through the rows. */
export function HistoryView({ summary, lines, filter, asked, wantsFocus }: HistoryViewProps) {
  const { host, place } = useHistory()
  const search = useRef<HTMLInputElement>(null)
  const active = useSignal<string | undefined>(undefined)
  useLayoutEffect(() => {
    // once a minute is enough for the groups; the rows update their own times
    const minute = computed(() => Math.floor(now.value / 60_000))
    return effect(() => lines.show(filter.value, minute.value * 60_000 + 59_999))
  }, [lines, filter])
  const list = useMemo(() => new ListController(lines.window, { follow: false }), [lines])
  const focusNow = wantsFocus.value && summary.value !== undefined
  useLayoutEffect(() => {
    if (!focusNow) return
    wantsFocus.value = false
    search.current?.focus()
  }, [focusNow, wantsFocus])
  useLayoutEffect(() => {
    if (!lines.item(active.peek())) active.value = lines.rows[0]?.key
  }, [lines.version.value])

  /** The current text, since the user may press Enter before it's rendered. */
  const current = () => {
    const { rows } = lines
    const index = rows.findIndex(item => item.key === active.value)
    return { rows, index: index < 0 && rows.length > 0 ? 0 : index }
  }

  /** Whether the active row is in the page; rows far from the view aren't. */
  const isDrawn = () => {
    const { start, end } = list.range.value
    return lines.window.items.slice(start, end).some(item => item.key === active.value)
  }

  const go = (index: number) => {
    const { rows } = current()
    const item = rows[Math.max(0, Math.min(rows.length - 1, index))]
    if (!item) return
    asked.value = undefined
    active.value = item.key
    list.reveal(item)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    // with other modifiers, keys are VS Code's
    if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return
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
          host.send('history/act', { action: 'delete', ...idOf(item.row.peek()) })
          break
        }
        const row = item.row.peek()
        const action = event.shiftKey && row.canResume ? 'resume' : defaultAction(row)
        if (action) host.send('history/act', { action, ...idOf(row) })
        break
      }
      case 'F2':
        if (event.shiftKey) return
        if (item) ask('rename', item)
        break
      case 'Delete':
        if (!item || deletesText(event.target)) return
        if (item.row.peek().canDelete) ask('delete', item)
        else if (item.row.peek().canClose)
          host.send('history/act', { action: 'close', ...idOf(item.row.peek()) })
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
  const ask = (what: RowQuestion['what'], { key }: RowItem) => {
    asked.value = { what, key }
  }
  // also when the context menu, which VS Code shows, asks the question
  useLayoutEffect(() => {
    const question = asked.value
    const item = lines.item(question?.key)
    if (!question || !item) return
    active.value = item.key
    list.reveal(item)
    if (question.what === 'rename') return
    search.current?.focus()
    const { title, deletesCopy } = item.row.peek()
    announce(
      deletesCopy
        ? t(
            'Delete the saved copy of “{0}”? The agent keeps its own history. Press Enter to delete or Escape to cancel.',
            title,
          )
        : t('Delete “{0}” permanently? Press Enter to delete or Escape to cancel.', title),
    )
  }, [asked.value])
  const setText = (text: string) => {
    asked.value = undefined
    filter.value = { ...filter.value, text }
    active.value = undefined
    list.toTop()
    announce(plural(lines.rowCount, '1 session', '{0} sessions'))
  }

  const focusBack = useCallback(() => search.current?.focus(), [])
  const renderRow = useCallback(
    (item: HistoryItem) => (
      <Item item={item} active={active} asked={asked} lines={lines} focusBack={focusBack} />
    ),
    [active, asked, lines],
  )
  if (!summary.value) return <main class="history" />
  const { here, archived } = filter.value
  const isListed = lines.rowCount > 0
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
            aria-expanded={isListed}
            aria-controls={isListed ? 'history-list' : undefined}
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
            list.toTop()
          }}
        />
        {(archived || lines.count.value.archived > 0) && (
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
      {isListed && (
        <VirtualList
          id="history-list"
          window={lines.window}
          controller={list}
          version={lines.version}
          class="history-list"
          label={t('Sessions')}
          role="listbox"
          rowClass={itemClass}
          renderRow={renderRow}
          focusable={false}
          footer={
            <>
              <AgentNotes notes={summary.value.agents} />
              <StorageNote storage={summary.value.storage} />
            </>
          }
        />
      )}
      {!isListed && (
        <div class="history-empty">
          <Nothing summary={summary.value} count={lines.count.value.all} filter={filter} />
          <AgentNotes notes={summary.value.agents} />
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

/** With the focus in the search field, the menu key opens the menu of the active row. */
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
  lines: HistoryLines
  focusBack: () => void
}

function Item({ item, active, asked, lines, focusBack }: ItemProps) {
  switch (item.kind) {
    case 'group':
      return (
        <div class="history-group" role="presentation">
          {groupName(item.group)}
        </div>
      )
    case 'row': {
      const question = asked.value?.key === item.key ? asked.value.what : undefined
      return (
        <HistoryRowView
          row={item.row.value}
          id={item.key}
          active={active.value === item.key}
          position={lines.positionOf(item)}
          count={lines.rowCount}
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
            // the question may have moved to another row meanwhile
            if (asked.value?.key === item.key) asked.value = undefined
            if (back) focusBack()
          }}
        />
      )
    }
  }
}

interface NothingProps {
  summary: HistorySummary
  /** the number of sessions */
  count: number
  filter: Signal<HistoryFilter>
}

/** Why there are no rows, and what to do. */
function Nothing({ summary, count, filter }: NothingProps) {
  const { host } = useHistory()
  const { text, here } = filter.value
  if (text !== '' || (here && count > 0)) {
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
  if (!summary.trusted) {
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
  if (summary.agents.some(agent => agent.state === 'loading')) return null
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

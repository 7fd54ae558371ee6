import { computed, effect, type ReadonlySignal, type Signal } from '@preact/signals'
import { useCallback, useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import type { HistoryPreview, HistorySummary } from '../../bridge/history.ts'
import { plural, t } from '../l10n.ts'
import { now } from '../ui/clock.ts'
import { announce, LiveRegion } from '../ui/live-region.tsx'
import { ChosenBar } from './chosen-bar.tsx'
import { useHistory } from './context.ts'
import { DeletedNote } from './deleted-note.tsx'
import { EmptyHistory } from './empty.tsx'
import type { HistoryFilter, HistoryLines } from './items.ts'
import { handleKey, isFindKey, isSelectAllKey, isUndoKey, typesText } from './keys.ts'
import { HistoryList } from './list.tsx'
import { AgentNotes, SearchNote } from './note.tsx'
import { Preview } from './preview.tsx'
import { SearchBar } from './search-bar.tsx'
import { HistorySelection } from './selection.ts'

interface HistoryViewProps {
  summary: Signal<HistorySummary | undefined>
  lines: HistoryLines
  /** kept across reloads */
  filter: Signal<HistoryFilter>
  /** the key of the row whose title is being edited */
  renamed: Signal<string | undefined>
  preview: Signal<HistoryPreview | undefined>
  /** conversations are being searched, and nothing was found in them yet */
  isSearching: ReadonlySignal<boolean>
  /** not all messages were searched */
  isLimited: ReadonlySignal<boolean>
  wantsFocus: Signal<boolean>
}

/** The whole History view. The search field keeps the focus; the arrow keys move through the rows. */
export function HistoryView({
  summary,
  lines,
  filter,
  renamed,
  preview,
  isSearching,
  isLimited,
  wantsFocus,
}: HistoryViewProps) {
  const { host, place } = useHistory()
  const search = useRef<HTMLInputElement>(null)
  const focusSearch = useCallback(() => search.current?.focus(), [])
  const selection = useMemo(() => new HistorySelection(lines, renamed), [lines, renamed])
  useLayoutEffect(() => {
    // once a minute is enough for the groups; the rows update their own times
    const minute = computed(() => Math.floor(now.value / 60_000))
    return effect(() => lines.show(filter.value, minute.value * 60_000 + 59_999))
  }, [lines, filter])
  const focusNow = wantsFocus.value && summary.value !== undefined
  useLayoutEffect(() => {
    if (!focusNow) return
    wantsFocus.value = false
    focusSearch()
  }, [focusNow, wantsFocus])
  const focused = useRef<EventTarget | null>(null)
  useLayoutEffect(() => {
    selection.selectShown()
    // a row that had the focus may no longer exist after the next frame
    const frame = requestAnimationFrame(() => {
      const isLost = focused.current instanceof Element && !focused.current.isConnected
      if (isLost && document.activeElement === document.body) focusSearch()
    })
    return () => cancelAnimationFrame(frame)
  }, [lines.version.value])
  // renaming may also begin in the context menu, which VS Code shows
  useLayoutEffect(() => selection.revealRenamed(), [renamed.value])

  const setText = (text: string) => {
    filter.value = { ...filter.value, text }
    selection.clear()
  }
  // waits for the results in conversations
  useLayoutEffect(() => {
    if (filter.value.text !== '' && !isSearching.value)
      announce(plural(lines.rowCount, '1 session', '{0} sessions'))
  }, [filter.value.text, isSearching.value])
  const clearSearch = () => {
    const hasText = filter.value.text !== ''
    if (hasText) setText('')
    return hasText
  }
  const undoDeletion = () => {
    const isUndoable = (summary.peek()?.deleted.length ?? 0) > 0
    if (isUndoable) host.send('history/undoDeletion')
    return isUndoable
  }
  const onListKey = (event: KeyboardEvent) => handleKey(event, { selection, host, place, clearSearch })
  const onKeyDown = (event: KeyboardEvent) => {
    if (isFindKey(event)) {
      event.preventDefault()
      search.current?.select()
    } else if (isSelectAllKey(event)) {
      event.preventDefault()
      selection.chosen.all()
    } else if (isUndoKey(event) && filter.value.text === '' && undoDeletion()) event.preventDefault()
    else if (event.target !== search.current) {
      if (typesText(event)) focusSearch()
      else if (!(event.target instanceof HTMLButtonElement)) onListKey(event)
    }
  }

  if (!summary.value) return <main class="history" />
  return (
    <main
      class="history"
      onKeyDown={onKeyDown}
      onFocusIn={event => {
        focused.current = event.target
      }}
    >
      <h1 class="visually-hidden">{t('History')}</h1>
      <SearchBar
        field={search}
        filter={filter}
        lines={lines}
        selection={selection}
        onSearch={setText}
        onKeyDown={onListKey}
      />
      {lines.rowCount > 0 ? (
        <div class="history-body">
          <HistoryList
            summary={summary.value}
            isLimited={isLimited.value}
            lines={lines}
            selection={selection}
            focusBack={focusSearch}
          />
          {filter.value.preview && <Preview selection={selection} preview={preview} />}
        </div>
      ) : (
        <div class="history-empty">
          <EmptyHistory
            summary={summary.value}
            count={lines.count.value.all}
            filter={filter}
            isSearching={isSearching.value}
          />
          <SearchNote search={summary.value.search} />
          <AgentNotes notes={summary.value.agents} />
        </div>
      )}
      <ChosenBar chosen={selection.chosen} />
      <DeletedNote deleted={summary.value.deleted} onUndo={undoDeletion} />
      <LiveRegion />
    </main>
  )
}

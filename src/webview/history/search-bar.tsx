import type { Signal } from '@preact/signals'
import type { RefObject } from 'preact'
import { t } from '../l10n.ts'
import { IconButton } from '../ui/button.tsx'
import { SearchField } from '../ui/search-field.tsx'
import { useHistory } from './context.ts'
import { FilterButton } from './filter-menu.tsx'
import type { HistoryFilter, HistoryLines } from './items.ts'
import type { HistorySelection } from './selection.ts'

interface SearchBarProps {
  field: RefObject<HTMLInputElement | null>
  filter: Signal<HistoryFilter>
  lines: HistoryLines
  selection: HistorySelection
  onSearch: (text: string) => void
  onKeyDown: (event: KeyboardEvent) => void
}

/** The search field, which controls the list, and the filters. */
export function SearchBar({ field, filter, lines, selection, onSearch, onKeyDown }: SearchBarProps) {
  const { host, place } = useHistory()
  const { text, here, archived, preview = false } = filter.value
  return (
    <div class="history-search">
      {place === 'sideBar' && (
        <IconButton
          icon="arrow-left"
          label={t('Back to Conversation (Escape)')}
          class="history-back"
          onClick={() => host.send('history/command', { command: 'parley.showConversation' })}
        />
      )}
      <SearchField
        field={field}
        label={t('Search sessions')}
        placeholder={t('Search titles and messages')}
        value={text}
        rows={{
          list: lines.rowCount > 0 ? 'history-list' : undefined,
          active: selection.isMounted ? selection.key : undefined,
        }}
        onSearch={onSearch}
        onKeyDown={onKeyDown}
        onContextMenu={event => menuByKey(event, selection.key)}
      />
      <FilterButton filter={filter} lines={lines} onSearch={onSearch} />
      <IconButton
        icon="root-folder"
        label={t("Show Only This Workspace's Sessions")}
        pressed={here}
        class={here ? 'pressed' : ''}
        onClick={() => {
          filter.value = { ...filter.value, here: !here }
          selection.list.toTop()
        }}
      />
      <IconButton
        icon="open-preview"
        label={t('Preview Selected Session')}
        pressed={preview}
        class={preview ? 'pressed' : ''}
        onClick={() => {
          filter.value = { ...filter.value, preview: !preview }
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
  )
}

/** Opens the menu of the selected row when the menu key is pressed in the search field. */
function menuByKey(event: MouseEvent, selected: string | undefined): void {
  const row = selected === undefined ? null : document.getElementById(selected)
  if (event.button === 2 || !row) return
  event.preventDefault()
  event.stopPropagation()
  const { left, bottom } = row.getBoundingClientRect()
  const at = { clientX: left + 24, clientY: bottom - 8 }
  row.dispatchEvent(new MouseEvent('contextmenu', { bubbles: true, cancelable: true, ...at }))
}

import { useCallback } from 'preact/hooks'
import type { HistorySummary } from '../../bridge/history.ts'
import { t } from '../l10n.ts'
import { VirtualList } from '../list/virtual-list.tsx'
import { groupName } from './dates.ts'
import type { HistoryItem, HistoryLines } from './items.ts'
import { AgentNotes, OlderMessagesNote, SearchNote, StorageNote } from './note.tsx'
import { HistoryRowView } from './row.tsx'
import type { HistorySelection } from './selection.ts'

interface HistoryListProps {
  summary: HistorySummary
  /** not all messages were searched */
  isLimited: boolean
  lines: HistoryLines
  selection: HistorySelection
  /** Moves the focus back to the search field. */
  focusBack: () => void
}

/** The sessions, in groups; below them, the state of each agent's list. */
export function HistoryList({ summary, isLimited, lines, selection, focusBack }: HistoryListProps) {
  const renderRow = useCallback(
    (item: HistoryItem) => <Item item={item} selection={selection} lines={lines} focusBack={focusBack} />,
    [selection, lines, focusBack],
  )
  return (
    <VirtualList
      id="history-list"
      window={lines.window}
      controller={selection.list}
      version={lines.version}
      class="history-list"
      label={t('Sessions')}
      role="listbox"
      multiselectable
      rowClass={itemClass}
      renderRow={renderRow}
      focusable={false}
      footer={
        <>
          {isLimited && <OlderMessagesNote />}
          <SearchNote search={summary.search} />
          <AgentNotes notes={summary.agents} />
          <StorageNote storage={summary.storage} />
        </>
      }
    />
  )
}

function itemClass(item: HistoryItem): string {
  return `history-item history-item-${item.kind}`
}

interface ItemProps extends Omit<HistoryListProps, 'summary' | 'isLimited'> {
  item: HistoryItem
}

function Item({ item, lines, selection, focusBack }: ItemProps) {
  switch (item.kind) {
    case 'group':
      return (
        <div
          class="history-group"
          role="presentation"
          title={'tooltip' in item.group ? item.group.tooltip : undefined}
        >
          <span dir="auto">{groupName(item.group)}</span>
        </div>
      )
    case 'row':
      return (
        <HistoryRowView
          row={item.row.value}
          hit={item.hit.value}
          id={item.key}
          active={selection.key === item.key}
          chosen={selection.chosen.isEmpty ? undefined : selection.chosen.has(item.key)}
          position={lines.positionOf(item)}
          count={lines.rowCount}
          onPress={event => selection.press(item, event)}
          isRenamed={selection.renamed === item.key}
          onRenamed={back => {
            selection.endRename(item)
            if (back) focusBack()
          }}
        />
      )
  }
}

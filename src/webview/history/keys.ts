import type { HistorySurface } from '../../bridge/history.ts'
import type { HistoryMessages } from '../../bridge/history-messages.ts'
import type { HostClient } from '../host/connection.ts'
import { actOnMany, idOf, open } from './items.ts'
import type { HistorySelection } from './selection.ts'

interface HistoryKeysOptions {
  selection: HistorySelection
  host: HostClient<HistoryMessages>
  place: HistorySurface
  /** Empties the search field; returns false if it was empty. */
  clearSearch: () => boolean
}

/** Handles the keys of the list. Keys with Ctrl, ⌘ or Alt are left to VS Code. */
export function handleKey(event: KeyboardEvent, options: HistoryKeysOptions): void {
  if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return
  if (act(event, options)) event.preventDefault()
}

/** Does the key's action; returns false if the key has none. */
function act(event: KeyboardEvent, { selection, host, place, clearSearch }: HistoryKeysOptions): boolean {
  const { item } = selection
  const row = item?.row.peek()
  switch (event.key) {
    case 'ArrowDown':
      selection.move(1, { extend: event.shiftKey })
      return true
    case 'ArrowUp':
      selection.move(-1, { extend: event.shiftKey })
      return true
    case 'PageDown':
      selection.move(10, { extend: event.shiftKey })
      return true
    case 'PageUp':
      selection.move(-10, { extend: event.shiftKey })
      return true
    case 'Enter': {
      if (!item || !row) return false
      if (event.shiftKey && row.canResume) host.send('history/act', { action: 'resume', ...idOf(row) })
      else open(host, row, item.hit.peek())
      return true
    }
    case 'F2':
      if (event.shiftKey) return false
      if (item && row?.inWindow !== 'only') selection.rename(item)
      return true
    case 'Delete': {
      if (!item || !row || deletesText(event.target)) return false
      const chosen = selection.chosen.rows
      if (chosen.length > 0) {
        selection.chosen.clear()
        actOnMany(
          host,
          'delete',
          chosen.map(({ row }) => row.peek()),
        )
      } else if (row.canDelete) host.send('history/act', { action: 'delete', ...idOf(row) })
      else if (row.canClose) host.send('history/act', { action: 'close', ...idOf(row) })
      else return false
      return true
    }
    case 'Escape':
      if (selection.renamed) selection.endRename()
      else if (selection.chosen.clear()) return true
      else if (clearSearch()) return true
      else if (place === 'sideBar') host.send('history/command', { command: 'parley.showConversation' })
      else return false
      return true
    default:
      return false
  }
}

/** Whether the key types a character other than a space. Such a character goes to the search field. */
export function typesText({ key, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  return key.length === 1 && key !== ' ' && !ctrlKey && !metaKey && !altKey
}

/** Whether the key is Ctrl+F or ⌘F. */
export function isFindKey({ key, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  return key.toLowerCase() === 'f' && (ctrlKey || metaKey) && !altKey
}

/** Whether the key is Ctrl+A or ⌘A, pressed where it doesn't select text. */
export function isSelectAllKey(event: KeyboardEvent): boolean {
  const { target } = event
  return !(target instanceof HTMLInputElement && target.value !== '') && isControlKey(event, 'a')
}

/** Whether the key is Ctrl+Z or ⌘Z. */
export function isUndoKey(event: KeyboardEvent): boolean {
  return isControlKey(event, 'z')
}

function isControlKey({ key, ctrlKey, metaKey, altKey, shiftKey }: KeyboardEvent, letter: string): boolean {
  return key.toLowerCase() === letter && (ctrlKey || metaKey) && !altKey && !shiftKey
}

/** Whether the Delete key deletes text: in the search field, if there is text after the cursor. */
function deletesText(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLInputElement)) return false
  return target.selectionStart !== target.value.length
}

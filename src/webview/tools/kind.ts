import type { ToolKind } from '../../acp/model.ts'
import { plural, t } from '../l10n.ts'

const icons: Record<string, string> = {
  read: 'file',
  edit: 'edit',
  delete: 'trash',
  move: 'file-symlink-file',
  search: 'search',
  execute: 'terminal',
  think: 'lightbulb',
  fetch: 'globe',
  switch_mode: 'arrow-swap',
}

export function kindIcon(kind: ToolKind): string {
  return icons[kind] ?? 'tools'
}

/** What a tool of this kind does, for screen readers. */
export function kindName(kind: ToolKind): string {
  switch (kind) {
    case 'read':
      return t('Read')
    case 'edit':
      return t('Edit')
    case 'delete':
      return t('Delete')
    case 'move':
      return t('Move')
    case 'search':
      return t('Search')
    case 'execute':
      return t('Command')
    case 'think':
      return t('Thought')
    case 'fetch':
      return t('Fetch')
    default:
      return t('Tool')
  }
}

/** `Searched 3 times, read 2 files`. */
export function runSummary(kinds: readonly ToolKind[]): string {
  const count = (kind: ToolKind) => kinds.filter(one => one === kind).length
  const parts: string[] = []
  const searched = count('search')
  const read = count('read')
  const fetched = count('fetch')
  if (searched > 0) parts.push(plural(searched, 'searched once', 'searched {0} times'))
  if (read > 0) parts.push(plural(read, 'read 1 file', 'read {0} files'))
  if (fetched > 0) parts.push(plural(fetched, 'fetched 1 page', 'fetched {0} pages'))
  const text = parts.join(t(', '))
  return text.charAt(0).toLocaleUpperCase() + text.slice(1)
}

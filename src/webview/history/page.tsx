import { batch, computed, effect, type Signal, signal } from '@preact/signals'
import type { FunctionComponent } from 'preact'
import type { MessageConnection } from 'vscode-jsonrpc/browser'
import type { HistoryPreview, HistorySummary, HistorySurface } from '../../bridge/history.ts'
import type { HistoryHostMessages, HistoryMessages } from '../../bridge/history-messages.ts'
import { hostClient, listenToHost } from '../host/connection.ts'
import { pageState, storeState } from '../host/vscode-api.ts'
import { HistoryProvider } from './context.ts'
import { type HistoryFilter, HistoryLines, rowKey } from './items.ts'
import { HistoryView } from './view.tsx'

/**
 * Creates the History page, connected to its host. Its list and search text stay while the page is hidden. `wantsFocus`: the search field
 * takes the focus as soon as it exists.
 */
export function historyPage(
  connection: MessageConnection,
  place: HistorySurface,
  wantsFocus: Signal<boolean>,
): FunctionComponent {
  const summary = signal<HistorySummary | undefined>(undefined)
  const lines = new HistoryLines()
  const filter = signal(storedFilter())
  const preview = signal<HistoryPreview | undefined>(undefined)
  const renamed = signal<string | undefined>(undefined)
  effect(() => storeState({ history: filter.value }))
  const searched = { id: 0, isRunning: signal(false), isLimited: signal(false) }
  const hasAllRows = signal(false)
  // results may be missing until all rows have arrived
  const isSearching = computed(() => searched.isRunning.value || !hasAllRows.value)

  // the user moved the focus elsewhere before the search field existed
  window.addEventListener('blur', () => {
    wantsFocus.value = false
  })

  const host = hostClient<HistoryMessages>(connection)
  listenToHost<HistoryHostMessages>(connection, {
    'history/state': changes => {
      batch(() => {
        lines.update(changes)
        hasAllRows.value = !changes.more
        summary.value = changes
      })
      // after the frame that draws these rows
      if (changes.more) requestAnimationFrame(() => setTimeout(() => host.send('history/rest')))
    },
    'history/hits': ({ id, hits, isLimited }) => {
      if (id !== searched.id) return
      searched.isLimited.value = isLimited
      lines.found(hits)
      searched.isRunning.value = false
    },
    'history/preview': shown => {
      preview.value = shown
    },
    'history/editTitle': row => {
      renamed.value = rowKey(row)
    },
  })
  host.send('history/ready')
  effect(() => {
    const { text, here } = filter.value
    searched.isRunning.value = text.trim() !== ''
    searched.id += 1
    if (text !== '' || searched.id > 1)
      host.send('history/search', { id: searched.id, text: text.slice(0, 1000), here })
  })
  // compared as text, so that rows are drawn again only when an icon changes, not with every summary
  const icons = computed(() =>
    JSON.stringify(summary.value?.agents.map(({ agentId, icon }) => [agentId, icon]) ?? []),
  )
  const iconOfAgent = computed(() => new Map<string, string | undefined>(JSON.parse(icons.value)))
  const iconOf = (agentId: string) => iconOfAgent.value.get(agentId)
  return () => (
    <HistoryProvider value={{ host, place, iconOf }}>
      <HistoryView
        summary={summary}
        lines={lines}
        filter={filter}
        renamed={renamed}
        preview={preview}
        isSearching={isSearching}
        isLimited={searched.isLimited}
        wantsFocus={wantsFocus}
      />
    </HistoryProvider>
  )
}

function storedFilter(): HistoryFilter {
  const { history } = pageState()
  const stored: Record<string, unknown> =
    typeof history === 'object' && history !== null ? { ...history } : {}
  const text = typeof stored.text === 'string' ? stored.text : ''
  const group = stored.group === 'agent' || stored.group === 'folder' ? stored.group : undefined
  return {
    text,
    here: stored.here === true,
    archived: stored.archived === true,
    group,
    preview: stored.preview === true,
  }
}

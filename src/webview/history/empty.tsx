import type { Signal } from '@preact/signals'
import type { HistorySummary } from '../../bridge/history.ts'
import { t } from '../l10n.ts'
import { useHistory } from './context.ts'
import type { HistoryFilter } from './items.ts'

interface EmptyHistoryProps {
  summary: HistorySummary
  /** the number of sessions */
  count: number
  filter: Signal<HistoryFilter>
  isSearching: boolean
}

/** Explains why there are no rows, and offers actions. */
export function EmptyHistory({ summary, count, filter, isSearching }: EmptyHistoryProps) {
  const { host } = useHistory()
  const { text, here } = filter.value
  if (isSearching) return null
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

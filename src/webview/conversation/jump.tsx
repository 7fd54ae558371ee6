import { useSignal, useSignalEffect } from '@preact/signals'
import { plural, t } from '../l10n.ts'
import { Icon } from '../ui/icon.tsx'
import { useApp } from './context.ts'

/** Floats over the end of the list when the view is elsewhere: what waits for the person, and what is new. */
export function JumpButtons() {
  const { store, list } = useApp()
  const seen = useSignal(0)
  useSignalEffect(() => {
    const total = store.total.value
    if (list.following.value) seen.value = total
  })
  if (list.following.value) return null
  const fresh = Math.max(0, store.total.value - seen.value)
  const question = store.waiting.value[0]
  const toQuestion = () => {
    const index = question === undefined ? undefined : store.slot(question)?.index
    const row = index === undefined ? undefined : store.rows.rowsOf(index)[0]
    if (row) list.toItem(row)
  }
  return (
    <div class="jump">
      {question !== undefined && (
        <button type="button" class="jump-button jump-question" onClick={toQuestion}>
          <Icon name="shield" />{' '}
          {plural(store.waiting.value.length, 'One question waits for you', '{0} questions wait for you')}
        </button>
      )}
      <button type="button" class="jump-button" onClick={() => list.toEnd()} title={t('Jump to latest')}>
        <Icon name="arrow-down" /> {fresh > 0 ? plural(fresh, '{0} new', '{0} new') : t('Jump to latest')}
      </button>
    </div>
  )
}

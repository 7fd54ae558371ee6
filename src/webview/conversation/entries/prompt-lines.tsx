/** Lines about prompts that few conversations have, so this module is loaded on demand. */
import type { Steering } from '../../../conversation/state.ts'
import { plural, t } from '../../l10n.ts'
import { Icon } from '../../ui/icon.tsx'
import { useApp } from '../context.ts'
import type { AsideRow } from '../row.ts'

/** A line about what became of a prompt that was sent into the running turn. */
export function SteeringLine({ steering }: { steering: Steering }) {
  const isSent = steering === 'sent'
  return (
    <div class="prompt-steering">
      <Icon name={isSent ? 'loading' : 'arrow-right'} class={isSent ? 'codicon-modifier-spin' : ''} />
      {isSent
        ? t('Sending to the running turn…')
        : steering === 'startedNewTurn'
          ? t('Started a new turn')
          : t('Added to the running turn')}
    </div>
  )
}

/** The line for the turns that a restore set aside, which expands or collapses them. */
export function AsideLine({ row }: { row: AsideRow }) {
  const app = useApp()
  const isShown = app.store.expansion.asideState(row.id).value
  return (
    <button
      type="button"
      class="line aside-line"
      aria-expanded={isShown}
      onClick={() => app.toggleAside(row)}
    >
      <Icon name="chevron-right" class={`line-chevron${isShown ? ' open' : ''}`} />
      <span>
        {plural(row.count, '1 entry set aside', '{0} entries set aside')} ·{' '}
        <span class="aside-action">{isShown ? t('Hide') : t('Show')}</span>
      </span>
    </button>
  )
}

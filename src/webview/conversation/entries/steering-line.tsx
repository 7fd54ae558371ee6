import type { Steering } from '../../../conversation/state.ts'
import { t } from '../../l10n.ts'
import { Icon } from '../../ui/icon.tsx'

/** What the agent did with a prompt for the running turn. */
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

import type { AgentOffer } from '../../bridge/conversation.ts'
import { t } from '../l10n.ts'
import { Button } from '../ui/button.tsx'
import { AgentIcon } from '../ui/icon.tsx'
import { InstallFailure, InstallProgress } from '../ui/install-state.tsx'
import { useApp } from './context.ts'

/** Agents that can be installed, with the command, the progress and errors. */
export function Offers({ offers }: { offers: readonly AgentOffer[] }) {
  return (
    <ul class="offers">
      {offers.map(offer => (
        <Offer key={offer.id} offer={offer} />
      ))}
    </ul>
  )
}

function Offer({ offer }: { offer: AgentOffer }) {
  const { host, composer } = useApp()
  const { id, name, description, icon, plan, running, failed } = offer
  const install = () => {
    host.send('agents/install', { id })
    // the user can write the prompt meanwhile
    composer.current?.focus()
  }
  return (
    <li class="offer">
      <div class="offer-line">
        <AgentIcon icon={icon} />
        <div class="offer-text">
          <div class="offer-name">{name}</div>
          <div class="offer-about">{description}</div>
        </div>
        {running ? (
          <Button
            label={t('Cancel installing {0}', name)}
            onClick={() => host.send('agents/cancelInstall', { id })}
          >
            {t('Cancel')}
          </Button>
        ) : (
          <Button label={failed ? t('Retry installing {0}', name) : t('Install {0}', name)} onClick={install}>
            {failed ? t('Retry') : t('Install')}
          </Button>
        )}
      </div>
      {!running && !failed && plan && <div class="offer-plan">{plan}</div>}
      {running && <InstallProgress name={name} running={running} />}
      {failed && !running && <InstallFailure failed={failed} />}
    </li>
  )
}

import { useLayoutEffect, useRef } from 'preact/hooks'
import type { AgentOffer } from '../../bridge/conversation.ts'
import { t } from '../l10n.ts'
import { Button } from '../ui/button.tsx'
import { AgentIcon } from '../ui/icon.tsx'
import { InstallConfirmation, InstallFailure, InstallProgress } from '../ui/install-state.tsx'
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
  const { id, name, description, icon, plan, asking, running, failed } = offer
  const button = useRef<HTMLButtonElement>(null)
  const isCanceled = useRef(false)
  const run = (question: number) => {
    host.send('agents/confirmInstall', { id, question })
    // the user can write the prompt meanwhile
    composer.current?.focus()
  }
  const cancel = () => {
    isCanceled.current = true
    host.send('agents/cancelInstall', { id })
  }
  useLayoutEffect(() => {
    if (asking || running || !isCanceled.current) return
    isCanceled.current = false
    if (document.activeElement === document.body) button.current?.focus()
  }, [asking, running])
  return (
    <li class="offer">
      {/* the button asks before it runs the install command */}
      <div class="offer-line" title={[name, description, plan].filter(Boolean).join('\n')}>
        <AgentIcon icon={icon} />
        <div class="offer-text">
          <div class="offer-name">{name}</div>
          <div class="offer-about">{description}</div>
        </div>
        {running ? (
          <Button label={t('Cancel installing {0}', name)} onClick={cancel}>
            {t('Cancel')}
          </Button>
        ) : (
          !asking && (
            <Button
              buttonRef={button}
              label={failed ? t('Retry installing {0}', name) : t('Install {0}', name)}
              onClick={() => host.send('agents/install', { id })}
            >
              {failed ? t('Retry') : t('Install')}
            </Button>
          )
        )}
      </div>
      {asking && <InstallConfirmation name={name} asking={asking} onRun={run} onCancel={cancel} />}
      {running && <InstallProgress name={name} running={running} />}
      {failed && !running && <InstallFailure failed={failed} />}
    </li>
  )
}

import type { AgentOffer } from '../../bridge/conversation.ts'
import { t } from '../l10n.ts'
import { Icon } from './icon.tsx'
import { PlainCode } from './scroll-area.tsx'

interface InstallProgressProps {
  name: string
  running: NonNullable<AgentOffer['running']>
}

/** The progress of an installation, and its current step. */
export function InstallProgress({ name, running }: InstallProgressProps) {
  return (
    <div class="offer-progress">
      <progress aria-label={t('Installing {0}', name)} max={1} value={running.share} />
      <div class="offer-plan" role="status" dir="auto">
        {running.step}
      </div>
    </div>
  )
}

/** Why an installation failed: the reason, the folded output and the next step. */
export function InstallFailure({ failed }: { failed: NonNullable<AgentOffer['failed']> }) {
  return (
    <div class="offer-failed" role="alert">
      <div>
        <Icon name="error" class="offer-error" /> <span dir="auto">{failed.message}</span>
      </div>
      {failed.output !== '' && (
        <details class="fold">
          <summary>{t('Output')}</summary>
          <PlainCode text={failed.output} wrap />
        </details>
      )}
      {failed.help && (
        <a class="offer-help" href={failed.help.href}>
          {failed.help.label}
        </a>
      )}
    </div>
  )
}

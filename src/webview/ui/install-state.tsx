import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import type { AgentOffer } from '../../bridge/conversation.ts'
import { t } from '../l10n.ts'
import { Button } from './button.tsx'
import { Icon } from './icon.tsx'
import { PlainCode } from './scroll-area.tsx'

interface InstallConfirmationProps {
  name: string
  asking: NonNullable<AgentOffer['asking']>
  /** `question`: the id of the confirmed question */
  onRun: (question: number) => void
  onCancel: () => void
}

/**
 * Asks whether to install an agent, with everything that would run. Takes the focus, unless the user meanwhile moved it
 * elsewhere; Escape cancels.
 */
export function InstallConfirmation({ name, asking, onRun, onCancel }: InstallConfirmationProps) {
  const group = useRef<HTMLDivElement>(null)
  const run = useRef<HTMLButtonElement>(null)
  const id = useId()
  useLayoutEffect(() => {
    const { activeElement, body } = document
    // the button that was pressed may be gone
    const isHere = activeElement === body || group.current?.parentElement?.contains(activeElement)
    if (document.hasFocus() && isHere) run.current?.focus()
  }, [])
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields
    <div
      ref={group}
      class="offer-asking"
      role="group"
      aria-labelledby={`${id}-question`}
      aria-describedby={`${id}-facts`}
      onKeyDown={event => {
        // the key is still held down from the press that opened the question, which the user can't have read yet
        if (event.repeat) event.preventDefault()
        if (event.key !== 'Escape' || event.isComposing) return
        event.preventDefault()
        onCancel()
      }}
    >
      <strong id={`${id}-question`} dir="auto">
        {asking.text}
      </strong>
      <ul id={`${id}-facts`} class="offer-facts">
        {asking.facts.map(fact => (
          <li key={fact} dir="auto">
            {fact}
          </li>
        ))}
      </ul>
      <div class="agent-buttons">
        <Button
          class="act-confirm"
          buttonRef={run}
          primary
          label={`${t('Run Install')}: ${name}`}
          onClick={() => onRun(asking.id)}
        >
          {t('Run Install')}
        </Button>
        <Button class="act-cancel" label={`${t('Cancel')}: ${name}`} onClick={onCancel}>
          {t('Cancel')}
        </Button>
      </div>
    </div>
  )
}

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

/** The failure of an installation: the reason, the collapsed output and the next step. */
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

import { useRef, useState } from 'preact/hooks'
import type { RuleOffers as FoundOffers } from '../../../bridge/conversation.ts'
import { t } from '../../l10n.ts'
import { Button } from '../../ui/button.tsx'
import { PlainCode } from '../../ui/scroll-area.tsx'
import { useApp } from '../context.ts'

interface RuleOffersProps {
  requestId: string
  onSaved: () => void
  onCancel: () => void
}

/** Offers to create a rule for requests like this one; the user sees the rule before it's saved. */
export function RuleOffers({ requestId, onSaved, onCancel }: RuleOffersProps) {
  const { host } = useApp()
  const [found, setFound] = useState<FoundOffers | undefined>(undefined)
  const [chosen, setChosen] = useState(0)
  const [failure, setFailure] = useState('')
  const asked = useRef(false)
  const first = useRef<HTMLInputElement>(null)
  if (!asked.current) {
    asked.current = true
    host.request('conversation/offerRules', { requestId }).then(
      offers => {
        setFound(offers)
        requestAnimationFrame(() => first.current?.focus())
      },
      (error: unknown) => setFailure(error instanceof Error ? error.message : String(error)),
    )
  }
  const offer = found?.offers[chosen]
  const save = async (target: 'session' | 'user' | 'workspace') => {
    if (!offer) return
    setFailure('')
    try {
      await host.request('conversation/saveRule', { requestId, offer: chosen, json: offer.json, target })
      onSaved()
    } catch (error) {
      setFailure(error instanceof Error ? error.message : String(error))
    }
  }
  const inUser = (
    <Button
      key="user"
      primary={!offer?.isOfWorkspace}
      onClick={() => void save('user')}
      title={t('Saves the rule in your user settings')}
    >
      {t('Save in User Settings')}
    </Button>
  )
  const inWorkspace = (
    <Button
      key="workspace"
      primary={offer?.isOfWorkspace === true}
      onClick={() => void save('workspace')}
      title={t("Saves the rule in this workspace's settings")}
    >
      {t('Save in Workspace Settings')}
    </Button>
  )
  const inSession = (
    <Button key="session" onClick={() => void save('session')} title={t('The rule ends with this session')}>
      {t('Only in This Session')}
    </Button>
  )
  return (
    <>
      {!found && !failure && <p class="quiet">{t('Loading…')}</p>}
      {found && found.offers.length === 0 && (
        <p class="quiet">
          {t(
            "No rule can allow this request. It reaches outside the session's folders, changes settings, or can't be analyzed reliably.",
          )}
        </p>
      )}
      {found && offer && (
        <>
          <div class="field-choices" role="radiogroup" aria-label={t('Rule scope')}>
            {found.offers.map((one, i) => (
              <label key={one.json} class="field-choice">
                <input
                  ref={i === 0 ? first : undefined}
                  type="radio"
                  name="rule"
                  checked={i === chosen}
                  onChange={() => setChosen(i)}
                />
                <span dir="auto">{one.label}</span>
              </label>
            ))}
          </div>
          <p class="rule-preview" aria-live="polite" dir="auto">
            {offer.preview}
          </p>
          <details class="fold">
            <summary>{t('Show Setting')}</summary>
            <PlainCode text={offer.json} wrap whole />
          </details>
          <div class="popup-buttons">
            {offer.isOfWorkspace ? [inWorkspace, inUser] : [inUser, found.workspace && inWorkspace]}
            {inSession}
            <Button onClick={onCancel}>{t('Cancel')}</Button>
          </div>
        </>
      )}
      {failure && (
        <p class="rule-failure" role="alert">
          {failure}
        </p>
      )}
    </>
  )
}

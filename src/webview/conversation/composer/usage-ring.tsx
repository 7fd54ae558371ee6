import { Fragment, type RefObject } from 'preact'
import { useCallback, useRef, useState } from 'preact/hooks'
import type { Usage, UsageLimit } from '../../../acp/model.ts'
import type { PageCommand } from '../../../bridge/conversation-messages.ts'
import { formatCost } from '../../../common/format-cost.ts'
import { limitText } from '../../../conversation/limit-text.ts'
import {
  LIMIT_KINDS,
  type LimitKind,
  type LimitNote,
  usedAmount,
} from '../../../conversation/session-limit.ts'
import {
  currentLimits,
  isNearlyUsed,
  limitName,
  limitReset,
  limitState,
} from '../../../conversation/usage-limit.ts'
import { formatCompact, formatNumber, language, t } from '../../l10n.ts'
import { Icon } from '../../ui/icon.tsx'
import { Popup } from '../../ui/popup.tsx'
import { useApp } from '../context.ts'

const RADIUS = 6
const around = 2 * Math.PI * RADIUS
const NONE: Usage = { used: 0, size: 0 }

/** Returns the used share of the context, from 0 to 1; 0 if the context's size isn't known. */
const shareOf = ({ used, size }: Usage) => (size > 0 ? Math.min(1, Math.max(0, used / size)) : 0)

/** The usage of the agent's context as a ring and a number; a click shows the details. */
export function UsageRing({
  usage = NONE,
  limit: own,
}: {
  usage?: Usage | undefined
  limit?: LimitNote | undefined
}) {
  const button = useRef<HTMLButtonElement>(null)
  const [open, setOpen] = useState(false)
  const close = useCallback(() => setOpen(false), [])
  const known = usage.size > 0
  const limits = currentLimits(usage.limits, Date.now())
  if (!known && !usage.cost && !usage.tokens && limits.length === 0 && !own) return null
  const near = limits.find(isNearlyUsed)
  const share = shareOf(usage)
  const percent = Math.round(share * 100)
  const level = share >= 0.9 ? 'full' : share >= 0.75 ? 'high' : 'low'
  const cost = usage.cost && formatCost(usage.cost, language())
  const tokens = usage.tokens && t('{0} tokens', formatNumber(usage.tokens.total))
  const context = t(
    'Context: {0} of {1} tokens ({2}%)',
    formatNumber(usage.used),
    formatNumber(usage.size),
    percent,
  )
  const limit = near && t('{0}: {1}', limitName(near, t), limitState(near, t))
  const sessionLimit = own && own.level !== 'low' ? ownLimits(own)[0]?.text : undefined
  const lines = [
    ...(sessionLimit ? [t('{0}: {1}', t('Session limit'), sessionLimit)] : []),
    ...(limit ? [limit] : []),
    ...(known ? [context] : []),
    ...(cost ? [t('Cost: {0}', cost)] : []),
  ]
  const label = lines.join('\n') || tokens || t('Session limit')
  return (
    <>
      <button
        ref={button}
        type="button"
        class={`usage usage-${level}${near || sessionLimit ? ' usage-near' : ''}`}
        aria-label={label}
        aria-haspopup="dialog"
        aria-expanded={open}
        title={label}
        onClick={() => setOpen(!open)}
      >
        {sessionLimit && (
          <span class={own?.level === 'near' ? 'usage-limit usage-warned' : 'usage-limit'}>
            <span>{t('Session limit')}</span>
            {sessionLimit}
          </span>
        )}
        {near && (
          <span class="usage-limit">
            <span>{limitName(near, t)}</span>
            {limitState(near, t)}
          </span>
        )}
        {known ? (
          <>
            <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
              <circle class="usage-track" cx="8" cy="8" r={RADIUS} />
              <circle
                class="usage-value"
                cx="8"
                cy="8"
                r={RADIUS}
                stroke-dasharray={`${share * around} ${around}`}
                transform="rotate(-90 8 8)"
              />
            </svg>
            <span class="usage-text">{t('{0}%', percent)}</span>
          </>
        ) : (
          !limit &&
          !sessionLimit &&
          (cost ??
            (usage.tokens ? (
              <>
                <span class="usage-whole">{tokens}</span>
                <span class="usage-short" aria-hidden="true">
                  {formatCompact(usage.tokens.total)}
                </span>
              </>
            ) : (
              <Icon name="dashboard" />
            )))
        )}
      </button>
      {open && (
        <UsageDetails
          anchor={button}
          usage={usage}
          level={level}
          cost={cost}
          limits={limits}
          own={own}
          onClose={close}
        />
      )}
    </>
  )
}

interface UsageDetailsProps {
  anchor: RefObject<HTMLElement | null>
  usage: Usage
  /** how full the context is */
  level: 'low' | 'high' | 'full'
  /** the total cost, in words */
  cost: string | undefined
  /** the account's limits that apply now */
  limits: readonly UsageLimit[]
  own: LimitNote | undefined
  onClose(): void
}

/** The popup that opens when the ring is clicked: the context, the tokens, the cost and all limits. */
function UsageDetails({ anchor, usage, level, cost, limits, own, onClose }: UsageDetailsProps) {
  const { host } = useApp()
  const share = shareOf(usage)
  const run = (command: PageCommand) => {
    onClose()
    host.send('conversation/command', { command })
  }
  return (
    <Popup anchor={anchor} onClose={onClose} class={`usage-detail usage-${level}`} label={t('Usage')}>
      {usage.size > 0 && (
        <div class="usage-context">
          <h2>{t('Context')}</h2>
          <span class="usage-percent">{t('{0}%', Math.round(share * 100))}</span>
          <div class="usage-bar" aria-hidden="true">
            <div style={{ width: `${share * 100}%` }} />
          </div>
          <span class="quiet">
            {t('{0} of {1} tokens', formatNumber(usage.used), formatNumber(usage.size))}
          </span>
        </div>
      )}
      <dl>
        {usage.tokens && (
          <>
            <dt>{usage.tokens.of === 'turn' ? t('Last turn') : t('Tokens')}</dt>
            <dd>
              {t(
                '{0} tokens in, {1} tokens out',
                formatNumber(usage.tokens.input),
                formatNumber(usage.tokens.output),
              )}
            </dd>
          </>
        )}
        {cost && (
          <>
            <dt>{t('Total cost')}</dt>
            <dd>{cost}</dd>
          </>
        )}
        {own &&
          ownLimits(own).map(({ kind, name, text }) => (
            <Fragment key={kind}>
              <dt>{name}</dt>
              <dd>{text}</dd>
            </Fragment>
          ))}
        {limits.map(limit => (
          <Fragment key={limit.kind}>
            <dt>{limitName(limit, t)}</dt>
            <dd>{[limitState(limit, t), limitReset(limit, language(), t)].filter(Boolean).join(' · ')}</dd>
          </Fragment>
        ))}
      </dl>
      <button type="button" class="link-button usage-totals" onClick={() => run('parley.showUsage')}>
        {t('Show Usage and Cost')}
      </button>
      <button type="button" class="link-button usage-totals" onClick={() => run('parley.setSessionLimit')}>
        {t('Set Session Limit…')}
      </button>
      {level === 'full' && (
        <p class="quiet">{t('The context is nearly full. The agent may forget earlier messages or stop.')}</p>
      )}
    </Popup>
  )
}

interface OwnLimit {
  kind: LimitKind
  name: string
  text: string
}

/** Returns the limits of the session, the most used first. */
function ownLimits({ limits, use, since, unreported }: LimitNote): OwnLimit[] {
  const minutes = since === undefined ? use.minutes : use.minutes + Math.max(0, Date.now() - since) / 60_000
  const now = { ...use, minutes }
  const names = { cost: t('Cost limit'), minutes: t('Time limit'), tokens: t('Token limit') }
  const reasons = {
    cost: t("This agent doesn't report its cost."),
    minutes: '',
    tokens: t("This agent doesn't report its tokens."),
  }
  return LIMIT_KINDS.flatMap(kind => {
    const limit = limits[kind]
    if (limit === undefined) return []
    const share = usedAmount(kind, now) / limit
    const text = unreported.includes(kind) ? reasons[kind] : limitText(kind, limit, now, language(), t)
    return [{ kind, name: names[kind], text, share }]
  }).sort((a, b) => b.share - a.share)
}

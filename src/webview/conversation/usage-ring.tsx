import type { Usage } from '../../acp/model.ts'
import { formatNumber, language, t } from '../l10n.ts'

const radius = 6
const around = 2 * Math.PI * radius

/** How full the agent's context is: a ring and a number, the rest in the tooltip. */
export function UsageRing({ usage }: { usage: Usage }) {
  if (!(usage.size > 0)) return null
  const share = Math.min(1, Math.max(0, usage.used / usage.size))
  const percent = Math.round(share * 100)
  const level = share >= 0.9 ? 'full' : share >= 0.75 ? 'high' : 'low'
  const lines = [
    t('Context: {0} of {1} tokens ({2} %)', formatNumber(usage.used), formatNumber(usage.size), percent),
  ]
  if (usage.cost) lines.push(t('Cost: {0}', formatCost(usage.cost)))
  const label = lines.join('\n')
  return (
    <span class={`usage usage-${level}`} role="img" aria-label={label} title={label}>
      <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
        <circle class="usage-track" cx="8" cy="8" r={radius} />
        <circle
          class="usage-value"
          cx="8"
          cy="8"
          r={radius}
          stroke-dasharray={`${share * around} ${around}`}
          transform="rotate(-90 8 8)"
        />
      </svg>
      <span class="usage-text">{t('{0} %', percent)}</span>
    </span>
  )
}

function formatCost(cost: { amount: number; currency: string }): string {
  try {
    return new Intl.NumberFormat(language(), {
      style: 'currency',
      currency: cost.currency,
      maximumFractionDigits: 4,
    }).format(cost.amount)
  } catch {
    return `${cost.amount} ${cost.currency}`
  }
}

import type { UsageLimit } from '../acp/model.ts'
import { visible } from '../common/visible.ts'
import type { Translate } from './requests/elicitation.ts'

/** The share of a limit from which on the limit is nearly used up (0 to 1). */
const NEARLY = 0.9

/** Returns the limits that still apply: the agent reports a limit only when the limit changes, not when it resets. */
export function currentLimits(limits: readonly UsageLimit[] | undefined, now: number): UsageLimit[] {
  return (limits ?? []).filter(({ resetsAt }) => resetsAt === undefined || resetsAt > now)
}

export function isNearlyUsed({ status, share }: UsageLimit): boolean {
  return status === 'rejected' || status === 'allowed_warning' || (share !== undefined && share >= NEARLY)
}

/** Returns the name of a limit, such as `5-hour limit`. */
export function limitName({ kind }: UsageLimit, t: Translate): string {
  switch (kind) {
    case 'five_hour':
      return t('5-hour limit')
    case 'seven_day':
      return t('Weekly limit')
    case 'seven_day_opus':
      return t('Weekly limit for Opus')
    case 'seven_day_sonnet':
      return t('Weekly limit for Sonnet')
    case 'overage':
      return t('Extra usage')
    case '':
      return t('Usage limit')
    default:
      return visible(kind)
  }
}

/** Returns the use of a limit, such as `92% used`, or its status if the agent reports no share. */
export function limitState({ status, share }: UsageLimit, t: Translate): string {
  if (status === 'rejected') return t('Limit reached')
  if (share !== undefined) return t('{0}% used', Math.round(share * 100))
  return status === 'allowed_warning' ? t('Almost reached') : t('Available')
}

/** Returns when a limit resets, such as `Resets Nov 26, 3:00 PM`; `undefined` if the time isn't known. */
export function limitReset({ resetsAt }: UsageLimit, language: string, t: Translate): string | undefined {
  if (resetsAt === undefined || Number.isNaN(new Date(resetsAt).getTime())) return undefined
  const when = new Date(resetsAt).toLocaleString(language, { dateStyle: 'medium', timeStyle: 'short' })
  return t('Resets {0}', when)
}

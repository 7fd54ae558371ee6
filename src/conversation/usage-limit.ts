import type { UsageLimit } from '../acp/model.ts'
import { visible } from '../common/visible.ts'
import type { Translate } from './requests/elicitation.ts'

/** From this share on, a limit is nearly used up. */
const NEARLY = 0.9

/** The limits that still apply: the agent reports a limit only when it changes, and not when it resets. */
export function currentLimits(limits: readonly UsageLimit[] | undefined, now: number): UsageLimit[] {
  return (limits ?? []).filter(({ resetsAt }) => resetsAt === undefined || resetsAt > now)
}

export function isNearlyUsed({ status, share }: UsageLimit): boolean {
  return status === 'rejected' || status === 'allowed_warning' || (share !== undefined && share >= NEARLY)
}

/** `5-hour limit` */
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

/** `92% used`, or how it stands if the agent reports no share. */
export function limitState({ status, share }: UsageLimit, t: Translate): string {
  if (status === 'rejected') return t('Limit reached')
  if (share !== undefined) return t('{0}% used', Math.round(share * 100))
  return status === 'allowed_warning' ? t('Almost reached') : t('Available')
}

/** `Resets Nov 26, 3:00 PM`; `undefined` if that isn't known. */
export function limitReset({ resetsAt }: UsageLimit, language: string, t: Translate): string | undefined {
  if (resetsAt === undefined || Number.isNaN(new Date(resetsAt).getTime())) return undefined
  const when = new Date(resetsAt).toLocaleString(language, { dateStyle: 'medium', timeStyle: 'short' })
  return t('Resets {0}', when)
}

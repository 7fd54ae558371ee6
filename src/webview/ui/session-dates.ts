import { dateFormat, t } from '../l10n.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

/** Returns `3 min ago` for times within the last hour, the time of day within two days, or else the date. */
export function shortTime(time: number, now: number): string {
  const ago = now - time
  if (ago < MINUTE) return t('just now')
  if (ago < HOUR) return t('{0} min ago', Math.floor(ago / MINUTE))
  const date = new Date(time)
  const today = new Date(now)
  const days = (startOfDay(today) - startOfDay(date)) / (24 * HOUR)
  if (days < 1.5) return dateFormat({ hour: 'numeric', minute: '2-digit' }).format(date)
  if (days < 7.5)
    return dateFormat({
      weekday: 'short',
      hour: 'numeric',
      minute: '2-digit',
    }).format(date)
  const sameYear = date.getFullYear() === today.getFullYear()
  return dateFormat({
    day: 'numeric',
    month: 'short',
    ...(sameYear ? {} : { year: 'numeric' }),
  }).format(date)
}

/** Returns the full date and time, for tooltips. */
export function longTime(time: number): string {
  return dateFormat({ dateStyle: 'full', timeStyle: 'short' }).format(new Date(time))
}

function startOfDay(date: Date): number {
  return new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime()
}

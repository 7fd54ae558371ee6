/** Between the moments of the wire (RFC 3339, with a zone) and those of a `datetime-local` input (here and now). */

/** `2024-02-29T10:00:00Z` as the clock on the wall shows it; empty for what is no moment. */
export function toLocalDateTime(moment: string): string {
  const date = new Date(moment)
  if (moment === '' || Number.isNaN(date.getTime())) return ''
  const day = `${pad(date.getFullYear(), 4)}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`
  return `${day}T${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}`
}

/** The moment with the zone of this place; what is no moment stays as it is, to be told. */
export function fromLocalDateTime(local: string): string {
  const date = new Date(local)
  if (local === '' || Number.isNaN(date.getTime())) return local
  const offset = -date.getTimezoneOffset()
  const zone = `${offset < 0 ? '-' : '+'}${pad(Math.trunc(Math.abs(offset) / 60))}:${pad(Math.abs(offset) % 60)}`
  return toLocalDateTime(local) + zone
}

function pad(number: number, digits = 2): string {
  return String(number).padStart(digits, '0')
}

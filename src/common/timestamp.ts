/**
 * Parses a timestamp of an agent to milliseconds since the epoch; `undefined` if it's invalid. Agents send RFC 3339 with zero, three, six
 * or nine fractional digits and `Z`, an offset or nothing (read as UTC). Some send a number since the epoch, in seconds, milliseconds,
 * microseconds or nanoseconds, which its size tells apart.
 */
export function parseTimestamp(value: unknown): number | undefined {
  if (typeof value === 'number') return fromEpoch(value)
  if (typeof value !== 'string') return undefined
  const text = value.trim()
  if (/^-?\d+(\.\d+)?$/.test(text)) return fromEpoch(Number(text))
  const parts = RFC3339.exec(text)
  if (!parts) return undefined
  const [, year, month, day, hour, minute, second, fraction = '', zone = 'Z'] = parts
  // A leap second counts as the last second of its minute.
  const seconds = Math.min(Number(second ?? 0), 59)
  const date = Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), seconds)
  const valid =
    Number(hour) < 24 &&
    Number(minute) < 60 &&
    new Date(date).getUTCDate() === Number(day) &&
    Number(month) <= 12
  if (!valid || Number.isNaN(date)) return undefined
  return date + Number(fraction.padEnd(3, '0').slice(0, 3)) - offset(zone)
}

const RFC3339 =
  /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d+))?)?\s*([Zz]|[+-]\d{2}:?\d{2})?$/

/** The offset of a time zone such as `+02:00`, in milliseconds. */
function offset(zone: string): number {
  if (zone === 'Z' || zone === 'z') return 0
  const sign = zone.startsWith('-') ? -1 : 1
  return sign * (Number(zone.slice(1, 3)) * 60 + Number(zone.slice(-2))) * 60_000
}

/** The greatest absolute value of a `Date`. */
const MAX_DATE = 8.64e15

function fromEpoch(value: number): number | undefined {
  if (!Number.isFinite(value)) return undefined
  const size = Math.abs(value)
  // The units differ by factors of a thousand: in the year 5138, the time is 1e11 seconds or 1e14 milliseconds.
  const ms = size < 1e11 ? value * 1000 : size < 1e14 ? value : size < 1e17 ? value / 1000 : value / 1e6
  return Math.abs(ms) <= MAX_DATE ? Math.trunc(ms) : undefined
}

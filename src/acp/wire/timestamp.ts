/**
 * Milliseconds since the epoch of a time as agents write it: ISO 8601 with any number of decimals and any offset, or
 * a number of seconds, milliseconds, microseconds or nanoseconds. `undefined` when it is none of these.
 */
export function readTimestamp(raw: unknown): number | undefined {
  if (typeof raw === 'string') {
    const time = Date.parse(raw)
    if (!Number.isNaN(time)) return time
    return /^\d+(\.\d+)?$/.test(raw.trim()) ? readTimestamp(Number(raw)) : undefined
  }
  if (typeof raw !== 'number' || !Number.isFinite(raw) || raw <= 0) return undefined
  // Told apart by size: each unit is a thousand times the next, and none of them reaches into its neighbour's century.
  let time = raw
  if (time < 1e11) time *= 1e3
  while (time > 1e14) time /= 1e3
  return Math.round(time)
}

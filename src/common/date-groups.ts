/** The group of a session by the time of its last use. `month` is 0-based, as in `Date`. */
export type DateGroupKey =
  | { kind: 'today' | 'yesterday' | 'previous-7-days' | 'undated' }
  | { kind: 'month'; year: number; month: number }

export interface DateGroup<T> {
  key: DateGroupKey
  /** unique among the groups */
  id: string
  /** the newest first */
  rows: T[]
}

/**
 * Groups rows by date in the local time zone: today, yesterday, the seven days before today, then by month; rows
 * without a time come last. A time in the future counts as today (clocks differ).
 *
 * @param now milliseconds since the epoch
 */
export function groupByDate<T extends { updatedAt?: number }>(
  rows: readonly T[],
  now: number,
): DateGroup<T>[] {
  const groupOf = dateGrouper(now)
  const groups = new Map<string, DateGroup<T>>()
  for (const row of [...rows].sort(newestFirst)) {
    const key = groupOf(row.updatedAt)
    const id = key.kind === 'month' ? `${key.year}-${key.month + 1}` : key.kind
    const group = groups.get(id)
    if (group) group.rows.push(row)
    else groups.set(id, { key, id, rows: [row] })
  }
  return [...groups.values()]
}

/** Compares rows to sort the newest first and rows without a time last; rows with the same time keep their order. */
export function newestFirst(a: { updatedAt?: number }, b: { updatedAt?: number }): number {
  if (a.updatedAt === b.updatedAt) return 0
  if (a.updatedAt === undefined) return 1
  return b.updatedAt === undefined ? -1 : b.updatedAt - a.updatedAt
}

/** Returns a function that determines the group of a time. Days begin at local midnight, also if a day has 23 or 25 hours. */
function dateGrouper(now: number): (updatedAt: number | undefined) => DateGroupKey {
  const today = new Date(now)
  const daysAgo = (days: number) =>
    new Date(today.getFullYear(), today.getMonth(), today.getDate() - days).getTime()
  const [start, yesterday, week] = [daysAgo(0), daysAgo(1), daysAgo(7)]
  return updatedAt => {
    if (updatedAt === undefined || !Number.isFinite(updatedAt)) return { kind: 'undated' }
    if (updatedAt >= start) return { kind: 'today' }
    if (updatedAt >= yesterday) return { kind: 'yesterday' }
    if (updatedAt >= week) return { kind: 'previous-7-days' }
    const date = new Date(updatedAt)
    return { kind: 'month', year: date.getFullYear(), month: date.getMonth() }
  }
}

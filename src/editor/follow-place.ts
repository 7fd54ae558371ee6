/** Which editor group shows where an agent works, so that nobody is disturbed. */

export interface GroupSeen {
  viewColumn: number
  isActive: boolean
  /** What its active tab is: a text or diff, another kind such as a conversation, or none. */
  shows: 'text' | 'other' | 'nothing'
  /** The text in it has unsaved changes. */
  isDirty: boolean
  /** when the person last typed or moved the cursor in it, milliseconds since the epoch */
  usedAt?: number
}

/** After so long without a key or a click in a group nobody works there, in milliseconds. */
export const RESTS_AFTER_MS = 5000

/**
 * The group to show a file in; `beside`: a new one; `undefined`: none, the person works where it would be shown. A
 * conversation in a tab is never covered.
 */
export function placeFor(groups: readonly GroupSeen[], now: number): number | 'beside' | undefined {
  const free = groups.filter(group => group.shows !== 'other')
  if (free.length === 0) return groups.length === 0 ? 1 : 'beside'
  const rests = free.filter(
    group => !group.isDirty && (group.usedAt === undefined || now - group.usedAt >= RESTS_AFTER_MS),
  )
  return (rests.find(group => group.isActive) ?? rests[0])?.viewColumn
}

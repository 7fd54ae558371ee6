/**
 * The levels of the switch at the composer: allow nothing without asking, edits in the session's folders, or everything that rules may
 * allow.
 */
export const allowances = ['ask', 'edits', 'everything'] as const
export type Allowance = (typeof allowances)[number]

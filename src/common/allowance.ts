/** What the switch at the composer allows in a session: nothing, edits in its folders, or all that rules may allow. */
export const allowances = ['ask', 'edits', 'everything'] as const
export type Allowance = (typeof allowances)[number]

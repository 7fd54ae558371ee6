import type { PermissionOption } from '../../acp/model.ts'

/**
 * The option that a rule takes: the one for this once. An allowance for good is taken only where there is no other, a
 * refusal for good never.
 */
export function optionFor(
  action: 'allow' | 'reject',
  options: readonly PermissionOption[],
): PermissionOption | undefined {
  const once = options.find(({ kind }) => kind === `${action}_once`)
  if (once || action === 'reject') return once
  const always = options.filter(({ kind }) => kind === 'allow_always')
  return always.length === 1 ? always[0] : undefined
}

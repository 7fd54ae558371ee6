import type { PermissionOption } from '../../../acp/model.ts'

/** Enter takes the first option that allows once; never one that allows for good. */
export function primaryOption(options: readonly PermissionOption[]): PermissionOption | undefined {
  return options.find(option => option.kind === 'allow_once')
}

import type { PermissionOption } from '../acp/model.ts'
import type { PermissionEntry } from './entries/requests.ts'

/** Returns the option that answered a request. */
export function chosenOption({
  options,
  outcome,
}: Pick<PermissionEntry, 'options' | 'outcome'>): PermissionOption | undefined {
  return outcome?.type === 'selected'
    ? options.find(({ optionId }) => optionId === outcome.optionId)
    : undefined
}

/** Whether the user, or a rule, refused the request. */
export function isRefused(asked: Pick<PermissionEntry, 'options' | 'outcome'>): boolean {
  return asked.outcome?.type === 'cancelled' || chosenOption(asked)?.kind.startsWith('reject') === true
}

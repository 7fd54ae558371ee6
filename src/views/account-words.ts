import * as l10n from '@vscode/l10n'
import type { AuthStatus } from '../acp/model.ts'

/** Who is signed in, in a few words; `undefined` when the agent does not know, or nobody has to be. */
export function describeAccount(status: AuthStatus | undefined): string | undefined {
  if (status?.state === 'unauthenticated') return l10n.t('Not signed in')
  if (status?.state !== 'authenticated') return undefined
  const account = status.accounts.find(({ active }) => active) ?? status.accounts[0]
  if (!account) return l10n.t('Signed in')
  const who = account.email ?? account.name ?? account.label
  return account.organization
    ? l10n.t('Signed in as {0} ({1})', who, account.organization)
    : l10n.t('Signed in as {0}', who)
}

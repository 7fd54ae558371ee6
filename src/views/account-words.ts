import * as l10n from '@vscode/l10n'
import type { AuthStatus } from '../acp/model.ts'

/** Who is signed in, in a few words; `undefined` when it isn't known. */
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

/** The same, where it's said also that it isn't known. */
export function describeSignIn(status: AuthStatus | undefined): string {
  return describeAccount(status) ?? l10n.t('Sign-in state unknown')
}

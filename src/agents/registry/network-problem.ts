import * as l10n from '@vscode/l10n'
import { messageOf } from '../../common/errors.ts'

/** TLS error codes of certificates that this machine doesn't trust. */
const UNTRUSTED = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
])

/** Why `fetch` failed, in a few words, and what to do about it, in a sentence. */
export function networkProblem(error: unknown): { reason: string; advice: string } {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
  const { code } = cause as NodeJS.ErrnoException
  if (code !== undefined && UNTRUSTED.has(code))
    return {
      reason: l10n.t("the server's certificate isn't trusted"),
      advice: l10n.t("If your network uses a custom certificate, add it to your system's certificate store."),
    }
  return { reason: messageOf(cause), advice: l10n.t('Check the network connection and the proxy settings.') }
}

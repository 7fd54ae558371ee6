import * as l10n from '@vscode/l10n'
import type { AuthMethod } from '../../acp/model.ts'
import type { Failure } from '../../sessions/failures.ts'
import { describeAccount } from '../../sessions/sign-in/accounts.ts'
import { asksForValues } from '../../sessions/sign-in/sign-in.ts'
import { button, type CardContent, longerMessage, sentence, texts } from './card-content.ts'

/** Returns the card with an agent's sign-in methods, or with the sign-in in progress. */
export function signInCard(failure: Extract<Failure, { type: 'sign-in' }>): CardContent {
  const running = failure.methods.find(method => method.methodId === failure.running)
  if (running) {
    return {
      kind: 'info',
      busy: true,
      title: l10n.t('Signing in to {0}', failure.agentName),
      text: signingIn(running),
      buttons: [{ action: { type: 'cancelSignIn' }, label: l10n.t('Cancel'), secondary: true }],
    }
  }
  const tried = failure.methods.find(method => method.methodId === failure.tried)
  const said = saysOnlyThat(failure.message) ? undefined : sentence(failure.message)
  const elsewhere = failure.methods.length === 0 || failure.unavailable === true
  const reason = tried && failure.message ? whyNot(tried, failure) : said
  const account = describeAccount(failure.account)
  const signedIn = account && `${account}.`
  return {
    kind: failure.asked ? 'info' : 'warning',
    title: failure.asked
      ? l10n.t('Sign in to {0}', failure.agentName)
      : l10n.t('{0} requires sign-in', failure.agentName),
    text: [signedIn, reason, howTo(failure, elsewhere)].filter(Boolean).join(' '),
    details: texts(
      [l10n.t('Response'), reason ? longerMessage(failure.message) : failure.message],
      [l10n.t('Detail'), failure.detail],
    ),
    choices: failure.methods.map(method => ({
      action: { type: 'signIn', methodId: method.methodId },
      label: method.name,
      description: method.gateway ? methodText(method) : (method.description ?? methodText(method)),
      icon: iconOf(method),
    })),
    buttons: [
      ...(elsewhere ? [button.openTerminal()] : []),
      ...(failure.asked ? [] : [button.retry(), button.openLog()]),
      button.dismiss(),
    ],
  }
}

/** Returns why the last method failed. */
function whyNot(tried: AuthMethod, { unavailable, message }: Extract<Failure, { type: 'sign-in' }>): string {
  return unavailable
    ? l10n.t("“{0}” isn't available from VS Code: {1}", tried.name, sentence(message))
    : l10n.t('“{0}” failed: {1}', tried.name, sentence(message))
}

/** Returns the next step for the user. `elsewhere` means that the last method, or every method, must be done outside of VS Code. */
function howTo({ agentName, asked }: Extract<Failure, { type: 'sign-in' }>, elsewhere: boolean): string {
  if (!elsewhere) return l10n.t('Choose how to sign in.')
  return asked
    ? l10n.t("Sign in with {0}'s command line or its own settings.", agentName)
    : l10n.t("Sign in with {0}'s command line or its own settings, then select Retry.", agentName)
}

/** Whether the agent's message says only that sign-in is required. */
function saysOnlyThat(message: string): boolean {
  return /^\W*((authentication|authorization|auth|sign-?in|login)\s+(is\s+)?(required|needed)\W*)?$/i.test(
    message,
  )
}

function iconOf(method: AuthMethod): string {
  if (method.type === 'terminal') return 'terminal'
  if (asksForValues(method)) return 'key'
  return method.gateway ? 'gear' : 'account'
}

/** Returns the description of a sign-in method for which the agent gives none. */
function methodText(method: AuthMethod): string {
  if (method.type === 'terminal') return l10n.t('In the VS Code terminal')
  if (asksForValues(method)) return l10n.t("Stored in VS Code's secret storage")
  if (method.gateway) return l10n.t("Set up in the agent's own settings")
  return l10n.t('The agent guides you through sign-in')
}

/** Returns the instructions while a sign-in runs. */
function signingIn(method: AuthMethod): string {
  if (method.type === 'terminal')
    return l10n.t(
      '“{0}” is running in the terminal. Complete the sign-in there, then return here.',
      method.name,
    )
  if (asksForValues(method))
    return l10n.t(
      'Enter the values for “{0}” at the top of the window. The agent then restarts with them.',
      method.name,
    )
  return l10n.t("Signing in with “{0}”. Follow the agent's instructions, then return here.", method.name)
}

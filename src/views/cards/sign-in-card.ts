import * as l10n from '@vscode/l10n'
import type { AuthMethod } from '../../acp/model.ts'
import type { Failure } from '../../sessions/failures/failure.ts'
import { describeAccount } from '../account-words.ts'
import type { Card } from '../bridge/conversation.ts'
import { button, CardButtonId, moreThanSaid, sentence, texts } from './card-parts.ts'

/** The ways to sign in to an agent, or the one that is under way. */
export function signInCard(id: string, failure: Extract<Failure, { type: 'sign-in' }>): Card {
  const running = failure.methods.find(method => method.methodId === failure.running)
  if (running) {
    return {
      id,
      kind: 'info',
      busy: true,
      title: l10n.t('Signing in to {0}', failure.agentName),
      text: signingIn(running),
      buttons: [{ id: CardButtonId.cancelSignIn, label: l10n.t('Cancel'), secondary: true }],
    }
  }
  const how =
    failure.methods.length > 0
      ? l10n.t('Choose how.')
      : l10n.t('It offers no way to sign in from here: sign in with its own command line.')
  const tried = failure.methods.find(method => method.methodId === failure.tried)
  const said = saysOnlyThat(failure.message) ? undefined : sentence(failure.message)
  const reason =
    tried && failure.message ? l10n.t('“{0}” did not work: {1}', tried.name, sentence(failure.message)) : said
  const account = describeAccount(failure.account)
  const signedIn = account && `${account}.`
  return {
    id,
    kind: failure.asked ? 'info' : 'warning',
    title: failure.asked
      ? l10n.t('Sign in to {0}', failure.agentName)
      : l10n.t('{0} needs you to sign in', failure.agentName),
    text: [signedIn, reason, how].filter(Boolean).join(' '),
    details: texts(
      [l10n.t('Answer'), reason ? moreThanSaid(failure.message) : failure.message],
      [l10n.t('Detail'), failure.detail],
    ),
    choices: failure.methods.map(method => ({
      id: CardButtonId.signIn + method.methodId,
      label: method.name,
      description: method.description ?? methodWords(method),
      icon: method.type === 'terminal' ? 'terminal' : method.type === 'env_var' ? 'key' : 'account',
    })),
    buttons: failure.asked ? [button.dismiss()] : [button.retry(), button.openLog(), button.dismiss()],
  }
}

/** The agent's answer has nothing to say but that one has to sign in. */
function saysOnlyThat(message: string): boolean {
  return /^\W*((authentication|authorization|auth|sign-?in|login)\s+(is\s+)?(required|needed)\W*)?$/i.test(
    message,
  )
}

/** How a way to sign in goes, where the agent says nothing of it. */
function methodWords(method: AuthMethod): string {
  switch (method.type) {
    case 'terminal':
      return l10n.t('In a terminal of VS Code')
    case 'env_var':
      return l10n.t('Kept in VS Code’s secret storage')
    default:
      return l10n.t('The agent leads you through it')
  }
}

/** What to do while a sign-in runs. */
function signingIn(method: AuthMethod): string {
  switch (method.type) {
    case 'terminal':
      return l10n.t('“{0}” runs in the terminal. Follow it there, then come back.', method.name)
    case 'env_var':
      return l10n.t(
        'Enter what “{0}” needs in the field at the top of the window; the agent is started anew with it.',
        method.name,
      )
    default:
      return l10n.t('“{0}” is under way. Follow what the agent opened, then come back.', method.name)
  }
}

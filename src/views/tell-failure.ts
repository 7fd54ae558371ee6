import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import { CancelledError, messageOf } from '../common/errors.ts'
import { plainMessage } from '../common/plain-message.ts'
import { isSignInAsked } from '../sessions/failures.ts'

/** Leads the person to the ways to sign in to an agent; `then` is done once they are. */
export type OfferSignIn = (agentId: string, then: () => Promise<void>) => Promise<void>

/**
 * Something a person clicked that did not work is said, not only logged. An agent that wants a sign-in first can be
 * signed in to from there, and what was clicked is done after it. What the person gave up is not said. Never rejects.
 */
export async function tellFailure(
  agentId: string,
  offerSignIn: OfferSignIn,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (error instanceof CancelledError) return
    const text = plainMessage(messageOf(error))
    if (!isSignInAsked(error)) {
      void vscode.window.showErrorMessage(text)
      return
    }
    const signIn = l10n.t('Sign In…')
    if ((await vscode.window.showErrorMessage(text, signIn)) !== signIn) return
    const again = () => tellFailure(agentId, offerSignIn, work)
    await offerSignIn(agentId, again).catch(
      failed => void vscode.window.showErrorMessage(plainMessage(messageOf(failed))),
    )
  }
}

import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import { withSlowNotice } from '../common/async.ts'
import { CancelledError, messageOf } from '../common/errors.ts'
import { SLOW_ANSWER_MS } from '../common/limits.ts'
import { plainMessage } from '../common/plain-message.ts'
import { isSignInAsked } from '../sessions/failures.ts'

/**
 * Waits for what an agent was asked to do outside of its conversation. Some agents never answer: after a while a
 * notification says so, for as long as that is true, and lets the user wait no longer; see `withSlowNotice`. `what`: the
 * action, as the user knows it.
 */
export function waitForAgent<T>(
  agentName: string,
  what: string,
  work: (givenUp: AbortSignal) => Promise<T>,
): Promise<T> {
  const onSlow = (over: AbortSignal): Promise<void> => {
    const seconds = Math.round(SLOW_ANSWER_MS / 1000)
    const title = plainMessage(
      l10n.t(
        "{0} hasn't responded for {1} seconds: {2}. Cancel to stop waiting; a late response still takes effect.",
        agentName,
        seconds,
        what,
      ),
    )
    const options = { location: vscode.ProgressLocation.Notification, title, cancellable: true }
    return new Promise(giveUp => {
      void vscode.window.withProgress(options, (_progress, token) => {
        return new Promise<void>(end => {
          if (over.aborted) end()
          over.addEventListener('abort', () => end(), { once: true })
          token.onCancellationRequested(() => {
            giveUp()
            end()
          })
        })
      })
    })
  }
  return withSlowNotice(work, onSlow, SLOW_ANSWER_MS)
}

/** Leads the user to the ways to sign in to an agent; `then` is done once they are. */
export type OfferSignIn = (agentId: string, then: () => Promise<void>) => Promise<void>

/**
 * Something a user clicked that did not work is said, not only logged. An agent that wants a sign-in first can be
 * signed in to from there, and what was clicked is done after it. What the user gave up is not said. Never rejects.
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

import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import { withSlowNotice } from '../common/async.ts'
import { CancelledError, messageOf } from '../common/errors.ts'
import { SLOW_ANSWER_MS } from '../common/limits.ts'
import { plainMessage } from '../common/plain-message.ts'
import { isSignInAsked } from '../sessions/failures.ts'

/**
 * Waits for a request to an agent outside of its conversation. Some agents never answer: after a while, a notification
 * says so and lets the user stop waiting; see `withSlowNotice`. `what`: the name of the action.
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

/** Shows the agent's sign-in methods to the user; runs `then` once they are signed in. */
export type OfferSignIn = (agentId: string, then: () => Promise<void>) => Promise<void>

/**
 * Shows errors of actions that the user clicked, instead of only logging them. If the agent requires sign-in, offers it
 * and then repeats the action. Cancellation isn't shown. Never rejects.
 */
export async function showFailureOrSignIn(
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
    const again = () => showFailureOrSignIn(agentId, offerSignIn, work)
    await offerSignIn(agentId, again).catch(
      failed => void vscode.window.showErrorMessage(plainMessage(messageOf(failed))),
    )
  }
}

import * as l10n from '@vscode/l10n'
import { withSlowNotice } from '../common/async.ts'
import { isCancelled, messageOf } from '../common/errors.ts'
import { SLOW_ANSWER_MS } from '../common/limits.ts'
import { plainMessage } from '../common/plain-message.ts'
import { isSignInAsked } from '../sessions/failures.ts'
import type { Dialogs } from './workbench.ts'

/**
 * Waits for a request to an agent outside of its conversation. Some agents never answer: after a while, a notification lets the user stop
 * waiting; see `withSlowNotice`. `what` is the name of the action.
 */
export function waitForAgent<T>(
  dialogs: Dialogs,
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
    return new Promise(giveUp => {
      void dialogs.progress({ title, where: 'notification', cancellable: true }, (_report, canceled) => {
        return new Promise<void>(end => {
          if (over.aborted) end()
          over.addEventListener('abort', () => end(), { once: true })
          canceled.addEventListener('abort', () => {
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
  dialogs: Dialogs,
  agentId: string,
  offerSignIn: OfferSignIn,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (isCancelled(error)) return
    const text = plainMessage(messageOf(error))
    if (!isSignInAsked(error)) {
      void dialogs.error(text)
      return
    }
    const signIn = l10n.t('Sign In…')
    if ((await dialogs.error(text, signIn)) !== signIn) return
    const again = () => showFailureOrSignIn(dialogs, agentId, offerSignIn, work)
    await offerSignIn(agentId, again).catch(failed => void dialogs.error(plainMessage(messageOf(failed))))
  }
}

/** Shows errors of actions that the user clicked, instead of only logging them. */
export async function showFailure(dialogs: Dialogs, done: Promise<unknown>): Promise<void> {
  try {
    await done
  } catch (error) {
    if (isCancelled(error)) return
    void dialogs.warn(plainMessage(messageOf(error)))
  }
}

/** Asks before a sign-in is deleted. `name` is the name of the server or agent. */
export async function confirmSignOut(dialogs: Pick<Dialogs, 'confirm'>, name: string): Promise<boolean> {
  const signOut = l10n.t('Sign Out')
  const detail = l10n.t('What is stored for signing in is deleted.')
  return (
    (await dialogs.confirm(plainMessage(l10n.t('Sign out of {0}?', name)), { detail }, signOut)) === signOut
  )
}

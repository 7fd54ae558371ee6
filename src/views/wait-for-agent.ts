import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import { withSlowNotice } from '../common/async.ts'
import { SLOW_ANSWER_MS } from '../common/limits.ts'
import { plainMessage } from '../common/plain-message.ts'

/**
 * Waits for what an agent was asked to do outside of its conversation. Some agents never answer: after a while a
 * notification says so, for as long as that is true, and lets the person wait no longer; see `withSlowNotice`. `what`: the
 * action, as the person knows it.
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

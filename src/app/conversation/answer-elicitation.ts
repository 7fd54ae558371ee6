import * as l10n from '@vscode/l10n'
import type { ElicitationOutcome } from '../../acp/model.ts'
import { describeUrl } from '../../conversation/requests/described-url.ts'
import type { PendingRequests } from '../../conversation/requests/pending-requests.ts'

/**
 * Sends the user's answer to the agent. A URL is opened first, unless the request was withdrawn in the meantime: the agent gets the consent
 * only after the browser has opened the URL. If the browser can't open it, rejects with a sentence, and the request stays pending.
 */
export async function answerElicitation(
  requests: Pick<PendingRequests, 'elicitation' | 'answerElicitation'>,
  actions: { openLink(href: string, roots: undefined): Promise<void> },
  requestId: string,
  answer: ElicitationOutcome,
): Promise<void> {
  const request = requests.elicitation(requestId)
  if (!request) return
  if (answer.action === 'accept' && request.mode === 'url') {
    const url = describeUrl(request.url)
    if (!url?.canOpen) throw new Error(l10n.t('Only http and https links can be opened.'))
    await actions.openLink(url.before + url.host + url.after, undefined)
  }
  if (requests.answerElicitation(requestId, answer) || !requests.elicitation(requestId)) return
  throw new Error(l10n.t("The form doesn't accept these values."))
}

import * as l10n from '@vscode/l10n'
import type { ElicitationOutcome } from '../../acp/model.ts'
import { describeUrl } from '../../conversation/elicitation-url.ts'
import type { ConversationController } from '../../sessions/conversation-controller.ts'
import type { ConversationActions } from './conversation-bridge.ts'

/**
 * Gives the person's answer to the agent. An address is opened first: the agent hears of a consent only once the
 * browser has it. Rejects with a sentence when nothing came of it; the question then stays open.
 */
export async function answerElicitation(
  controller: Pick<ConversationController, 'current' | 'answerElicitation'>,
  actions: Pick<ConversationActions, 'openLink'>,
  requestId: string,
  answer: ElicitationOutcome,
): Promise<void> {
  const session = controller.current?.session
  const request = session?.elicitation(requestId)
  if (!session || !request) return
  if (answer.action === 'accept' && request.mode === 'url') {
    const url = describeUrl(request.url)
    if (!url?.canOpen) throw new Error(l10n.t('Only addresses of the web are opened.'))
    await actions.openLink(url.before + url.host + url.after, undefined)
  }
  if (session.answerElicitation(requestId, answer) || !session.elicitation(requestId)) return
  throw new Error(l10n.t('The form does not take these values.'))
}

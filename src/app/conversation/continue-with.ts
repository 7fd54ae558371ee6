import * as l10n from '@vscode/l10n'
import { UnavailableError } from '../../common/errors.ts'
import { plainMessage } from '../../common/plain-message.ts'
import { sessionKey } from '../../common/session-key.ts'
import { omittedTurns } from '../../sessions/continuation.ts'
import type { OpenSession, SessionReference } from '../../sessions/open-session.ts'
import type { AgentEntry } from '../../sessions/ports.ts'
import type { Dialogs } from '../workbench.ts'
import type { ConversationSurface } from './conversation-surface.ts'
import type { Summarize } from './summarize.ts'

export interface ContinueServices {
  dialogs: Pick<Dialogs, 'confirm' | 'progress'>
  summarize: Summarize
  /** Returns the earlier session of an agent to which the conversation returns. */
  earlierSession: (agentId: string, from: OpenSession) => SessionReference | undefined
}

/** *Continue with…*: continues the conversation with another agent, or returns to a previous agent. */
export async function continueWith(
  { surface, open }: { surface: ConversationSurface; open: OpenSession },
  { agentId, name }: Pick<AgentEntry, 'agentId' | 'name'>,
  { dialogs, summarize, earlierSession }: ContinueServices,
): Promise<void> {
  await surface.reveal()
  const { controller } = surface
  const checkShown = () => {
    // if another conversation is displayed, the draft, the queue and the folder belong to that conversation
    if (controller.current !== open)
      throw new UnavailableError(l10n.t('The conversation has changed. Try again.'))
  }
  checkShown()
  const isWorking = open.session.isAtWork || open.isBusy
  let waits = false
  let summary: string | undefined
  if (isWorking) {
    const [stop, after] = [l10n.t('Stop and Continue'), l10n.t('Continue after This Turn')]
    const question = l10n.t('{0} is working. Stop it and continue with {1}?', open.agentName, name)
    const detail = l10n.t('Queued prompts go to {0}.', name)
    // the user can wait for the end of a turn, but not for the end of background work
    const answers = open.session.isAtWork ? [stop, after] : [stop]
    const answer = await dialogs.confirm(plainMessage(question), { detail: plainMessage(detail) }, ...answers)
    if (answer === undefined) return
    waits = answer === after
  } else {
    const earlier = earlierSession(agentId, open)
    const rest = omittedTurns({ from: open }, earlier && sessionKey(agentId, earlier.sessionId))
    if (rest !== undefined) {
      const [ask, skip] = [l10n.t('Summarize the Rest'), l10n.t('Continue without Summary')]
      const question = l10n.t('{0} has no room for all of this conversation.', name)
      const detail = l10n.t(
        'It gets the last turns. {0} can summarize the earlier ones, which takes a while.',
        open.agentName,
      )
      const answer = await dialogs.confirm(
        plainMessage(question),
        { detail: plainMessage(detail) },
        ask,
        skip,
      )
      if (answer === undefined) return
      if (answer === ask) summary = await summarize(open.agentId, rest)
    }
  }
  checkShown()
  const how = summary === undefined ? {} : { summary }
  const title = l10n.t('{0} continues when the turn of {1} ends.', name, open.agentName)
  const isDone = waits
    ? await dialogs.progress(
        { title: plainMessage(title), where: 'notification', cancellable: true },
        (_report, afterTurn) => controller.continueWith(agentId, { ...how, afterTurn }),
      )
    : await controller.continueWith(agentId, how)
  if (!isDone) throw new UnavailableError(l10n.t('The conversation has changed. Try again.'))
}

import * as l10n from '@vscode/l10n'
import { agentIdOf } from '../../agents/presets.ts'
import type { InstallManager } from '../../agents/registry/install-manager.ts'
import type { Handlers } from '../../bridge/contract.ts'
import type { ConversationMessages } from '../../bridge/conversation-messages.ts'
import { EMPTY_DRAFT } from '../../common/draft.ts'
import { cancelWork } from '../../conversation/cancel-work.ts'
import { lastLine } from '../../conversation/running-work.ts'
import type { ConversationController } from '../../sessions/conversation-controller.ts'
import type { SessionOrganizer } from '../../sessions/listing/session-organizer.ts'
import { referenceOf } from '../../sessions/open-session.ts'
import { showFailure, showFailureOrSignIn, waitForAgent } from '../ask-agent.ts'
import type { Workbench } from '../workbench.ts'
import { answerElicitation } from './answer-elicitation.ts'
import type { PlanDocuments } from './plan-documents.ts'
import type { SessionsToOpen } from './recent-sessions.ts'

export interface SessionHandlersOptions {
  controller: ConversationController
  organizer: SessionOrganizer
  installs: InstallManager
  sessions: SessionsToOpen
  plans: Pick<PlanDocuments, 'open'>
  workbench: Pick<Workbench, 'dialogs' | 'editors'>
}

/** Handles messages that start sessions, stop their work, answer their requests and rename them. */
export function sessionHandlers({
  controller,
  organizer,
  installs,
  sessions,
  plans,
  workbench: { dialogs, editors },
}: SessionHandlersOptions) {
  const mine = (key: string) => key === controller.key
  return {
    'conversation/start': ({ agentId }) => controller.opener.start(agentId),
    'conversation/openSession': ({ agentId, sessionId }) => sessions.open(agentId, sessionId),
    'conversation/cancel': ({ key }) => {
      if (mine(key)) controller.cancel()
      else controller.shownAs(key)?.cancel()
    },
    'conversation/cancelWork': ({ key, work }) => {
      const open = controller.shownAs(key)
      if (!open || ('terminalId' in work && open.services?.terminals.stop(work.terminalId))) return
      const what = 'terminalId' in work ? l10n.t('Stop Command') : l10n.t('Stop Tool Call')
      return showFailure(
        dialogs,
        waitForAgent(dialogs, open.agentName, what, () => cancelWork(open.session, work)),
      )
    },
    'conversation/lastLines': ({ key, work }) => {
      const state = controller.shownAs(key)?.session.conversation.state
      return work.map(one => (state ? lastLine(state, one) : ''))
    },
    'conversation/openPlan': ({ key, requestId }) => {
      const open = controller.shownAs(key)
      const show = async () => open && plans.open(open, requestId)
      return showFailure(dialogs, show())
    },
    'conversation/permission': ({ key, requestId, optionId, reason }) => {
      // if the request is no longer pending, the conversation already shows its outcome
      const isAnswered = controller.shownAs(key)?.session.requests.answerPermission(requestId, optionId)
      if (!reason) return
      const prompt = { id: reason.id, draft: { ...EMPTY_DRAFT, text: reason.text } }
      if (isAnswered) controller.prompts.enqueue(key, prompt, { joins: true })
      // the permission may have been granted, or the agent has ended, so the prompt returns to the composer and the user decides
      else controller.prompts.giveBack(key, prompt)
    },
    'conversation/elicitation': ({ key, requestId, answer }) => {
      const requests = controller.shownAs(key)?.session.requests
      if (requests) return showFailure(dialogs, answerElicitation(requests, editors, requestId, answer))
    },
    'conversation/editorTools': ({ key, isOn }) => {
      controller.shownAs(key)?.plan.editorTools?.turn(isOn)
    },
    'conversation/rename': ({ key, title }) => {
      const open = controller.shownAs(key)
      if (!open) return
      return showFailureOrSignIn(
        dialogs,
        open.agentId,
        (agentId, then) => controller.signIn.offer(agentId, then),
        () =>
          waitForAgent(dialogs, open.agentName, l10n.t('Rename Session'), () =>
            organizer.rename(referenceOf(open), title),
          ),
      )
    },
    'agents/install': ({ id }) => {
      const offer = installs.featured().find(one => one.id === id)
      if (!offer) return
      const installing = installs
        .install(id, { inPlace: true })
        .then(outcome => (outcome === 'installed' ? { agentId: agentIdOf(id) } : undefined))
      return controller.opener.startAfter(offer.preset.name, installing)
    },
    'agents/confirmInstall': ({ id, question }) => installs.confirm(id, question),
    'agents/cancelInstall': ({ id }) => installs.cancel(id),
  } satisfies Partial<Handlers<ConversationMessages>>
}

import * as l10n from '@vscode/l10n'
import { Owner } from '../common/disposable.ts'
import { UnavailableError } from '../common/errors.ts'
import { withoutIcons } from '../common/visible.ts'
import { kindText } from '../conversation/requests/permission-text.ts'
import type { OpenSession } from '../sessions/open-session.ts'
import {
  type NotificationAnswer,
  RequestNotifications,
  type RequestSummary,
  requestSummaries,
} from '../sessions/request-notifications.ts'
import { Activities } from '../sessions/session-indicators.ts'
import type { SessionManager } from '../sessions/session-manager.ts'
import { sessionTitle } from '../sessions/session-title.ts'
import type { WatchedSessions } from '../sessions/watch-sessions.ts'
import type { ConversationSurfaces } from './conversation/conversation-surface.ts'
import type { SideBar } from './conversation/side-bar.ts'
import { ContextKey } from './ids.ts'
import type { WindowSessions } from './window-sessions.ts'
import type { PickItem, Workbench } from './workbench.ts'

interface RequestItem extends PickItem {
  open: OpenSession
  /** absent if the agent reports that it's waiting, but has no pending request */
  requestId?: string
}

interface Choice {
  label: string
  answer: NotificationAnswer
}

interface AttentionOptions {
  workbench: Pick<Workbench, 'dialogs' | 'setContext'>
  surfaces: ConversationSurfaces
  manager: SessionManager
  /** The sessions that this window opened or shows. */
  sessionsHere: WatchedSessions
  sideBar: Pick<SideBar, 'setWaiting'>
  windows: Pick<WindowSessions, 'others' | 'onDidChange'>
}

/**
 * Draws the user's attention to a pending request that isn't visible: with a badge on the view, and a notification with two short answers.
 */
export class Attention extends Owner {
  readonly #workbench: AttentionOptions['workbench']
  readonly #surfaces: ConversationSurfaces
  readonly #activities: Activities

  constructor({ workbench, surfaces, manager, sessionsHere, sideBar, windows }: AttentionOptions) {
    super()
    this.#workbench = workbench
    this.#surfaces = surfaces
    const activities = this.register(new Activities(sessionsHere))
    this.#activities = activities
    const update = () => {
      const waiting = activities.count('requires_action')
      const elsewhere = windows.others().filter(({ indicator }) => indicator === 'waiting').length
      sideBar.setWaiting(waiting, elsewhere)
      void workbench.setContext(ContextKey.questionWaits, waiting > 0)
    }
    this.register(activities.onDidChange(update))
    this.register(windows.onDidChange(update))
    this.register(
      new RequestNotifications({
        manager,
        isSeen: open => manager.openSessions.isVisible(open),
        onDidChangeVisibility: manager.openSessions.onDidChangeVisibility,
        call: async (open, question, over) => {
          const choices = choicesOf(question)
          const labels = choices.map(({ label }) => label)
          const chosen = await workbench.dialogs.notify(textOf(open, question), labels, over)
          return chosen === undefined ? undefined : choices[chosen]?.answer
        },
        reveal: (open, requestId) => surfaces.reveal(open, requestId),
        tooLate: () => void workbench.dialogs.info(l10n.t('This request was already answered.')),
      }),
    )
  }

  /** Reveals the pending request. If there are several, the user picks one. */
  async show(): Promise<void> {
    const items = this.#activities.waiting().flatMap((open): RequestItem[] => {
      const description = sessionTitle(open.session.state) ?? open.agentName
      const questions = requestSummaries(open.session)
      // an agent may report that it's waiting without a request
      if (questions.length === 0) {
        return [{ label: description, description: open.agentName, open }]
      }
      // the agent's text must not show icons
      return questions.map(({ text, requestId }) => ({
        label: withoutIcons(text),
        description,
        open,
        requestId,
      }))
    })
    const [first, ...others] = items
    if (!first) throw new UnavailableError(l10n.t('No pending requests'))
    const picked =
      others.length === 0
        ? first
        : await this.#workbench.dialogs.pick(items, {
            title: l10n.t('Pending Requests'),
            placeholder: l10n.t('Select a request'),
          })
    if (picked) await this.#surfaces.reveal(picked.open, picked.requestId)
  }
}

function textOf({ agentName }: OpenSession, question: RequestSummary | undefined): string {
  if (!question) return l10n.t('{0} needs your answer.', agentName)
  const text = l10n.t('{0} asks: {1}', agentName, question.text)
  return question.count > 1 ? l10n.t('{0} (1 of {1})', text, question.count) : text
}

/**
 * Returns the choices of a notification: first to show the request, then at most two short answers in Parley's wording. Other answers are
 * given in the conversation.
 */
function choicesOf(question: RequestSummary | undefined): Choice[] {
  const answers = (['allow_once', 'reject_once'] as const).flatMap((kind): Choice[] => {
    const option = question?.options.find(one => one.kind === kind)
    return option ? [{ label: kindText(kind, l10n.t), answer: { optionId: option.optionId } }] : []
  })
  const show = question?.hasDiff ? l10n.t('Show Diff') : l10n.t('Show')
  return [{ label: show, answer: 'show' }, ...answers]
}

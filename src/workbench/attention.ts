import { randomUUID } from 'node:crypto'
import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import type { ConversationSurfaces } from '../app/conversation/conversation-surface.ts'
import type { SideBar } from '../app/conversation/side-bar.ts'
import { ContextKey, HiddenCommandId } from '../app/ids.ts'
import type { WindowSessions } from '../app/window-sessions.ts'
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

interface RequestItem extends vscode.QuickPickItem {
  open: OpenSession
  /** absent if the agent reports only that it's waiting */
  requestId?: string
}

interface Choice {
  label: string
  answer: NotificationAnswer
}

/**
 * Draws the user's attention to a pending request that isn't visible: with a badge on the view, and a notification with
 * two short answers. It's a progress notification with links, because no other kind can be closed when the request is
 * over.
 */
export class Attention extends Owner {
  readonly #surfaces: ConversationSurfaces
  readonly #activities: Activities
  /** actions of the links in visible notifications, by id */
  readonly #notifications = new Map<string, (choice: unknown) => void>()

  constructor(
    surfaces: ConversationSurfaces,
    manager: SessionManager,
    view: SideBar,
    windows: Pick<WindowSessions, 'others' | 'onDidChange'>,
  ) {
    super()
    this.#surfaces = surfaces
    const activities = this.register(new Activities(manager))
    this.#activities = activities
    const update = () => {
      const waiting = activities.count('requires_action')
      const elsewhere = windows.others().filter(({ indicator }) => indicator === 'waiting').length
      view.setWaiting(waiting, elsewhere)
      void vscode.commands.executeCommand('setContext', ContextKey.questionWaits, waiting > 0)
    }
    this.register(activities.onDidChange(update))
    this.register(windows.onDidChange(update))
    this.register(
      new RequestNotifications({
        manager,
        isSeen: open => surfaces.showing(open)?.isVisible ?? false,
        onDidChangeVisibility: surfaces.onDidChangeVisibility,
        call: (open, question, over) => this.#notify(open, question, over),
        reveal: (open, requestId) => surfaces.reveal(open, requestId),
        tooLate: () =>
          void vscode.window.showInformationMessage(l10n.t('This request was already answered.')),
      }),
    )
  }

  /** Handles a click on a link of a notification: the notification's id, and the index of the link. */
  answer(notification: unknown, choice: unknown): void {
    if (typeof notification === 'string') this.#notifications.get(notification)?.(choice)
  }

  #notify(
    open: OpenSession,
    question: RequestSummary | undefined,
    over: AbortSignal,
  ): Promise<NotificationAnswer | undefined> {
    const id = randomUUID()
    const choices = choicesOf(question)
    const title = `${textOf(open, question)}  ${choices.map(({ label }, i) => linkTo(label, [id, i])).join(' · ')}`
    // VS Code uses a string as the label of the button. By default it's "Cancel", which would seem to cancel the request.
    const cancellable = l10n.t('Dismiss') as unknown as boolean
    const options = { location: vscode.ProgressLocation.Notification, title, cancellable }
    return new Promise(resolve => {
      void vscode.window.withProgress(options, (_progress, dismissed) => {
        return new Promise<void>(close => {
          const end = (answer?: NotificationAnswer) => {
            this.#notifications.delete(id)
            close()
            resolve(answer)
          }
          this.#notifications.set(id, choice => end(choices[Number(choice)]?.answer ?? 'show'))
          dismissed.onCancellationRequested(() => end())
          if (over.aborted) end()
          else over.addEventListener('abort', () => end(), { once: true })
        })
      })
    })
  }

  /** Goes to the pending request; if there are several in any sessions, the user picks one. */
  async show(): Promise<void> {
    const items = this.#activities.waiting().flatMap((open): RequestItem[] => {
      const description = sessionTitle(open.session.state) ?? open.agentName
      const questions = requestSummaries(open.session)
      // an agent may report that it waits without a request
      if (questions.length === 0) {
        return [{ label: description, description: open.agentName, open }]
      }
      // no icons in an agent's text
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
        : await vscode.window.showQuickPick(items, {
            title: l10n.t('Pending Requests'),
            placeHolder: l10n.t('Select a request'),
          })
    if (picked) await this.#surfaces.reveal(picked.open, picked.requestId)
  }
}

function textOf({ agentName }: OpenSession, question: RequestSummary | undefined): string {
  if (!question) return l10n.t('{0} needs your answer.', agentName)
  const text = l10n.t('{0} asks: {1}', agentName, question.text)
  return question.count > 1 ? l10n.t('{0} (1 of {1})', text, question.count) : text
}

/** The request itself first, then at most two short answers, with Parley's wording; everything else is answered in the conversation. */
function choicesOf(question: RequestSummary | undefined): Choice[] {
  const answers = (['allow_once', 'reject_once'] as const).flatMap((kind): Choice[] => {
    const option = question?.options.find(one => one.kind === kind)
    return option ? [{ label: kindText(kind, l10n.t), answer: { optionId: option.optionId } }] : []
  })
  const show = question?.hasDiff ? l10n.t('Show Diff') : l10n.t('Show')
  return [{ label: show, answer: 'show' }, ...answers]
}

function linkTo(label: string, args: unknown[]): string {
  return `[${label}](command:${HiddenCommandId.answerNotification}?${encodeURIComponent(JSON.stringify(args))})`
}

import { randomUUID } from 'node:crypto'
import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import { Owner } from '../common/disposable.ts'
import { UnavailableError } from '../common/errors.ts'
import { kindWords } from '../conversation/permission-words.ts'
import type { OpenSession } from '../sessions/open-session.ts'
import {
  type CallAnswer,
  QuestionCalls,
  type WaitingQuestion,
  waitingQuestions,
} from '../sessions/question-calls.ts'
import { Activities } from '../sessions/session-indicators.ts'
import type { SessionManager } from '../sessions/session-manager.ts'
import { sessionTitle } from '../sessions/session-title.ts'
import type { ConversationSurfaces } from './conversation/conversation-surface.ts'
import type { ConversationView } from './conversation/conversation-view.ts'
import { ContextKey, HiddenCommandId } from './ids.ts'

interface RequestItem extends vscode.QuickPickItem {
  open: OpenSession
  /** absent: the session as a whole waits */
  requestId?: string
}

interface Choice {
  label: string
  answer: CallAnswer
}

/**
 * Leads a user who looks elsewhere to a pending request: a badge on the view, and a notification with two short answers.
 * It is a progress notification with links, since that is the one kind that can be taken back once the request is over.
 */
export class Attention extends Owner {
  readonly #surfaces: ConversationSurfaces
  readonly #activities: Activities
  /** what the links of the notifications that are shown do, by their id */
  readonly #notifications = new Map<string, (choice: unknown) => void>()

  constructor(surfaces: ConversationSurfaces, manager: SessionManager, view: ConversationView) {
    super()
    this.#surfaces = surfaces
    const activities = this.register(new Activities(manager))
    this.#activities = activities
    this.register(
      activities.onDidChange(() => {
        const waiting = activities.count('requires_action')
        view.setWaiting(waiting)
        void vscode.commands.executeCommand('setContext', ContextKey.questionWaits, waiting > 0)
      }),
    )
    this.register(
      new QuestionCalls({
        manager,
        isSeen: open => surfaces.showing(open)?.isVisible ?? false,
        onDidLook: surfaces.onDidLook,
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
    question: WaitingQuestion | undefined,
    over: AbortSignal,
  ): Promise<CallAnswer | undefined> {
    const id = randomUUID()
    const choices = choicesOf(question)
    const title = `${textOf(open, question)}  ${choices.map(({ label }, i) => linkTo(label, [id, i])).join(' · ')}`
    const options = { location: vscode.ProgressLocation.Notification, title, cancellable: true }
    return new Promise(resolve => {
      void vscode.window.withProgress(options, (_progress, dismissed) => {
        return new Promise<void>(close => {
          const end = (answer?: CallAnswer) => {
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

  /** Goes to the request that waits; of several, in whichever sessions, the user picks one. */
  async show(): Promise<void> {
    const items = this.#activities.waiting().flatMap((open): RequestItem[] => {
      const description = sessionTitle(open.session.state) ?? open.agentName
      const questions = waitingQuestions(open.session)
      // an agent may say that it waits without having asked
      if (questions.length === 0) {
        return [{ label: description, description: open.agentName, open }]
      }
      // no icons in what an agent wrote
      return questions.map(({ text, requestId }) => ({
        label: text.replaceAll('$(', '$ ('),
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

function textOf({ agentName }: OpenSession, question: WaitingQuestion | undefined): string {
  if (!question) return l10n.t('{0} needs your answer.', agentName)
  const text = l10n.t('{0} asks: {1}', agentName, question.text)
  return question.count > 1 ? l10n.t('{0} (1 of {1})', text, question.count) : text
}

/** Two short answers at most, in words of our own; everything else is answered in the conversation. */
function choicesOf(question: WaitingQuestion | undefined): Choice[] {
  const answers = (['allow_once', 'reject_once'] as const).flatMap((kind): Choice[] => {
    const option = question?.options.find(one => one.kind === kind)
    return option ? [{ label: kindWords(kind, l10n.t), answer: { optionId: option.optionId } }] : []
  })
  return [...answers, { label: l10n.t('Show'), answer: 'show' }]
}

function linkTo(label: string, args: unknown[]): string {
  return `[${label}](command:${HiddenCommandId.answerNotification}?${encodeURIComponent(JSON.stringify(args))})`
}

import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import { Owner } from '../common/disposable.ts'
import { Activities } from '../sessions/attention/activities.ts'
import { type CallAnswer, QuestionCalls } from '../sessions/attention/question-calls.ts'
import { type WaitingQuestion, waitingQuestion } from '../sessions/attention/waiting-question.ts'
import type { OpenSession, SessionManager } from '../sessions/session-manager.ts'
import { sessionTitle } from '../sessions/session-title.ts'
import type { ConversationSurfaces } from './conversation/conversation-surface.ts'
import type { ConversationView } from './conversation/conversation-view.ts'
import { CommandId, ContextKey } from './ids.ts'

interface Choice extends vscode.MessageItem {
  /** absent: shows the conversation */
  optionId?: string
}

/**
 * Leads a person who looks elsewhere to a question that waits: a badge on the view, and a notification with the
 * question's own answers. VS Code lets nobody take a notification back: one that was answered elsewhere says so when it
 * is clicked.
 */
export class Attention extends Owner {
  readonly #surfaces: ConversationSurfaces
  readonly #activities: Activities

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
        call,
        reveal: open => surfaces.reveal(open),
        tooLate: () =>
          void vscode.window.showInformationMessage(l10n.t('This question was answered meanwhile.')),
      }),
    )
    this.register(vscode.commands.registerCommand(CommandId.showQuestion, () => this.#show()))
  }

  /** Goes to what waits; of several sessions the person picks one. */
  async #show(): Promise<void> {
    const waiting = this.#activities.waiting()
    const [first, ...others] = waiting
    if (!first) return
    if (others.length === 0) return this.#surfaces.reveal(first)
    const items = waiting.map(open => ({
      label: sessionTitle(open.session.state) ?? open.agentName,
      description: open.agentName,
      detail: waitingQuestion(open.session)?.text ?? '',
      open,
    }))
    const picked = await vscode.window.showQuickPick(items, {
      title: l10n.t('What needs your answer'),
      placeHolder: l10n.t('Choose the conversation to go to'),
    })
    if (picked) await this.#surfaces.reveal(picked.open)
  }
}

async function call(
  open: OpenSession,
  question: WaitingQuestion | undefined,
): Promise<CallAnswer | undefined> {
  const chosen = await vscode.window.showInformationMessage(textOf(open, question), ...choicesOf(question))
  if (!chosen) return undefined
  return chosen.optionId === undefined ? 'show' : { optionId: chosen.optionId }
}

function textOf({ agentName }: OpenSession, question: WaitingQuestion | undefined): string {
  if (!question) return l10n.t('{0} needs your answer.', agentName)
  const text = l10n.t('{0} asks: {1}', agentName, question.text)
  return question.count > 1 ? l10n.t('{0} (1 of {1})', text, question.count) : text
}

function choicesOf(question: WaitingQuestion | undefined): Choice[] {
  const options = question?.options.map(({ optionId, name }) => ({ title: name, optionId })) ?? []
  return [...options, { title: l10n.t('Show') }]
}

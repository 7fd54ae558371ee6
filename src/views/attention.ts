import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import { Owner } from '../common/disposable.ts'
import type { Activities } from '../sessions/activities.ts'
import type { ConversationController } from '../sessions/conversation-controller.ts'
import type { OpenSession } from '../sessions/session-manager.ts'
import type { ConversationView } from './conversation/conversation-view.ts'

/** Leads a person who looks elsewhere to a question that waits: a badge on the view, and a notification. */
export class Attention extends Owner {
  readonly #controller: ConversationController
  readonly #view: ConversationView
  readonly #asking = new Set<OpenSession>()

  constructor(controller: ConversationController, activities: Activities, view: ConversationView) {
    super()
    this.#controller = controller
    this.#view = view
    this.register(activities.onDidChange(() => view.setWaiting(activities.count('requires_action'))))
    this.register(activities.onDidAsk(open => void this.#notify(open)))
  }

  async #notify(open: OpenSession): Promise<void> {
    const seen = this.#view.isVisible && this.#controller.current === open
    if (seen || this.#asking.has(open)) return
    this.#asking.add(open)
    try {
      const show = l10n.t('Show')
      const answer = await vscode.window.showInformationMessage(
        l10n.t('{0} needs your answer.', open.agentName),
        show,
      )
      if (answer !== show) return
      if (this.#controller.current !== open) this.#controller.show(open)
      await this.#view.reveal()
    } finally {
      this.#asking.delete(open)
    }
  }
}

import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import { Owner } from '../common/disposable.ts'
import type { Activities } from '../sessions/activities.ts'
import type { OpenSession } from '../sessions/session-manager.ts'
import type { ConversationSurfaces } from './conversation/conversation-surface.ts'
import type { ConversationView } from './conversation/conversation-view.ts'

/** Leads a person who looks elsewhere to a question that waits: a badge on the view, and a notification. */
export class Attention extends Owner {
  readonly #surfaces: ConversationSurfaces
  readonly #asking = new Set<OpenSession>()

  constructor(surfaces: ConversationSurfaces, activities: Activities, view: ConversationView) {
    super()
    this.#surfaces = surfaces
    this.register(activities.onDidChange(() => view.setWaiting(activities.count('requires_action'))))
    this.register(activities.onDidAsk(open => void this.#notify(open)))
  }

  async #notify(open: OpenSession): Promise<void> {
    if (this.#surfaces.showing(open)?.isVisible || this.#asking.has(open)) return
    this.#asking.add(open)
    try {
      const show = l10n.t('Show')
      const answer = await vscode.window.showInformationMessage(
        l10n.t('{0} needs your answer.', open.agentName),
        show,
      )
      if (answer === show) await this.#surfaces.reveal(open)
    } finally {
      this.#asking.delete(open)
    }
  }
}

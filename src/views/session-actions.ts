import * as l10n from '@vscode/l10n'
import { sessionKey } from '../common/session-key.ts'
import type { HistoryItem, HistoryList } from '../sessions/listing/history-list.ts'
import type { SessionOrganizer } from '../sessions/listing/session-organizer.ts'
import type { SessionManager } from '../sessions/session-manager.ts'
import { type OfferSignIn, waitForAgent } from './ask-agent.ts'
import type { HistoryAction } from './bridge/history-messages.ts'
import { pickSession } from './commands/pick-session.ts'
import type { ConversationSurfaces } from './conversation/conversation-surface.ts'

/** What a user can do with a session of the history; the conversation is revealed where one is shown. */
export class SessionActions {
  readonly #surfaces: ConversationSurfaces
  readonly #manager: SessionManager
  readonly #history: HistoryList
  readonly #organizer: SessionOrganizer

  constructor(
    surfaces: ConversationSurfaces,
    manager: SessionManager,
    history: HistoryList,
    organizer: SessionOrganizer,
  ) {
    this.#organizer = organizer
    this.#surfaces = surfaces
    this.#history = history
    this.#manager = manager
  }

  /** Offers to sign in where the user works; `then` is done once they are. Rejects as a start of the agent does. */
  readonly offerSignIn: OfferSignIn = async (agentId, then) => {
    const { active } = this.#surfaces
    await active.reveal()
    await active.controller.offerSignIn(agentId, then)
  }

  /** Lets the user choose a session, and opens it. */
  async pick(how: 'load' | 'resume'): Promise<void> {
    const item = await pickSession(this.#history, how)
    if (item) await this.act(how, item)
  }

  /** An empty title gives the session back the name it had without the user. */
  async rename(item: HistoryItem, title: string): Promise<void> {
    await this.#ask(item, l10n.t('Rename Session'), () => this.#organizer.rename(item, title))
  }

  async act(action: HistoryAction, item: HistoryItem): Promise<void> {
    const open = this.#manager.find(item.agentId, item.sessionId)
    if (action === 'close') {
      if (!open) return
      this.#surfaces.showing(open)?.controller.leave()
      await waitForAgent(open.agentName, l10n.t('Close Session'), () => this.#manager.close(open))
      return
    }
    if (action === 'delete') {
      if (open) this.#surfaces.showing(open)?.controller.leave()
      await this.#ask(item, l10n.t('Delete Session'), () =>
        this.#manager.delete(item.agentId, item.sessionId),
      )
      return
    }
    if (action === 'archive' || action === 'unarchive') {
      const archived = action === 'archive'
      const what = archived ? l10n.t('Archive Session') : l10n.t('Unarchive Session')
      await this.#ask(item, what, () => this.#organizer.setArchived(item, archived))
      return
    }
    if (action === 'fork') {
      await this.#surfaces.active.reveal()
      await this.#surfaces.active.controller.fork(item)
      return
    }
    // one that is open already is shown as it is: loading it again would only replay what is there
    if (open) await this.#surfaces.reveal(open)
    else {
      // a conversation whose agent is gone is reopened where it is shown
      const surface =
        this.#surfaces.withKey(sessionKey(item.agentId, item.sessionId)) ?? this.#surfaces.active
      await surface.reveal()
      // it was closed while the list still showed it as open
      await surface.controller.reopen(action === 'show' ? 'restore' : action, item)
    }
  }

  /** What was done late shows in the list, too. */
  #ask({ agentName }: HistoryItem, what: string, ask: () => Promise<void>): Promise<void> {
    return waitForAgent(agentName, what, async () => {
      await ask()
      void this.#history.refresh()
    })
  }
}

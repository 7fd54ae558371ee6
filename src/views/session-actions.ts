import type { HistoryItem, HistoryList } from '../sessions/history-list.ts'
import type { SessionManager } from '../sessions/session-manager.ts'
import type { ConversationSurfaces } from './conversation/conversation-surface.ts'
import { pickSession } from './pick-session.ts'

/** What a person can do with a session of the history; the conversation is revealed where one is shown. */
export class SessionActions {
  readonly #surfaces: ConversationSurfaces
  readonly #manager: SessionManager
  readonly #history: HistoryList

  constructor(surfaces: ConversationSurfaces, manager: SessionManager, history: HistoryList) {
    this.#surfaces = surfaces
    this.#history = history
    this.#manager = manager
  }

  /** Lets the person choose a session, and opens it. */
  async pick(how: 'load' | 'resume'): Promise<void> {
    const item = await pickSession(this.#history, how)
    if (item) await this.act(how, item)
  }

  async act(
    action: 'load' | 'resume' | 'close' | 'show' | 'delete' | 'fork',
    item: HistoryItem,
  ): Promise<void> {
    const open = this.#manager.find(item.agentId, item.sessionId)
    if (action === 'close') {
      if (!open) return
      this.#surfaces.showing(open)?.controller.leave()
      await this.#manager.close(open)
      return
    }
    if (action === 'delete') {
      if (open) this.#surfaces.showing(open)?.controller.leave()
      await this.#manager.delete(item.agentId, item.sessionId)
      await this.#history.refresh()
      return
    }
    if (action === 'fork') {
      await this.#surfaces.active.reveal()
      await this.#surfaces.active.controller.fork(item)
      return
    }
    // one that is open already is shown as it is: loading it again would only replay what is there
    if (open) await this.#surfaces.reveal(open)
    else if (action !== 'show') {
      await this.#surfaces.active.reveal()
      await this.#surfaces.active.controller.reopen(action, item)
    }
  }
}

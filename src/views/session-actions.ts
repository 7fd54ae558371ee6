import type { ConversationController } from '../sessions/conversation-controller.ts'
import type { HistoryItem, HistoryList } from '../sessions/history-list.ts'
import type { SessionManager } from '../sessions/session-manager.ts'
import { pickSession } from './pick-session.ts'

/** What a person can do with a session of the history; the conversation is revealed where one is shown. */
export class SessionActions {
  readonly #controller: ConversationController
  readonly #manager: SessionManager
  readonly #history: HistoryList
  readonly #reveal: () => Promise<void>

  constructor(
    controller: ConversationController,
    manager: SessionManager,
    history: HistoryList,
    reveal: () => Promise<void>,
  ) {
    this.#controller = controller
    this.#history = history
    this.#manager = manager
    this.#reveal = reveal
  }

  /** Lets the person choose a session, and opens it. */
  async pick(how: 'load' | 'resume'): Promise<void> {
    const item = await pickSession(this.#history, how)
    if (item) await this.act(how, item)
  }

  async act(action: 'load' | 'resume' | 'close' | 'show', item: HistoryItem): Promise<void> {
    const open = this.#manager.find(item.agentId, item.sessionId)
    if (action === 'close') {
      if (open) await this.#controller.close(open)
      return
    }
    await this.#reveal()
    // one that is open already is shown as it is: loading it again would only replay what is there
    if (open) this.#controller.show(open)
    else if (action !== 'show') await this.#controller.reopen(action, item)
  }
}

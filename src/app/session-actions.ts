import { setImmediate } from 'node:timers/promises'
import * as l10n from '@vscode/l10n'
import type { HistoryAction } from '../bridge/history-messages.ts'
import { messageOf } from '../common/errors.ts'
import type { Logger } from '../common/logger.ts'
import { plainMessage } from '../common/plain-message.ts'
import { type SessionId, sessionKey } from '../common/session-key.ts'
import type { HistoryItem } from '../sessions/listing/history-item.ts'
import type { HistoryList } from '../sessions/listing/history-list.ts'
import type { SessionDeleter } from '../sessions/listing/session-deleter.ts'
import type {
  DeletableSession,
  MarkedSession,
  SessionDeletions,
} from '../sessions/listing/session-deletions.ts'
import type { SessionOrganizer } from '../sessions/listing/session-organizer.ts'
import type { OpenSession } from '../sessions/open-session.ts'
import { SessionElsewhereError } from '../sessions/session-leases.ts'
import type { SessionManager } from '../sessions/session-manager.ts'
import { titleOf } from '../sessions/session-title.ts'
import { type OfferSignIn, waitForAgent } from './ask-agent.ts'
import type { ConversationMatch, ConversationSurfaces } from './conversation/conversation-surface.ts'
import type { Workbench } from './workbench.ts'

/** The number of sessions that are reserved without a pause, which takes some milliseconds. */
const TOGETHER = 100

export interface SessionActionsOptions {
  surfaces: ConversationSurfaces
  manager: SessionManager
  history: HistoryList
  organizer: SessionOrganizer
  deletions: SessionDeletions
  deleter: Pick<SessionDeleter, 'mark' | 'delete'>
  workbench: Workbench
  log: Logger
}

/** The actions for sessions of the history. A conversation that is already shown is revealed where it is. */
export class SessionActions {
  readonly #surfaces: ConversationSurfaces
  readonly #manager: SessionManager
  readonly #history: HistoryList
  readonly #organizer: SessionOrganizer
  readonly #deletions: SessionDeletions
  readonly #deleter: Pick<SessionDeleter, 'mark' | 'delete'>
  readonly #workbench: Workbench
  readonly #log: Logger

  constructor({
    surfaces,
    manager,
    history,
    organizer,
    deletions,
    deleter,
    workbench,
    log,
  }: SessionActionsOptions) {
    this.#workbench = workbench
    this.#organizer = organizer
    this.#deletions = deletions
    this.#deleter = deleter
    this.#surfaces = surfaces
    this.#history = history
    this.#manager = manager
    this.#log = log
  }

  /**
   * Shows the sign-in methods in the active conversation, and runs `then` once the user is signed in. Rejects if the agent can't be
   * started.
   */
  readonly offerSignIn: OfferSignIn = async (agentId, then) => {
    const { active } = this.#surfaces
    await active.reveal()
    await active.controller.signIn.offer(agentId, then)
  }

  /** Asks before a session with running work is closed, since a stopped turn can't be continued. Resolves to whether to close. */
  async #mayClose(open: OpenSession): Promise<boolean> {
    return !isAtWork(open) || this.#mayEnd(l10n.t('Close {0}?', nameOf(open)), l10n.t('Close Session'))
  }

  /**
   * Asks before sessions with running work are deleted: the user can bring back the sessions but not the running turns. Resolves to whether
   * to delete.
   */
  async mayDelete(items: readonly SessionId[]): Promise<boolean> {
    const working = items.flatMap(({ agentId, sessionId }) => {
      const open = this.#manager.find(agentId, sessionId)
      return open && isAtWork(open) ? open : []
    })
    const [first] = working
    if (!first) return true
    return items.length === 1
      ? this.#mayEnd(l10n.t('Delete {0}?', nameOf(first)), l10n.t('Delete Session'))
      : this.#mayEnd(l10n.t('Delete {0} sessions?', items.length), l10n.t('Delete Sessions'))
  }

  async #mayEnd(question: string, end: string): Promise<boolean> {
    const detail = l10n.t('A turn is running. It ends, too.')
    return (await this.#workbench.dialogs.confirm(plainMessage(question), { detail }, end)) === end
  }

  /** Renames a session. An empty title restores the automatic title. */
  async rename(item: HistoryItem, title: string): Promise<void> {
    await this.#ask(item, l10n.t('Rename Session'), () => this.#organizer.rename(item, title))
  }

  /** Shows the session, and reveals a match of a search in it. */
  async showMatch(item: HistoryItem, match: Omit<ConversationMatch, 'key'>): Promise<void> {
    const action = item.open ? 'show' : item.canLoad ? 'load' : 'resume'
    await this.#open(action, item, match)
  }

  async act(action: HistoryAction, item: HistoryItem): Promise<void> {
    const open = this.#manager.find(item.agentId, item.sessionId)
    if (action === 'close') {
      if (!open || !(await this.#mayClose(open))) return
      this.#surfaces.showing(open)?.controller.leave()
      await waitForAgent(this.#workbench.dialogs, open.agentName, l10n.t('Close Session'), () =>
        this.#manager.openSessions.close(open),
      )
      return
    }
    if (action === 'delete') {
      if (!(await this.mayDelete([item]))) return
      const earlier = this.#history.earlier().get(sessionKey(item.agentId, item.sessionId)) ?? []
      if (open) this.#close(open)
      const marked = this.#deleter.mark(item)
      this.#deletions.mark([marked, ...earlier.flatMap(one => this.#marked(one) ?? [])])
      return
    }
    if (action === 'pin' || action === 'unpin') {
      this.#organizer.setPinned(item, action === 'pin')
      return
    }
    if (action === 'archive' || action === 'unarchive') {
      const archived = action === 'archive'
      const what = archived ? l10n.t('Archive Session') : l10n.t('Unarchive Session')
      await this.#ask(item, what, () => this.#organizer.setArchived(item, archived))
      return
    }
    if (action === 'fork') {
      await this.#surfaces.open(this.#surfaces.active, opener => opener.fork(item))
      return
    }
    await this.#open(action, item)
  }

  /**
   * Deletes sessions whose deletion can't be undone anymore, together with the earlier sessions of their conversations. Sessions that are
   * open in another window stay. Resolves to the number of deleted conversations.
   */
  async deleteAll(items: readonly DeletableSession[]): Promise<number> {
    const marked: MarkedSession[] = []
    let count = 0
    const earlier = this.#history.earlier()
    for (const [at, item] of items.entries()) {
      if (at % TOGETHER === TOGETHER - 1) await setImmediate()
      const open = this.#manager.find(item.agentId, item.sessionId)
      // close the session before it's reserved, since closing releases it
      if (open) this.#close(open)
      const own = this.#marked(item)
      if (!own) continue
      count += 1
      const before = earlier.get(sessionKey(item.agentId, item.sessionId)) ?? []
      marked.push(own, ...before.flatMap(one => this.#marked(one) ?? []))
    }
    this.#deletions.mark(marked)
    return count
  }

  /** Marks the session for deletion; `undefined` if it's open in another window. */
  #marked(item: DeletableSession): MarkedSession | undefined {
    try {
      return this.#deleter.mark(item)
    } catch (error) {
      if (error instanceof SessionElsewhereError) return undefined
      throw error
    }
  }

  /** Brings deleted sessions back, like `SessionDeletions.undo`. */
  undoDeletion(items?: readonly SessionId[]): boolean {
    return this.#deletions.undo(items)
  }

  /** Deletes a session that the user can no longer bring back. */
  async delete(item: DeletableSession): Promise<void> {
    await waitForAgent(this.#workbench.dialogs, item.agentName, l10n.t('Delete Session'), async () => {
      await this.#deleter.delete(item)
      this.#history.forget(item.agentId, item.sessionId)
    })
  }

  /** Closes the session without waiting for its agent. The agent is asked to delete the session later. */
  #close(open: OpenSession): void {
    this.#surfaces.showing(open)?.controller.leave()
    this.#manager.openSessions
      .close(open)
      .catch(error => this.#log.warn(`A deleted session couldn't be closed: ${messageOf(error)}`))
  }

  async #open(
    action: 'show' | 'load' | 'resume',
    item: HistoryItem,
    match?: Omit<ConversationMatch, 'key'>,
  ): Promise<void> {
    const key = sessionKey(item.agentId, item.sessionId)
    // an open session is only revealed: loading it again would replay it
    const open = this.#manager.find(item.agentId, item.sessionId)
    if (open) {
      await this.#surfaces.reveal(open, undefined, this.#surfaces.active)
      if (match) this.#surfaces.showing(open)?.showMatch({ ...match, key })
      return
    }
    // a conversation whose agent ended is opened again in the view that shows it
    const surface = this.#surfaces.withKey(key) ?? this.#surfaces.active
    // the session was closed while the list still showed it as open
    const how = action === 'show' ? 'restore' : action
    await this.#surfaces.open(
      surface,
      opener => opener.reopen(how, item, match !== undefined),
      match && { ...match, key },
    )
  }

  /** Asks the agent for an action, and then refreshes the list, even if the action completes late. */
  #ask({ agentName }: Pick<HistoryItem, 'agentName'>, what: string, ask: () => Promise<void>): Promise<void> {
    return waitForAgent(this.#workbench.dialogs, agentName, what, async () => {
      await ask()
      void this.#history.refresh()
    })
  }
}

function isAtWork({ isBusy, session }: OpenSession): boolean {
  return isBusy || (session.phase === 'ready' && session.state.activity !== 'idle')
}

function nameOf({ session }: OpenSession): string {
  return titleOf(session) ?? l10n.t('Untitled session')
}

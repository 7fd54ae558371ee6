import * as l10n from '@vscode/l10n'
import { Owner } from '../../common/disposable.ts'
import { CancelledError, UnavailableError } from '../../common/errors.ts'
import { Emitter } from '../../common/event.ts'
import { sessionKey } from '../../common/session-key.ts'
import type { SavedConversations, SessionRecords } from '../ports.ts'
import type { PromptQueues } from '../prompt-queues.ts'
import type { AgentRunner } from '../runners/agent-runner.ts'
import type { HeldSessions } from '../session-leases.ts'
import type { SessionManager } from '../session-manager.ts'
import type { DeletableSession, MarkedSession } from './session-deletions.ts'

interface SessionDeleterOptions {
  manager: Pick<SessionManager, 'list' | 'find' | 'openSessions' | 'onDidChange'>
  held: Pick<HeldSessions, 'reserve'>
  runner: (agentId: string) => AgentRunner
  records: Pick<SessionRecords, 'forget'>
  transcripts: Pick<SavedConversations, 'copies' | 'forget'>
  queues: Pick<PromptQueues, 'forget'>
}

/** Deletes sessions, with their agents and from this machine. */
export class SessionDeleter extends Owner {
  readonly #options: SessionDeleterOptions
  /** keys of sessions that agents have deleted, but whose data on this machine couldn't be deleted yet */
  readonly #deletedByAgent = new Set<string>()
  readonly #deleted = this.register(new Emitter<void>())

  /** Fires when a session was deleted. */
  readonly onDidDelete = this.#deleted.event

  constructor(options: SessionDeleterOptions) {
    super()
    this.#options = options
    const { manager } = options
    // a session that is opened again exists in its agent, so it isn't deleted there anymore
    this.register(
      manager.onDidChange(() => {
        if (this.#deletedByAgent.size > 0)
          for (const { key } of manager.list()) this.#deletedByAgent.delete(key)
      }),
    )
  }

  /** Keeps other windows from opening a session that the user deleted. Throws `SessionElsewhereError`. */
  mark(item: DeletableSession): MarkedSession {
    const { agentId, sessionId } = item
    const reserved = this.#options.held.reserve(item)
    return { item: { ...item, copies: this.#options.transcripts.copies(agentId, sessionId) }, reserved }
  }

  /**
   * Deletes the session at its agent, and everything that Parley has saved of it. With `deletesCopy`, only Parley's copy is deleted.
   * Rejects without deleting anything if the agent refuses or doesn't run, or another window has the session; also rejects if the saved
   * data can't be deleted, and the session then stays in the list.
   */
  async delete({ agentId, sessionId, agentName, deletesCopy, copies }: DeletableSession): Promise<void> {
    const { manager, held, runner, records, transcripts, queues } = this.#options
    const reserved = held.reserve({ agentId, sessionId })
    try {
      // another window has stored a copy meanwhile, for example by an import
      const isSavedElsewhere =
        copies && [...transcripts.copies(agentId, sessionId)].some(id => !copies.has(id))
      if (isSavedElsewhere) throw new CancelledError()
      const agent = runner(agentId).running?.agent
      if (!deletesCopy && !agent?.capabilities.delete)
        throw new UnavailableError(
          l10n.t(
            "{0} isn't running anymore, so the session wasn't deleted. Start the agent, then delete it again.",
            agentName,
          ),
        )
      const open = manager.find(agentId, sessionId)
      if (open) await manager.openSessions.close(open)
      // an agent that has already deleted the session may refuse to do so again
      const key = sessionKey(agentId, sessionId)
      if (!deletesCopy && !this.#deletedByAgent.has(key)) {
        await agent?.deleteSession(sessionId)
        this.#deletedByAgent.add(key)
      }
      // delete the conversation first: without the session's record, a remaining part of the conversation would never be found
      if (!transcripts.forget(agentId, sessionId, copies))
        throw new UnavailableError(
          l10n.t(
            "The conversation couldn't be deleted from this machine. When its disk can be written again, delete the session again.",
          ),
        )
      this.#deletedByAgent.delete(key)
      // another window saved the conversation while the agent deleted the session
      if (transcripts.copies(agentId, sessionId).size > 0) return
      records.forget(agentId, sessionId)
      queues.forget(key)
    } finally {
      reserved.dispose()
    }
    this.#deleted.fire()
  }
}

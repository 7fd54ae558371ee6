import * as l10n from '@vscode/l10n'
import type { Agent } from '../../acp/agent.ts'
import { Owner } from '../../common/disposable.ts'
import { Emitter } from '../../common/event.ts'
import type { SessionReference } from '../open-session.ts'
import type { SessionRecords } from '../ports.ts'
import type { AgentRunner } from '../runners/agent-runner.ts'
import type { SessionManager } from '../session-manager.ts'

/** Length to which a title is truncated, in characters. */
const MAX_TITLE_LENGTH = 500

export interface SessionOrganizerOptions {
  runner: (agentId: string) => AgentRunner
  manager: SessionManager
  records: SessionRecords
}

/** A session to rename, pin or archive; `updatedAt` as the list has it, in milliseconds since the epoch. */
export type OrganizedSession = SessionReference & { updatedAt?: number }

/** Renames, pins and archives sessions: with the agent if it supports that; otherwise Parley stores the title. */
export class SessionOrganizer extends Owner {
  readonly #options: SessionOrganizerOptions
  readonly #change = this.register(new Emitter<void>())

  /** Fires when a session was renamed, pinned, archived, unpinned or unarchived. */
  readonly onDidChange = this.#change.event

  constructor(options: SessionOrganizerOptions) {
    super()
    this.#options = options
  }

  /**
   * Renames the session. An agent that supports renaming may change the wording; otherwise Parley stores the title and
   * shows it instead of the agent's. An empty title restores the automatic one. Rejects with the agent's refusal, without
   * changing the title.
   */
  async rename(session: OrganizedSession, wanted: string): Promise<void> {
    const title = Array.from(wanted.replace(/\s+/g, ' ').trim()).slice(0, MAX_TITLE_LENGTH).join('')
    const { agentId, sessionId } = session
    const agent = this.#runningAgent(agentId)
    if (title !== '' && agent?.capabilities.setTitle && agent.setSessionTitle) {
      const named = await agent.setSessionTitle(sessionId, title)
      this.#options.records.noted(agentId, session, { title: named, givenTitle: '' })
      const open = this.#options.manager.find(agentId, sessionId)?.session
      open?.conversation.giveTitle(undefined)
      open?.receive({ type: 'info', title: named })
    } else {
      this.#options.records.noted(agentId, session, { givenTitle: title })
      this.#options.manager.find(agentId, sessionId)?.session.conversation.giveTitle(title || undefined)
    }
    this.#change.fire()
  }

  /** Pins the session, so that lists show it first. Agents don't know about pins. */
  setPinned(session: OrganizedSession, pinned: boolean): void {
    this.#options.records.noted(session.agentId, session, { pinned })
    this.#change.fire()
  }

  /** Archives the session at its agent, which must run and support this. Rejects with the agent's error. */
  async setArchived(session: OrganizedSession, archived: boolean): Promise<void> {
    const { agentId, sessionId } = session
    const agent = this.#runningAgent(agentId)
    const set = archived ? agent?.archiveSession : agent?.unarchiveSession
    if (!agent?.capabilities.archive || !set) throw new Error(l10n.t("The agent can't archive sessions."))
    await set.call(agent, sessionId)
    this.#options.records.noted(agentId, session, { archived })
    this.#change.fire()
  }

  #runningAgent(agentId: string): Agent | undefined {
    return this.#options.runner(agentId).running?.agent
  }
}

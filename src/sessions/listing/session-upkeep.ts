import * as l10n from '@vscode/l10n'
import type { Agent } from '../../acp/agent.ts'
import { Owner } from '../../common/disposable.ts'
import { Emitter } from '../../common/event.ts'
import type { AgentHost } from '../hosts/agent-host.ts'
import type { SessionRecords } from '../ports.ts'
import type { SessionManager, SessionReference } from '../session-manager.ts'

/** A longer name is cut: it is a line in a list. */
const LONGEST_TITLE = 500

export interface SessionUpkeepParts {
  host: (agentId: string) => AgentHost
  manager: SessionManager
  records: SessionRecords
}

/** A session to be named or put away; `updatedAt` as the list has it, milliseconds since the epoch. */
export type Kept = SessionReference & { updatedAt?: number }

/** Names sessions and puts them away: with the agent where it can, and a name in our own records where it cannot. */
export class SessionUpkeep extends Owner {
  readonly #parts: SessionUpkeepParts
  readonly #change = this.register(new Emitter<void>())

  /** A session has another name, or was put away or brought back. */
  readonly onDidChange = this.#change.event

  constructor(parts: SessionUpkeepParts) {
    super()
    this.#parts = parts
  }

  /**
   * Names the session. An agent that keeps titles is asked to and may choose other words; else the name is kept here and
   * stands over the agent's. An empty one gives the session back the name it had without the person. Rejects with the
   * agent's refusal; the old name stands then.
   */
  async rename(session: Kept, wanted: string): Promise<void> {
    const title = Array.from(wanted.replace(/\s+/g, ' ').trim()).slice(0, LONGEST_TITLE).join('')
    const { agentId, sessionId } = session
    const agent = this.#runningAgent(agentId)
    if (title !== '' && agent?.capabilities.setTitle && agent.setSessionTitle) {
      const named = await agent.setSessionTitle(sessionId, title)
      this.#parts.records.noted(agentId, session, { title: named, givenTitle: '' })
      const open = this.#parts.manager.find(agentId, sessionId)?.session
      open?.giveTitle(undefined)
      open?.receive({ type: 'info', title: named })
    } else {
      this.#parts.records.noted(agentId, session, { givenTitle: title })
      this.#parts.manager.find(agentId, sessionId)?.session.giveTitle(title || undefined)
    }
    this.#change.fire()
  }

  /** Puts the session away with its agent, which must run and be able to. Rejects with its refusal. */
  async setArchived(session: Kept, archived: boolean): Promise<void> {
    const { agentId, sessionId } = session
    const agent = this.#runningAgent(agentId)
    const set = archived ? agent?.archiveSession : agent?.unarchiveSession
    if (!agent?.capabilities.archive || !set) throw new Error(l10n.t('The agent cannot archive sessions.'))
    await set.call(agent, sessionId)
    this.#parts.records.noted(agentId, session, { archived })
    this.#change.fire()
  }

  #runningAgent(agentId: string): Agent | undefined {
    return this.#parts.host(agentId).running?.agent
  }
}

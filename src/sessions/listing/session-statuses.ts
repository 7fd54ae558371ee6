import { type Agent, AgentRequestError } from '../../acp/agent.ts'

/** So many sessions of an agent, the newest, are asked about: a list may have thousands. */
const MOST = 50

/** What an agent says of a session that is not open in this window. */
export interface SessionStatus {
  /** `open`: it is loaded in the agent, for another client; `saved`: it only lies in its store */
  status: string
  activity?: string
}

/**
 * What one agent says of its sessions' states, asked one after the other so that the agent has time for its work. An
 * agent that fails at it is asked no more; that it does not know a session is an answer, not a failure.
 */
export class SessionStatuses {
  readonly #agent: Agent
  readonly #changed: () => void
  readonly #known = new Map<string, SessionStatus>()
  #wanted: string[] = []
  #asking = false
  #failed = false

  constructor(agent: Agent, changed: () => void) {
    this.#agent = agent
    this.#changed = changed
  }

  get(sessionId: string): SessionStatus | undefined {
    return this.#known.get(sessionId)
  }

  /** Asks anew about these, the first of them at most; what was asked for before and has not come is dropped. */
  refresh(sessionIds: readonly string[]): void {
    if (!this.#agent.capabilities.sessionStatus || this.#failed) return
    this.#wanted = sessionIds.slice(0, MOST)
    if (!this.#asking) void this.#ask()
  }

  async #ask(): Promise<void> {
    this.#asking = true
    try {
      for (let next = this.#wanted.shift(); next !== undefined; next = this.#wanted.shift()) {
        const told = await this.#statusOf(next)
        const before = this.#known.get(next)
        if (before?.status === told?.status && before?.activity === told?.activity) continue
        if (told) this.#known.set(next, told)
        else this.#known.delete(next)
        this.#changed()
      }
    } catch {
      this.#failed = true
    } finally {
      this.#asking = false
    }
  }

  /** `undefined`: the agent does not know the session. */
  async #statusOf(sessionId: string): Promise<SessionStatus | undefined> {
    try {
      return await this.#agent.sessionStatus?.(sessionId)
    } catch (error) {
      if (error instanceof AgentRequestError && error.kind === 'not-found') return undefined
      throw error
    }
  }
}

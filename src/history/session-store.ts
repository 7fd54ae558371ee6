import { sessionKey } from '../common/session-key.ts'

/** A session that Parley opened itself at some time. */
export interface LocalSession {
  agentId: string
  sessionId: string
  /** absolute path */
  cwd: string
  additionalDirectories: string[]
  /** the person's system prompt as it was when the session began; `null`: none, absent: nobody knows */
  systemPrompt?: { mode: 'append' | 'override'; text: string } | null
  /** the agent's, or how it began */
  title?: string
  /** what the person calls it, where the agent takes no names */
  givenTitle?: string
  /** titles that it had before and a person may look for, the latest last */
  formerTitles?: string[]
  /** The session is archived. */
  archived?: boolean
  /** milliseconds since the epoch */
  createdAt: number
  /** milliseconds since the epoch */
  updatedAt: number
}

/** An agent as it was when it last ran: what it was called, and could do with its sessions. */
export interface KnownAgent {
  name?: string
  list: boolean
  load: boolean
  resume: boolean
  fork?: boolean
}

/** Keeps what Parley remembers of sessions. A store on disk may throw from any of these. */
export interface SessionStore {
  /** Agents of which there are sessions. */
  agentIds(): string[]
  /** The agent's sessions, the newest first. */
  list(agentId: string): LocalSession[]
  get(agentId: string, sessionId: string): LocalSession | undefined
  /** Adds a session, or changes all of it but `createdAt`. */
  put(session: LocalSession): void
  remove(agentId: string, sessionId: string): void
  agent(agentId: string): KnownAgent | undefined
  putAgent(agentId: string, agent: KnownAgent): void
  close(): void
}

/** Keeps them for as long as the window is open. */
export class MemoryStore implements SessionStore {
  readonly #sessions = new Map<string, LocalSession>()
  readonly #agents = new Map<string, KnownAgent>()

  agentIds(): string[] {
    return [...new Set([...this.#sessions.values()].map(session => session.agentId))]
  }

  list(agentId: string): LocalSession[] {
    return [...this.#sessions.values()]
      .filter(session => session.agentId === agentId)
      .sort((a, b) => b.updatedAt - a.updatedAt)
  }

  get(agentId: string, sessionId: string): LocalSession | undefined {
    return this.#sessions.get(sessionKey(agentId, sessionId))
  }

  put(session: LocalSession): void {
    const key = sessionKey(session.agentId, session.sessionId)
    const createdAt = this.#sessions.get(key)?.createdAt ?? session.createdAt
    this.#sessions.set(key, { ...session, createdAt })
  }

  remove(agentId: string, sessionId: string): void {
    this.#sessions.delete(sessionKey(agentId, sessionId))
  }

  agent(agentId: string): KnownAgent | undefined {
    return this.#agents.get(agentId)
  }

  putAgent(agentId: string, agent: KnownAgent): void {
    this.#agents.set(agentId, agent)
  }

  clear(): void {
    this.#sessions.clear()
    this.#agents.clear()
  }

  close(): void {}
}

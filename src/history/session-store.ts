import { sessionKey } from '../common/session-key.ts'

/** A session that Parley opened itself at some time. */
export interface LocalSession {
  agentId: string
  sessionId: string
  /** absolute path */
  cwd: string
  additionalDirectories: string[]
  /** the user's system prompt as it was when the session began; `null`: none, absent: unknown */
  systemPrompt?: { mode: 'append' | 'override'; text: string } | null
  /** the agent's, or how it began */
  title?: string
  /** what the user calls it, where the agent takes no names */
  givenTitle?: string
  /** titles that it had before and a user may look for, the latest last */
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

/** What a session used, as one report adds it to what is counted. */
export interface UsageRecord {
  agentId: string
  sessionId: string
  /** the local day: `2026-11-22` */
  day: string
  /** of `cost`; empty where tokens are counted, or nothing yet */
  currency: string
  cost: number
  /** what the agent says that the session has cost so far: up to here it is counted */
  mark: number
  totalTokens: number
  inputTokens: number
  outputTokens: number
}

/** Sums of {@link UsageRecord}s. */
export type UsageSum = Pick<UsageRecord, 'currency' | 'cost' | 'totalTokens' | 'inputTokens' | 'outputTokens'>
export type DayUsage = UsageSum & Pick<UsageRecord, 'day' | 'agentId'>
export type SessionUsage = UsageSum & Pick<UsageRecord, 'mark'>

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
  /** Adds to the day and to the session, and sets the session's mark. */
  addUsage(record: UsageRecord): void
  /** What the agents used on each day from `day` on; a row for each currency, and one for tokens. */
  usage(day: string): DayUsage[]
  /** What is counted of one session, a row for each currency, and one for tokens. */
  sessionUsage(agentId: string, sessionId: string): SessionUsage[]
  /** Drops what was used before `day`. */
  pruneUsage(day: string): void
  close(): void
}

/** Keeps them for as long as the window is open. */
export class MemoryStore implements SessionStore {
  readonly #sessions = new Map<string, LocalSession>()
  readonly #agents = new Map<string, KnownAgent>()
  readonly #days = new Map<string, UsageRecord>()
  readonly #usage = new Map<string, UsageRecord>()

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
    for (const [key, record] of this.#usage)
      if (record.agentId === agentId && record.sessionId === sessionId) this.#usage.delete(key)
  }

  agent(agentId: string): KnownAgent | undefined {
    return this.#agents.get(agentId)
  }

  putAgent(agentId: string, agent: KnownAgent): void {
    this.#agents.set(agentId, agent)
  }

  addUsage(record: UsageRecord): void {
    const { agentId, sessionId, day, currency } = record
    if (record.cost + record.totalTokens + record.inputTokens + record.outputTokens > 0)
      addTo(this.#days, JSON.stringify([day, agentId, currency]), record)
    addTo(this.#usage, JSON.stringify([sessionKey(agentId, sessionId), currency]), record)
  }

  usage(day: string): DayUsage[] {
    return [...this.#days.values()].filter(record => record.day >= day)
  }

  sessionUsage(agentId: string, sessionId: string): SessionUsage[] {
    return [...this.#usage.values()].filter(
      record => record.agentId === agentId && record.sessionId === sessionId,
    )
  }

  pruneUsage(day: string): void {
    for (const records of [this.#days, this.#usage])
      for (const [key, record] of records) if (record.day < day) records.delete(key)
  }

  clear(): void {
    this.#sessions.clear()
    this.#agents.clear()
  }

  close(): void {}
}

/** Adds a record to those that are kept under `key`, as the database does. */
export function addTo(records: Map<string, UsageRecord>, key: string, record: UsageRecord): void {
  const known = records.get(key)
  records.set(key, {
    ...record,
    cost: (known?.cost ?? 0) + record.cost,
    totalTokens: (known?.totalTokens ?? 0) + record.totalTokens,
    inputTokens: (known?.inputTokens ?? 0) + record.inputTokens,
    outputTokens: (known?.outputTokens ?? 0) + record.outputTokens,
  })
}

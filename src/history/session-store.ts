import type { AgentPlace } from '../acp/model.ts'
import { type SessionId, sessionKey } from '../common/session-key.ts'
import type { LimitState } from '../conversation/session-limit.ts'

/** A session that Parley has opened. */
export interface LocalSession extends SessionId {
  /** absolute path */
  cwd: string
  additionalDirectories: string[]
  /** the user's system prompt when the session started; `null` for none, absent if unknown */
  systemPrompt?: { mode: 'append' | 'override'; text: string } | null
  /** the agent's title, or the start of the first prompt */
  title?: string
  /** the user's title, if the agent doesn't support renaming */
  givenTitle?: string
  /** earlier titles, which users may search for, latest last */
  formerTitles?: string[]
  /** Whether the session is archived. */
  archived?: boolean
  /** Where the session's agent ran, if not on this machine. */
  place?: AgentPlace
  /** Whether the session is listed first. */
  pinned?: boolean
  /** The conversation continues in this session, and lists show only the other session. */
  continuedIn?: SessionId
  /** Whether the session was imported from a file, whose author chose the session's folder, and no agent has opened it here yet. */
  imported?: boolean
  /** milliseconds since the epoch */
  createdAt: number
  /** milliseconds since the epoch */
  updatedAt: number
}

/** An agent's name and session capabilities from its last run. */
export interface KnownAgent {
  name?: string
  list: boolean
  load: boolean
  resume: boolean
  fork?: boolean
}

/** The usage in one report of a session, which is added to the session's sums. */
export interface UsageRecord extends SessionId {
  /** the local day: `2026-11-22` */
  day: string
  /** the currency of `cost`; empty for tokens, or if no cost was counted yet */
  currency: string
  cost: number
  /** the total cost reported by the agent that is already counted */
  mark: number
  totalTokens: number
  inputTokens: number
  outputTokens: number
}

/** The tokens of one model of an agent, a subset of the usage record. */
export type ModelUsage = Pick<
  UsageRecord,
  'agentId' | 'day' | 'totalTokens' | 'inputTokens' | 'outputTokens'
> & { model: string }

/** Sums of {@link UsageRecord}s. */
export type UsageSum = Pick<UsageRecord, 'currency' | 'cost' | 'totalTokens' | 'inputTokens' | 'outputTokens'>
export type DayUsage = UsageSum & Pick<UsageRecord, 'day' | 'agentId'>
export type SessionUsage = UsageSum & Pick<UsageRecord, 'mark'>

/** The total time of a session's turns, and the session's limit. */
export interface SessionSpan {
  /** the time in milliseconds; `at`: when a running turn's time was last counted, in milliseconds since the epoch; absent if no turn ran */
  ms: number
  at?: number
  /** The session's own limit; absent: the limit in the settings applies. */
  limit?: LimitState
}

/** Stores what Parley knows about sessions. Any method of a store on disk may throw. */
export interface SessionStore {
  /** why nothing can be written for now; absent if the store can be written */
  readonly unwritable?: unknown
  /** The ids of the agents with sessions. */
  agentIds(): string[]
  /** The agent's sessions, newest first. */
  list(agentId: string): LocalSession[]
  get(agentId: string, sessionId: string): LocalSession | undefined
  /** The sessions that the user pinned. */
  pinned(): SessionId[]
  /** Adds a session, or replaces everything but `createdAt`. */
  put(session: LocalSession): void
  remove(agentId: string, sessionId: string): void
  agent(agentId: string): KnownAgent | undefined
  putAgent(agentId: string, agent: KnownAgent): void
  /** Adds the record to the sums of its day and its session, and sets the session's `mark`. */
  addUsage(record: UsageRecord): void
  /** The agents' usage on each day from `day` on; a row for each currency, and one for tokens. */
  usage(day: string): DayUsage[]
  /** The counted usage of a session; a row for each currency, and one for tokens. */
  sessionUsage(agentId: string, sessionId: string): SessionUsage[]
  span(agentId: string, sessionId: string): SessionSpan | undefined
  putSpan(session: SessionId, span: SessionSpan): void
  /** Adds the tokens to the sum of their day and model. */
  addModelUsage(usage: ModelUsage): void
  /** Tokens of the agent's models on each day from `day` on. */
  modelUsage(agentId: string, day: string): ModelUsage[]
  /** Deletes the usage of days that are old. */
  pruneUsage(isOld: (day: string) => boolean): void
  close(): void
}

/** Keeps sessions in memory, as long as the window is open. */
export class MemoryStore implements SessionStore {
  readonly #sessions = new Map<string, LocalSession>()
  readonly #agents = new Map<string, KnownAgent>()
  readonly #days = new Map<string, UsageRecord>()
  readonly #usage = new Map<string, UsageRecord>()
  readonly #models = new Map<string, ModelUsage>()
  readonly #spans = new Map<string, SessionSpan>()

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

  pinned(): SessionId[] {
    return [...this.#sessions.values()].filter(session => session.pinned)
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
    this.#spans.delete(sessionKey(agentId, sessionId))
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

  span(agentId: string, sessionId: string): SessionSpan | undefined {
    return this.#spans.get(sessionKey(agentId, sessionId))
  }

  putSpan({ agentId, sessionId }: SessionId, span: SessionSpan): void {
    this.#spans.set(sessionKey(agentId, sessionId), span)
  }

  addModelUsage(usage: ModelUsage): void {
    const { agentId, day, model } = usage
    addTo(this.#models, JSON.stringify([day, agentId, model]), usage)
  }

  modelUsage(agentId: string, day: string): ModelUsage[] {
    return [...this.#models.values()].filter(usage => usage.agentId === agentId && usage.day >= day)
  }

  /** Does nothing, since usage in memory never gets old enough to be removed. */
  pruneUsage(): void {}

  clear(): void {
    this.#sessions.clear()
    this.#agents.clear()
    this.#spans.clear()
  }

  close(): void {}
}

type Amounts = Pick<UsageRecord, 'totalTokens' | 'inputTokens' | 'outputTokens'> & { cost?: number }

/** Adds a record to the sum with this key, as the database does. */
export function addTo<T extends Amounts>(records: Map<string, T>, key: string, record: T): void {
  const known = records.get(key)
  records.set(key, {
    ...record,
    ...(record.cost !== undefined && { cost: (known?.cost ?? 0) + record.cost }),
    totalTokens: (known?.totalTokens ?? 0) + record.totalTokens,
    inputTokens: (known?.inputTokens ?? 0) + record.inputTokens,
    outputTokens: (known?.outputTokens ?? 0) + record.outputTokens,
  })
}

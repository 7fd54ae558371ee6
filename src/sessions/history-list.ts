import type { Agent } from '../acp/agent.ts'
import type { SessionInfo } from '../acp/model.ts'
import { Owner } from '../common/disposable.ts'
import { messageOf } from '../common/errors.ts'
import { Emitter } from '../common/event.ts'
import type { SessionActivity } from '../conversation/state.ts'
import type { AgentHosts } from './agent-hosts.ts'
import type { AgentDirectory, SessionRecords } from './ports.ts'
import type { SessionManager, SessionReference } from './session-manager.ts'
import { sessionTitle } from './session-title.ts'

/** The pages of one agent's list of sessions. */
export interface Listing {
  readonly sessions: readonly SessionInfo[]
  readonly hasMore: boolean
  /** Lists anew from the first page. */
  refresh(): Promise<void>
  /** The next page. */
  more(): Promise<void>
}

export interface HistoryItem extends SessionReference {
  agentName: string
  /** milliseconds since the epoch */
  updatedAt?: number
  /** open in this window */
  open: boolean
  activity?: SessionActivity
  canLoad: boolean
  canResume: boolean
  canClose: boolean
  /** the agent runs and can */
  canDelete: boolean
  /** the agent runs and can */
  canFork: boolean
}

export interface HistoryAgent {
  agentId: string
  name: string
  state: 'loading' | 'listed' | 'cannot-list' | 'failed' | 'not-started'
  message?: string
  more: boolean
}

export interface HistoryListParts {
  agents: AgentDirectory
  hosts: AgentHosts
  manager: SessionManager
  records: SessionRecords
  listingOf: (agent: Agent) => Listing
}

/**
 * Every session there is to come back to: what the agents that run list, what Parley opened itself, what is open now.
 * An agent is started for it only when the person says so.
 */
export class HistoryList extends Owner {
  readonly #parts: HistoryListParts
  readonly #listings = new Map<Agent, { listing: Listing; loading: boolean; failure?: string }>()
  readonly #change = this.register(new Emitter<void>())

  readonly onDidChange = this.#change.event

  constructor(parts: HistoryListParts) {
    super()
    this.#parts = parts
    this.register(parts.agents.onDidChange(() => this.#change.fire()))
    this.register(parts.manager.onDidChange(() => this.#change.fire()))
    this.register(parts.hosts.onDidChange(() => this.#agentsChanged()))
  }

  items(): HistoryItem[] {
    const items = new Map<string, HistoryItem>()
    for (const { agentId, name } of this.#parts.agents.list()) {
      const agent = this.#parts.hosts.peek(agentId)?.running?.agent
      const can = agent?.capabilities ?? this.#parts.records.capabilities(agentId)
      const add = (
        reference: Pick<SessionReference, 'sessionId' | 'cwd' | 'title'>,
        more: Partial<HistoryItem>,
      ) => {
        const key = `${agentId}\0${reference.sessionId}`
        const known = items.get(key)
        items.set(key, {
          agentId,
          agentName: name,
          sessionId: reference.sessionId,
          cwd: reference.cwd,
          title: reference.title ?? known?.title,
          updatedAt: known?.updatedAt,
          open: false,
          canLoad: can?.load ?? false,
          canResume: can?.resume ?? false,
          canClose: false,
          canDelete: agent?.capabilities.delete ?? false,
          canFork: agent?.capabilities.fork ?? false,
          ...more,
        })
      }
      for (const record of this.#parts.records.list(agentId)) add(record, { updatedAt: record.updatedAt })
      const listed = agent && this.#listings.get(agent)?.listing.sessions
      for (const info of listed ?? [])
        add(info, info.updatedAt === undefined ? {} : { updatedAt: info.updatedAt })
      for (const open of this.#parts.manager.list()) {
        if (open.agentId !== agentId) continue
        const { session, plan } = open
        add(
          { sessionId: session.sessionId, cwd: plan.setup.cwd, title: sessionTitle(session.state) },
          { open: true, activity: session.state.activity, canClose: true },
        )
      }
    }
    return [...items.values()]
  }

  agents(): HistoryAgent[] {
    return this.#parts.agents.list().map(({ agentId, name }) => {
      const host = this.#parts.hosts.peek(agentId)
      const agent = host?.running?.agent
      const note = { agentId, name, more: false }
      if (host?.isStarting) return { ...note, state: 'loading' }
      if (!agent) {
        const cannot = this.#parts.records.capabilities(agentId)?.list === false
        return { ...note, state: cannot ? 'cannot-list' : 'not-started' }
      }
      if (!agent.capabilities.list) return { ...note, state: 'cannot-list' }
      const entry = this.#listings.get(agent)
      if (!entry || entry.loading) return { ...note, state: 'loading' }
      if (entry.failure !== undefined) return { ...note, state: 'failed', message: entry.failure }
      return { ...note, state: 'listed', more: entry.listing.hasMore }
    })
  }

  find(agentId: string, sessionId: string): HistoryItem | undefined {
    return this.items().find(item => item.agentId === agentId && item.sessionId === sessionId)
  }

  /** Lists anew with every agent that runs. Resolves when all have answered; never rejects. */
  async refresh(): Promise<void> {
    const running = this.#parts.agents
      .list()
      .flatMap(({ agentId }) => this.#parts.hosts.peek(agentId)?.running?.agent ?? [])
    await Promise.all(running.map(agent => this.#ask(agent, listing => listing.refresh())))
  }

  async more(agentId: string): Promise<void> {
    const agent = this.#parts.hosts.peek(agentId)?.running?.agent
    if (agent) await this.#ask(agent, listing => listing.more())
  }

  /** Starts the agent, to list its sessions. Rejects with `AgentStartError`. */
  async start(agentId: string, signal?: AbortSignal): Promise<void> {
    const { agent } = await this.#parts.hosts.get(agentId).ensure(signal)
    await this.#ask(agent, listing => listing.refresh())
  }

  #agentsChanged(): void {
    const running = new Set<Agent>()
    for (const { agentId } of this.#parts.agents.list()) {
      const agent = this.#parts.hosts.peek(agentId)?.running?.agent
      if (!agent) continue
      running.add(agent)
      this.#parts.records.setCapabilities(agentId, agent.capabilities)
      if (!this.#listings.has(agent)) void this.#ask(agent, listing => listing.refresh())
    }
    for (const agent of this.#listings.keys()) if (!running.has(agent)) this.#listings.delete(agent)
    this.#change.fire()
  }

  async #ask(agent: Agent, ask: (listing: Listing) => Promise<void>): Promise<void> {
    if (!agent.capabilities.list) return
    let entry = this.#listings.get(agent)
    if (entry?.loading) return
    entry ??= { listing: this.#parts.listingOf(agent), loading: false }
    this.#listings.set(agent, entry)
    entry.loading = true
    entry.failure = undefined
    this.#change.fire()
    try {
      await ask(entry.listing)
    } catch (error) {
      entry.failure = messageOf(error)
    } finally {
      entry.loading = false
      this.#change.fire()
    }
  }
}

import * as l10n from '@vscode/l10n'
import { type Agent, AgentRequestError } from '../../acp/agent.ts'
import type { SessionInfo } from '../../acp/model.ts'
import { Owner } from '../../common/disposable.ts'
import { messageOf } from '../../common/errors.ts'
import { Emitter } from '../../common/event.ts'
import { LIST_SESSIONS_MS } from '../../common/limits.ts'
import { sessionKey } from '../../common/session-key.ts'
import type { SessionState } from '../../conversation/state.ts'
import { isSignInAsked } from '../failures.ts'
import type { OpenSession } from '../open-session.ts'
import type { AgentDirectory, SessionRecords } from '../ports.ts'
import type { AgentRunners } from '../runners/agent-runners.ts'
import type { SessionManager } from '../session-manager.ts'
import { titleOf } from '../session-title.ts'
import type { HistoryItem, SessionStatus } from './history-item.ts'
import { KnownSessions } from './known-sessions.ts'
import type { SessionDeletions } from './session-deletions.ts'
import type { SessionOrganizer } from './session-organizer.ts'

/** The pages of one agent's list of sessions. */
export interface Listing {
  readonly sessions: readonly SessionInfo[]
  readonly hasMore: boolean
  /** Whether `sessions` has all sessions of the agent. */
  readonly isWhole: boolean
  /** Lists again from the first page. Rejects with the agent's error, or when `signal` aborts. */
  refresh(signal?: AbortSignal): Promise<void>
  /** Lists only new sessions if all earlier sessions are listed already. Rejects as `refresh` does. */
  update(signal?: AbortSignal): Promise<void>
  /** Requests the next page. Rejects as `refresh` does. */
  more(signal?: AbortSignal): Promise<void>
  /** Removes a deleted session from the list. */
  forget(sessionId: string): void
}

export interface HistoryAgent {
  agentId: string
  name: string
  state: 'loading' | 'listed' | 'cannot-list' | 'failed' | 'sign-in' | 'not-started'
  message?: string
  /** Whether the agent has more pages that aren't being requested. */
  more: boolean
  /** Whether further pages are being requested. */
  paging: boolean
}

export interface HistoryListOptions {
  agents: AgentDirectory
  runners: AgentRunners
  manager: SessionManager
  records: SessionRecords
  organizer: SessionOrganizer
  deletions: Pick<SessionDeletions, 'isEmpty' | 'has' | 'onDidChange'>
  /**
   * Returns the keys of the sessions whose conversation Parley has saved at least partly: the user can read them whatever the agent
   * supports. Returns the same object until the keys change.
   */
  savedKeys: () => ReadonlySet<string>
  listingOf: (agent: Agent) => Listing
  /** How long an agent may take to list its sessions before the user can retry, in milliseconds. */
  slowAfterMs?: number
}

type HowToAsk = 'refresh' | 'update' | 'more'

interface AgentListing {
  listing: Listing
  statuses: SessionStatuses
  /** Whether a request by the user or a view is in progress. */
  loading: boolean
  /** Whether all pages are wanted, which are requested in the background, one after the other. */
  wantsAll: boolean
  /** Cancels the requests in the background. */
  paging?: AbortController
  failure?: { message: string; wantsSignIn: boolean }
}

const NONE: readonly SessionInfo[] = []
const NO_STATUSES: ReadonlyMap<string, SessionStatus> = new Map()

/** The shortest time between two change events while pages arrive in the background, in milliseconds. */
const PAGING_NEWS_MS = 1000

/**
 * All known sessions: sessions that running agents list, sessions that Parley has opened before, and open sessions. An agent is started
 * to list its sessions only on the user's request.
 */
export class HistoryList extends Owner {
  readonly #options: HistoryListOptions
  readonly #listings = new Map<Agent, AgentListing>()
  /** by agent id */
  readonly #known = new Map<string, KnownSessions>()
  readonly #change = this.register(new Emitter<void>())

  readonly onDidChange = this.#change.event

  constructor(options: HistoryListOptions) {
    super()
    this.#options = options
    this.register(options.agents.onDidChange(() => this.#change.fire()))
    this.register(options.manager.onDidChange(() => this.#change.fire()))
    this.register(options.organizer.onDidChange(() => this.#change.fire()))
    this.register(options.deletions.onDidChange(() => this.#change.fire()))
    this.register(options.runners.onDidChange(() => this.#agentsChanged()))
  }

  /** Returns one item for each conversation: its current session. */
  items(): readonly HistoryItem[] {
    const all = this.#items()
    const current = currentSessions(all)
    return current.size === 0 ? all : all.filter(item => !current.has(item))
  }

  /** Returns the earlier sessions of each conversation, by the key of the session that lists show for the conversation. */
  earlier(): ReadonlyMap<string, readonly HistoryItem[]> {
    const earlier = new Map<string, HistoryItem[]>()
    for (const [item, { agentId, sessionId }] of currentSessions(this.#items())) {
      const key = sessionKey(agentId, sessionId)
      earlier.set(key, [...(earlier.get(key) ?? []), item])
    }
    return earlier
  }

  #items(): readonly HistoryItem[] {
    const { manager, deletions } = this.#options
    const agents = this.#agentsWithSessions()
    const all = agents.flatMap(({ agentId, name }) => {
      const known = this.#knownSessions(agentId, name)
      const open = manager.list().filter(one => one.agentId === agentId)
      return open.length > 0 ? withOpen(known, open) : known.listed
    })
    return deletions.isEmpty
      ? all
      : all.filter(({ agentId, sessionId }) => !deletions.has(agentId, sessionId))
  }

  /**
   * Returns the directories of all sessions with a conversation, including sessions that lists don't show because their deletion can be
   * undone or their agent isn't available.
   */
  directories(): string[] {
    const { deletions } = this.#options
    const items = this.#agentsWithSessions().flatMap(({ agentId, name }) => {
      const known = this.#knownSessions(agentId, name)
      const isUsed = (item: HistoryItem) => deletions.has(agentId, item.sessionId) || !known.isUnused(item)
      return [...known.all()].filter(isUsed)
    })
    return items.flatMap(({ cwd, additionalDirectories = [] }) => [cwd, ...additionalDirectories])
  }

  #knownSessions(agentId: string, agentName: string): KnownSessions {
    const { agents, runners, records, savedKeys } = this.#options
    const known = this.#known.get(agentId) ?? new KnownSessions(agentId)
    this.#known.set(agentId, known)
    const agent = runners.peek(agentId)?.running?.agent
    const entry = agent && this.#listings.get(agent)
    const isAvailable = agents.get(agentId) !== undefined
    const can = isAvailable ? (agent?.capabilities ?? records.agent(agentId)) : undefined
    known.update({
      ...{ agentName, isAvailable },
      running: agent?.capabilities,
      canLoad: can?.load ?? false,
      canResume: can?.resume ?? false,
      records: records.list(agentId),
      listed: entry?.listing.sessions ?? NONE,
      isWhole: entry?.listing.isWhole ?? false,
      statuses: entry?.statuses.all ?? NO_STATUSES,
      savedKeys: savedKeys(),
    })
    return known
  }

  /** Returns agents that can be started, and removed agents that have open or recorded sessions. */
  #agentsWithSessions(): Array<{ agentId: string; name: string }> {
    const { agents, records, manager } = this.#options
    const all = new Map(agents.list().map(({ agentId, name }) => [agentId, name]))
    for (const { agentId, agentName } of manager.list()) if (!all.has(agentId)) all.set(agentId, agentName)
    for (const agentId of records.agentIds()) {
      if (!all.has(agentId)) all.set(agentId, records.agent(agentId)?.name ?? agentId)
    }
    return [...all].map(([agentId, name]) => ({ agentId, name }))
  }

  agents(): HistoryAgent[] {
    return this.#options.agents.list().map(({ agentId, name }) => {
      const runner = this.#options.runners.peek(agentId)
      const agent = runner?.running?.agent
      const note = { agentId, name, more: false, paging: false }
      if (runner?.isStarting) return { ...note, state: 'loading' }
      if (!agent) {
        const cannot = this.#options.records.agent(agentId)?.list === false
        return { ...note, state: cannot ? 'cannot-list' : 'not-started' }
      }
      if (!agent.capabilities.list) return { ...note, state: 'cannot-list' }
      const entry = this.#listings.get(agent)
      if (!entry || entry.loading) return { ...note, state: 'loading' }
      if (entry.failure) {
        const { message, wantsSignIn } = entry.failure
        return { ...note, state: wantsSignIn ? 'sign-in' : 'failed', message }
      }
      const paging = entry.paging !== undefined
      return { ...note, state: 'listed', more: entry.listing.hasMore && !paging, paging }
    })
  }

  find(agentId: string, sessionId: string): HistoryItem | undefined {
    return this.#items().find(item => item.agentId === agentId && item.sessionId === sessionId)
  }

  /**
   * Lists all sessions of all running agents again: the first pages at once, the others in the background. Resolves when all agents have
   * sent the first page or failed; never rejects.
   */
  async refresh(): Promise<void> {
    await this.#askAll('refresh', true)
  }

  /** Like `refresh`, but doesn't list sessions again that are listed already. */
  async update(): Promise<void> {
    await this.#askAll('update', true)
  }

  /** Lists only the latest sessions of all running agents. Resolves when all agents have answered; never rejects. */
  async updateLatest(): Promise<void> {
    await this.#askAll('update', false)
  }

  async #askAll(how: HowToAsk, all: boolean): Promise<void> {
    const running = this.#options.agents
      .list()
      .flatMap(({ agentId }) => this.#options.runners.peek(agentId)?.running?.agent ?? [])
    await Promise.all(running.map(agent => this.#ask(agent, how, all)))
  }

  async more(agentId: string): Promise<void> {
    const agent = this.#options.runners.peek(agentId)?.running?.agent
    if (agent) await this.#ask(agent, 'more', true)
  }

  /** Starts the agent and lists its sessions. Rejects with `AgentStartError` if the agent doesn't start. */
  async start(agentId: string, signal?: AbortSignal): Promise<void> {
    const { agent } = await this.#options.runners.get(agentId).ensure(signal)
    await this.#ask(agent, 'refresh', true)
  }

  /** Notifies the list that sessions were added to the records. */
  recordsChanged(): void {
    this.#change.fire()
  }

  /** Hides a deleted session until its agent lists it again. */
  forget(agentId: string, sessionId: string): void {
    const agent = this.#options.runners.peek(agentId)?.running?.agent
    if (agent) this.#listings.get(agent)?.listing.forget(sessionId)
    this.#change.fire()
  }

  #agentsChanged(): void {
    const running = new Set<Agent>()
    for (const { agentId, name } of this.#options.agents.list()) {
      const agent = this.#options.runners.peek(agentId)?.running?.agent
      if (!agent) continue
      running.add(agent)
      this.#options.records.agentRuns(agentId, { ...agent.capabilities, name })
      if (!this.#listings.has(agent)) void this.#ask(agent, 'refresh', false)
    }
    for (const [agent, entry] of this.#listings) {
      if (running.has(agent)) continue
      entry.paging?.abort()
      this.#listings.delete(agent)
    }
    this.#change.fire()
  }

  /** Requests a page of an agent's sessions. `all`: also requests the other pages, in the background. */
  async #ask(agent: Agent, how: HowToAsk, all: boolean): Promise<void> {
    if (!agent.capabilities.list) return
    let entry = this.#listings.get(agent)
    entry ??= {
      listing: this.#options.listingOf(agent),
      statuses: new SessionStatuses(agent, () => this.#change.fire()),
      loading: false,
      wantsAll: false,
    }
    this.#listings.set(agent, entry)
    entry.wantsAll ||= all
    if (entry.loading || (how === 'update' && entry.paging)) return
    entry.paging?.abort()
    entry.paging = undefined
    entry.loading = true
    entry.failure = undefined
    this.#change.fire()
    const { listing } = entry
    await this.#request(entry, how)
    entry.loading = false
    refreshStatuses(entry)
    if (entry.wantsAll && listing.hasMore && !entry.failure) void this.#askForRest(entry)
    this.#change.fire()
  }

  /** Requests the other pages until there are no more, a request fails, or the list is requested again. */
  async #askForRest(entry: AgentListing): Promise<void> {
    const { listing } = entry
    const paging = new AbortController()
    entry.paging = paging
    entry.wantsAll = false
    let reportedAt = performance.now()
    while (listing.hasMore && !entry.failure && !paging.signal.aborted) {
      await this.#request(entry, 'more', paging.signal)
      if (performance.now() - reportedAt < PAGING_NEWS_MS) continue
      this.#change.fire()
      reportedAt = performance.now()
    }
    if (entry.paging !== paging) return
    entry.paging = undefined
    refreshStatuses(entry)
    this.#change.fire()
  }

  /** Requests one page. Some agents never answer: after a while, the list reports this and offers to retry. Never rejects. */
  async #request(entry: AgentListing, how: HowToAsk, givenUp?: AbortSignal): Promise<void> {
    const ms = this.#options.slowAfterMs ?? LIST_SESSIONS_MS
    const late = AbortSignal.timeout(ms)
    try {
      await entry.listing[how](givenUp ? AbortSignal.any([late, givenUp]) : late)
    } catch (error) {
      if (givenUp?.aborted) return
      const message = late.aborted
        ? l10n.t("The agent hasn't responded for {0} seconds.", Math.round(ms / 1000))
        : messageOf(error)
      entry.failure = { message, wantsSignIn: isSignInAsked(error) }
    }
  }
}

/** Maps each session whose conversation continues in another listed session to that session. */
function currentSessions(items: readonly HistoryItem[]): Map<HistoryItem, HistoryItem> {
  const current = new Map<HistoryItem, HistoryItem>()
  const continued = items.filter(({ continuedIn, open }) => continuedIn && !open)
  if (continued.length === 0) return current
  const byKey = new Map(items.map(item => [sessionKey(item.agentId, item.sessionId), item]))
  for (const item of continued) {
    const nextOf = ({ open, continuedIn: next }: HistoryItem) =>
      open || !next ? undefined : byKey.get(sessionKey(next.agentId, next.sessionId))
    let to = item
    let steps = 0
    for (let next = nextOf(item); next && steps <= continued.length; next = nextOf(next), steps++) to = next
    // stored references may form a circle
    if (to !== item && steps <= continued.length) current.set(item, to)
  }
  return current
}

/** Returns an agent's sessions, with the current state of sessions that are open in this window. */
function withOpen(known: KnownSessions, opened: readonly OpenSession[]): HistoryItem[] {
  const open = new Map<string, HistoryItem | undefined>()
  for (const { session, plan } of opened) {
    const { sessionId, state } = session
    const before = known.get(sessionId)
    const item = known.with(
      { sessionId, cwd: plan.setup.cwd, title: titleOf(session) },
      {
        ...{ open: true, activity: state.activity, canClose: true },
        updatedAt: latest(before?.updatedAt, state.updatedAt, lastHappened(state)),
      },
    )
    const isUsed = state.activity !== 'idle' || state.entries.some(({ kind }) => kind === 'message')
    open.set(sessionId, item && (isUsed || !known.isUnused(item)) ? item : undefined)
  }
  const items = known.listed.flatMap(item => {
    if (!open.has(item.sessionId)) return item
    const here = open.get(item.sessionId)
    open.delete(item.sessionId)
    return here ?? []
  })
  return [...items, ...[...open.values()].filter(item => item !== undefined)]
}

function refreshStatuses({ statuses, listing }: AgentListing): void {
  statuses.refresh(listing.sessions.slice(0, MAX_STATUSES).map(({ sessionId }) => sessionId))
}

/** Returns when a session was last active in this window: agents report it late or never. Replayed entries have no time. */
function lastHappened({ entries, turnStartedAt }: SessionState): number | undefined {
  const last = entries.at(-1)
  return latest(turnStartedAt, last?.startedAt, last?.endedAt)
}

function latest(...times: Array<number | undefined>): number | undefined {
  const known = times.filter(time => time !== undefined)
  return known.length > 0 ? Math.max(...known) : undefined
}

/** Number of an agent's latest sessions whose status is requested, since a list may have thousands of sessions. */
const MAX_STATUSES = 50

/**
 * The statuses of an agent's sessions, requested one after the other so that the agent can work in between. After a failure, no more
 * statuses are requested; an unknown session isn't a failure.
 */
export class SessionStatuses {
  readonly #agent: Agent
  readonly #changed: () => void
  #known: ReadonlyMap<string, SessionStatus> = new Map()
  #wanted: string[] = []
  #asking = false
  #failed = false

  constructor(agent: Agent, changed: () => void) {
    this.#agent = agent
    this.#changed = changed
  }

  /** The statuses by session id; the same object until a status changes. */
  get all(): ReadonlyMap<string, SessionStatus> {
    return this.#known
  }

  /** Requests the statuses of the first {@link MAX_STATUSES} of these sessions. Drops earlier requests that weren't sent yet. */
  refresh(sessionIds: readonly string[]): void {
    if (!this.#agent.capabilities.sessionStatus || this.#failed) return
    this.#wanted = sessionIds.slice(0, MAX_STATUSES)
    if (!this.#asking) void this.#ask()
  }

  async #ask(): Promise<void> {
    this.#asking = true
    try {
      for (let next = this.#wanted.shift(); next !== undefined; next = this.#wanted.shift()) {
        const reported = await this.#requestStatus(next)
        const before = this.#known.get(next)
        if (before?.status === reported?.status && before?.activity === reported?.activity) continue
        const known = new Map(this.#known)
        if (reported) known.set(next, reported)
        else known.delete(next)
        this.#known = known
        this.#changed()
      }
    } catch {
      this.#failed = true
    } finally {
      this.#asking = false
    }
  }

  /** Resolves to `undefined` if the agent doesn't know the session. */
  async #requestStatus(sessionId: string): Promise<SessionStatus | undefined> {
    try {
      return await this.#agent.sessionStatus?.(sessionId)
    } catch (error) {
      if (error instanceof AgentRequestError && error.kind === 'not-found') return undefined
      throw error
    }
  }
}

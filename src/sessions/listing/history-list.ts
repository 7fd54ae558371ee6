import * as l10n from '@vscode/l10n'
import { type Agent, AgentRequestError } from '../../acp/agent.ts'
import type { SessionInfo } from '../../acp/model.ts'
import { Owner } from '../../common/disposable.ts'
import { messageOf } from '../../common/errors.ts'
import { Emitter } from '../../common/event.ts'
import { LIST_SESSIONS_MS } from '../../common/limits.ts'
import { sessionKey } from '../../common/session-key.ts'
import type { SessionActivity, SessionState } from '../../conversation/state.ts'
import { isSignInAsked } from '../failures.ts'
import type { SessionReference } from '../open-session.ts'
import type { AgentDirectory, SessionRecords } from '../ports.ts'
import type { AgentRunners } from '../runners/agent-runners.ts'
import type { SessionManager } from '../session-manager.ts'
import { titleOf } from '../session-title.ts'
import type { SessionDeletions } from './session-deletions.ts'
import type { SessionOrganizer } from './session-organizer.ts'

/** The pages of one agent's list of sessions. */
export interface Listing {
  readonly sessions: readonly SessionInfo[]
  readonly hasMore: boolean
  /** These are all sessions that the agent has. */
  readonly isWhole: boolean
  /** Lists again from the first page. Rejects with the agent's error, or when `signal` aborts. */
  refresh(signal?: AbortSignal): Promise<void>
  /** Lists only what is new, if all sessions are known. Rejects as `refresh` does. */
  update(signal?: AbortSignal): Promise<void>
  /** The next page. Rejects as `refresh` does. */
  more(signal?: AbortSignal): Promise<void>
  /** The session was deleted. */
  forget(sessionId: string): void
}

export interface HistoryItem extends SessionReference {
  agentName: string
  /** milliseconds since the epoch */
  updatedAt?: number
  /** earlier and other titles by which it can be found */
  formerTitles?: string[]
  /** open in this window */
  open: boolean
  activity?: SessionActivity
  /** what the agent reports about one that isn't open in this window */
  status?: SessionStatus
  /** The session is archived. */
  archived: boolean
  /** It is first in lists. */
  pinned: boolean
  /** The agent has listed all of its sessions, and this isn't one of them. `saved`: Parley has a copy. */
  unlisted?: 'saved' | 'gone'
  canLoad: boolean
  canResume: boolean
  canClose: boolean
  /** the agent runs and can, or Parley has saved something of it */
  canDelete: boolean
  /** Only what Parley has saved can be deleted: the agent keeps its own. */
  deletesCopy: boolean
  /** the agent runs and can */
  canFork: boolean
  /** the agent runs and can */
  canArchive: boolean
}

export interface HistoryAgent {
  agentId: string
  name: string
  state: 'loading' | 'listed' | 'cannot-list' | 'failed' | 'sign-in' | 'not-started'
  message?: string
  /** there are more pages, and nobody has requested them yet */
  more: boolean
  /** The other pages are being requested. */
  paging: boolean
}

export interface HistoryListOptions {
  agents: AgentDirectory
  runners: AgentRunners
  manager: SessionManager
  records: SessionRecords
  organizer: SessionOrganizer
  deletions: Pick<SessionDeletions, 'has' | 'onDidChange'>
  /** Parley saved at least a part of the conversation, which can be read whatever the agent supports. */
  isKept: (agentId: string, sessionId: string) => boolean
  listingOf: (agent: Agent) => Listing
  /** How long an agent may take to list before the user can retry. Milliseconds. */
  slowAfterMs?: number
}

type HowToAsk = 'refresh' | 'update' | 'more'

interface AgentListing {
  listing: Listing
  statuses: SessionStatuses
  /** A request of the user or of a view is under way. */
  loading: boolean
  /** All pages are wanted: they're requested in the background, one after the other. */
  wantsAll: boolean
  /** Ends the requests in the background. */
  paging?: AbortController
  failure?: { message: string; wantsSignIn: boolean }
}

/** How often the list changes while pages arrive in the background. Milliseconds. */
const PAGING_NEWS_MS = 1000

/**
 * All known sessions: those that running agents list, those that Parley opened, and those that are open now. Agents are
 * started for this only on the user's request.
 */
export class HistoryList extends Owner {
  readonly #options: HistoryListOptions
  readonly #listings = new Map<Agent, AgentListing>()
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

  items(): HistoryItem[] {
    const items = new Map<string, HistoryItem>()
    const created = new Map<string, number>()
    for (const { agentId, name } of this.#agentsWithSessions()) {
      const agent = this.#options.runners.peek(agentId)?.running?.agent
      const known = agent?.capabilities ?? this.#options.records.agent(agentId)
      const can = this.#options.agents.get(agentId) ? known : undefined
      const add = (
        reference: Pick<SessionReference, 'sessionId' | 'cwd' | 'title' | 'additionalDirectories'>,
        more: Partial<HistoryItem>,
      ) => {
        const key = sessionKey(agentId, reference.sessionId)
        const known = items.get(key)
        items.set(key, {
          agentId,
          agentName: name,
          sessionId: reference.sessionId,
          cwd: reference.cwd,
          additionalDirectories: reference.additionalDirectories ?? known?.additionalDirectories ?? [],
          title: reference.title ?? known?.title,
          formerTitles: known?.formerTitles,
          updatedAt: known?.updatedAt,
          open: false,
          archived: known?.archived ?? false,
          pinned: known?.pinned ?? false,
          canLoad: can?.load ?? false,
          canResume: can?.resume ?? false,
          canClose: false,
          canDelete: known?.canDelete ?? agent?.capabilities.delete ?? false,
          deletesCopy: known?.deletesCopy ?? false,
          canFork: agent?.capabilities.fork ?? false,
          canArchive: agent?.capabilities.archive ?? false,
          ...more,
        })
      }
      const given = new Map<string, string>()
      for (const record of this.#options.records.list(agentId)) {
        const { sessionId, givenTitle, updatedAt, archived = false, pinned = false } = record
        const deletesCopy = !agent?.capabilities.delete
        created.set(sessionKey(agentId, sessionId), record.createdAt)
        if (givenTitle !== undefined) given.set(sessionId, givenTitle)
        const titles = [...(record.formerTitles ?? []), ...(record.title === undefined ? [] : [record.title])]
        add(record, { updatedAt, archived, pinned, canDelete: true, deletesCopy, formerTitles: titles })
      }
      const listed = agent && this.#listings.get(agent)
      for (const info of listed?.listing.sessions ?? []) {
        const { sessionId, updatedAt, archived } = info
        const status = listed?.statuses.get(sessionId)
        add(info, {
          ...(updatedAt !== undefined && { updatedAt }),
          ...(archived !== undefined && { archived }),
          ...(status && { status }),
        })
      }
      if (listed?.listing.isWhole) {
        const ids = new Set(listed.listing.sessions.map(({ sessionId }) => sessionId))
        for (const item of items.values())
          if (item.agentId === agentId && !ids.has(item.sessionId)) item.unlisted = 'gone'
      }
      for (const open of this.#options.manager.list()) {
        if (open.agentId !== agentId) continue
        const { session, plan } = open
        const known = items.get(sessionKey(agentId, session.sessionId))?.updatedAt
        add(
          { sessionId: session.sessionId, cwd: plan.setup.cwd, title: titleOf(session) },
          {
            open: true,
            activity: session.state.activity,
            canClose: true,
            updatedAt: latest(known, session.state.updatedAt, lastHappened(session.state)),
          },
        )
      }
      for (const [sessionId, title] of given) {
        const item = items.get(sessionKey(agentId, sessionId))
        if (item) item.title = title
      }
    }
    for (const item of items.values()) {
      const { agentId, sessionId } = item
      const key = sessionKey(agentId, sessionId)
      if (this.#options.deletions.has(agentId, sessionId) || this.#isUnused(item, created.get(key))) {
        items.delete(key)
        continue
      }
      if (item.open) item.unlisted = undefined
      else if (item.unlisted && this.#options.isKept(agentId, sessionId)) item.unlisted = 'saved'
      if (item.canLoad || item.canResume || item.open) continue
      item.canLoad = this.#options.isKept(agentId, sessionId)
      // sessions of an agent that is no longer available can't be restored
      const isGone = !this.#options.agents.get(agentId)
      if (isGone && !item.canLoad) items.delete(key)
    }
    return [...items.values()]
  }

  /** Nothing was ever sent to it, as far as Parley knows, so a new session is the same. `createdAt`: by Parley. */
  #isUnused(
    { agentId, sessionId, title, pinned, updatedAt }: HistoryItem,
    createdAt: number | undefined,
  ): boolean {
    if (title?.trim() || pinned) return false
    const { manager, isKept } = this.#options
    // the agent had it before
    const isForeign = createdAt === undefined || (updatedAt !== undefined && updatedAt < createdAt)
    const session = manager.find(agentId, sessionId)?.session
    if (session?.state.entries.some(({ kind }) => kind === 'message')) return false
    if (session && session.state.activity !== 'idle') return false
    return !isForeign && !isKept(agentId, sessionId)
  }

  /** Agents that can be started, and removed ones with saved conversations. */
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
    return this.items().find(item => item.agentId === agentId && item.sessionId === sessionId)
  }

  /**
   * Lists all sessions of all running agents again: the first pages at once, the others in the background. Resolves when
   * all agents have answered; never rejects.
   */
  async refresh(): Promise<void> {
    await this.#askAll('refresh', true)
  }

  /** The same, but what was listed a short time ago isn't listed again. */
  async update(): Promise<void> {
    await this.#askAll('update', true)
  }

  /** Lists only the latest sessions of all running agents. Resolves when all have answered; never rejects. */
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

  /** Starts the agent, to list its sessions. Rejects with `AgentStartError`. */
  async start(agentId: string, signal?: AbortSignal): Promise<void> {
    const { agent } = await this.#options.runners.get(agentId).ensure(signal)
    await this.#ask(agent, 'refresh', true)
  }

  /** Sessions were added to the records. */
  recordsChanged(): void {
    this.#change.fire()
  }

  /** The session was deleted: it isn't shown until its agent lists it again. */
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

  /** `all`: also the other pages, in the background. */
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

  /** Requests the other pages, until there are none, an agent fails, or the list is requested again. */
  async #askForRest(entry: AgentListing): Promise<void> {
    const { listing } = entry
    const paging = new AbortController()
    entry.paging = paging
    entry.wantsAll = false
    let told = performance.now()
    while (listing.hasMore && !entry.failure && !paging.signal.aborted) {
      await this.#request(entry, 'more', paging.signal)
      if (performance.now() - told < PAGING_NEWS_MS) continue
      this.#change.fire()
      told = performance.now()
    }
    if (entry.paging !== paging) return
    entry.paging = undefined
    refreshStatuses(entry)
    this.#change.fire()
  }

  /** Some agents never answer: after a while the list says so and offers to retry. Never rejects. */
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

function refreshStatuses({ statuses, listing }: AgentListing): void {
  statuses.refresh(listing.sessions.slice(0, MAX_STATUSES).map(({ sessionId }) => sessionId))
}

/** The time of the last activity of a session in this window: agents report it late or never. Replayed entries have no time. */
function lastHappened({ entries, turnStartedAt }: SessionState): number | undefined {
  const last = entries.at(-1)
  return latest(turnStartedAt, last?.startedAt, last?.endedAt)
}

function latest(...times: Array<number | undefined>): number | undefined {
  const known = times.filter(time => time !== undefined)
  return known.length > 0 ? Math.max(...known) : undefined
}

/** Number of an agent's latest sessions whose state is requested, since a list may have thousands. */
const MAX_STATUSES = 50

/** What an agent reports about a session that isn't open in this window. */
interface SessionStatus {
  /** `open`: it is loaded in the agent, for another client; `saved`: it's only in its store */
  status: string
  activity?: string
}

/**
 * The states of an agent's sessions, requested one after the other so that the agent has time for its work. After a
 * failure, no more are requested; an unknown session isn't a failure.
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

  /** Requests the states of the first of these sessions, up to a limit. Pending earlier requests are dropped. */
  refresh(sessionIds: readonly string[]): void {
    if (!this.#agent.capabilities.sessionStatus || this.#failed) return
    this.#wanted = sessionIds.slice(0, MAX_STATUSES)
    if (!this.#asking) void this.#ask()
  }

  async #ask(): Promise<void> {
    this.#asking = true
    try {
      for (let next = this.#wanted.shift(); next !== undefined; next = this.#wanted.shift()) {
        const reported = await this.#statusOf(next)
        const before = this.#known.get(next)
        if (before?.status === reported?.status && before?.activity === reported?.activity) continue
        if (reported) this.#known.set(next, reported)
        else this.#known.delete(next)
        this.#changed()
      }
    } catch {
      this.#failed = true
    } finally {
      this.#asking = false
    }
  }

  /** `undefined`: the agent doesn't know the session. */
  async #statusOf(sessionId: string): Promise<SessionStatus | undefined> {
    try {
      return await this.#agent.sessionStatus?.(sessionId)
    } catch (error) {
      if (error instanceof AgentRequestError && error.kind === 'not-found') return undefined
      throw error
    }
  }
}

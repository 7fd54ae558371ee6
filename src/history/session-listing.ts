import type { Agent } from '../acp/agent.ts'
import type { SessionInfo } from '../acp/model.ts'
import { newestFirst } from '../common/date-groups.ts'
import { RELIST_SESSIONS_MS } from '../common/limits.ts'

export interface SessionListingOptions {
  /** Lists only sessions of this directory, if the agent supports the filter. */
  cwd?: string
  /** For agents that can archive: whether to include archived sessions; if absent, the agent decides. */
  archived?: 'exclude' | 'include' | 'only'
  /** the maximum number of listed sessions */
  maxSessions?: number
  /** maximum number of pages without new sessions that are skipped */
  maxBarrenPages?: number
  now?: () => number
}

/** The part of an agent that is needed for listing. */
export type ListingAgent = Pick<Agent, 'listSessions'>

interface Pages {
  byId: Map<string, SessionInfo>
  /** cursors that were used, to detect an endless loop */
  cursors: Set<string>
  next: string | undefined
  /** whether the agent reported the last page */
  isWhole: boolean
}

/**
 * An agent's list of its sessions, page by page, the newest first. Duplicate sessions are merged: the later `updatedAt`
 * wins, and a title isn't replaced by a missing one. Ends when an agent's cursor repeats.
 */
export class SessionListing {
  readonly #agent: ListingAgent
  readonly #options: Required<Pick<SessionListingOptions, 'maxSessions' | 'maxBarrenPages' | 'now'>> &
    SessionListingOptions
  #pages: Pages = noPages()
  /** An earlier list, shown until the agent has listed everything again. */
  #before: ReadonlyMap<string, SessionInfo> = new Map()
  /** When the agent had listed everything, in milliseconds since the epoch. */
  #wholeAt = 0
  /** The sessions that were deleted since the current request began: the response to it may still list them. */
  readonly #forgotten = new Set<string>()
  #sorted: SessionInfo[] | undefined
  #work: Promise<void> = Promise.resolve()

  constructor(agent: ListingAgent, options: SessionListingOptions = {}) {
    this.#agent = agent
    this.#options = { maxSessions: 50_000, maxBarrenPages: 10, now: Date.now, ...options }
  }

  /** The sessions listed so far, newest first, sessions without a time last. */
  get sessions(): readonly SessionInfo[] {
    this.#sorted ??= [...new Map([...this.#before, ...this.#pages.byId]).values()].sort(newestFirst)
    return this.#sorted
  }

  /** Whether there is another page. */
  get hasMore(): boolean {
    return this.#pages.next !== undefined
  }

  /** Whether `sessions` contains all sessions of the agent. */
  get isWhole(): boolean {
    return this.#pages.isWhole
  }

  /**
   * Lists from the first page again. The earlier list stays until the last page was listed, or if a request fails. Rejects with the agent's
   * error.
   */
  refresh(signal?: AbortSignal): Promise<void> {
    return this.#inTurn(async () => {
      const pages = noPages()
      await this.#read(pages, undefined, signal)
      this.#begin(pages)
    })
  }

  /**
   * Lists only new sessions if a complete list is recent: reads pages until one contains a known session. Agents list the newest sessions
   * first; sessions that this method misses are found when the list expires. Otherwise like `refresh`.
   */
  update(signal?: AbortSignal): Promise<void> {
    return this.#inTurn(async () => {
      const { now } = this.#options
      const canUpdate = this.#pages.isWhole && now() - this.#wholeAt < RELIST_SESSIONS_MS
      const pages = noPages()
      let page = await this.#read(pages, undefined, signal)
      while (canUpdate && pages.next !== undefined && !page.every(session => this.#isKnown(session)))
        page = await this.#read(pages, pages.next, signal)
      if (!canUpdate || pages.next === undefined) this.#begin(pages)
      else
        for (const session of pages.byId.values())
          this.#pages.byId.set(session.sessionId, this.#titled(session))
      this.#sorted = undefined
    })
  }

  /** Lists the next page, if there is one. Rejects with the agent's error; the call can be repeated. */
  more(signal?: AbortSignal): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#pages.next === undefined) return
      await this.#read(this.#pages, this.#pages.next, signal)
      this.#ended()
    })
  }

  /** Removes a deleted session from the list. */
  forget(sessionId: string): void {
    this.#forgotten.add(sessionId)
    this.#pages.byId.delete(sessionId)
    this.#before = new Map([...this.#before].filter(([id]) => id !== sessionId))
    this.#sorted = undefined
  }

  #begin(pages: Pages): void {
    this.#before = new Map([...this.#before, ...this.#pages.byId])
    this.#pages = pages
    this.#ended()
  }

  /** Updates the state after a request: if there is no next page, the list is complete. */
  #ended(): void {
    this.#sorted = undefined
    if (this.#pages.next !== undefined) return
    this.#before = new Map()
    if (this.#pages.isWhole) this.#wholeAt = this.#options.now()
  }

  /** The session, with its known title if the agent sends none. */
  #titled(session: SessionInfo): SessionInfo {
    const title = this.#pages.byId.get(session.sessionId)?.title
    return session.title?.trim() || title === undefined ? session : { ...session, title }
  }

  #isKnown(session: SessionInfo): boolean {
    const known = this.#pages.byId.get(session.sessionId)
    return (
      known !== undefined &&
      known.updatedAt === session.updatedAt &&
      known.archived === session.archived &&
      (known.title === session.title || !session.title?.trim())
    )
  }

  /** Runs requests one after the other. */
  #inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.#work.then(async () => {
      this.#forgotten.clear()
      try {
        await work()
      } finally {
        for (const sessionId of this.#forgotten) this.#pages.byId.delete(sessionId)
        this.#sorted = undefined
      }
    })
    this.#work = done.catch(() => {})
    return done
  }

  /** Reads a page, and further pages as long as they contain nothing new. Returns the sessions of the last page. */
  async #read(
    pages: Pages,
    from: string | undefined,
    signal: AbortSignal | undefined,
  ): Promise<readonly SessionInfo[]> {
    const { cwd, archived, maxSessions, maxBarrenPages } = this.#options
    let cursor = from
    for (let barren = 0; barren < maxBarrenPages; barren++) {
      const page = await this.#agent.listSessions(
        {
          ...(cwd !== undefined && { cwd }),
          ...(cursor !== undefined && { cursor }),
          ...(archived !== undefined && { archived }),
        },
        signal,
      )
      if (cursor !== undefined) pages.cursors.add(cursor)
      const found = merge(pages.byId, page.sessions)
      const next = page.nextCursor
      pages.isWhole = next === undefined || next === ''
      const leadsOn = !pages.isWhole && !pages.cursors.has(next ?? '')
      pages.next = leadsOn && pages.byId.size < maxSessions ? next : undefined
      if (found || pages.next === undefined) return page.sessions
      cursor = pages.next
    }
    // After `maxBarrenPages` pages without new sessions, no more are expected.
    pages.next = undefined
    return []
  }
}

function noPages(): Pages {
  return { byId: new Map(), cursors: new Set(), next: undefined, isWhole: false }
}

/** Adds the sessions. Returns whether any of them was new. */
function merge(byId: Map<string, SessionInfo>, sessions: readonly SessionInfo[]): boolean {
  let found = false
  for (const session of sessions) {
    const known = byId.get(session.sessionId)
    if (known) byId.set(session.sessionId, mergeOne(known, session))
    else {
      byId.set(session.sessionId, session)
      found = true
    }
  }
  return found
}

function mergeOne(known: SessionInfo, again: SessionInfo): SessionInfo {
  const [older, newer] = newestFirst(known, again) < 0 ? [again, known] : [known, again]
  const merged = { ...older, ...newer }
  const title = newer.title?.trim() ? newer.title : older.title
  if (title !== undefined) merged.title = title
  return merged
}

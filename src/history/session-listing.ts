import type { Agent } from '../acp/agent.ts'
import type { SessionInfo } from '../acp/model.ts'
import { newestFirst } from '../common/date-groups.ts'

export interface SessionListingOptions {
  /** Only sessions of this directory, if the agent supports the filter. */
  cwd?: string
  /** For agents that can archive: whether to include archived sessions; if absent, the agent decides. */
  archived?: 'exclude' | 'include' | 'only'
  /** the maximum number of listed sessions */
  maxSessions?: number
  /** maximum number of pages without new sessions that are skipped */
  maxBarrenPages?: number
}

/** The part of an agent that is needed for listing. */
export type ListingAgent = Pick<Agent, 'listSessions'>

interface Pages {
  byId: Map<string, SessionInfo>
  /** cursors that were used, to detect an endless loop */
  cursors: Set<string>
  next: string | undefined
}

/**
 * An agent's list of its sessions, page by page, the newest first. Duplicate sessions are merged: the later `updatedAt`
 * wins, and a title isn't replaced by a missing one. Ends when an agent's cursor repeats.
 */
export class SessionListing {
  readonly #agent: ListingAgent
  readonly #options: Required<Pick<SessionListingOptions, 'maxSessions' | 'maxBarrenPages'>> &
    SessionListingOptions
  #pages: Pages = { byId: new Map(), cursors: new Set(), next: undefined }
  #sorted: SessionInfo[] | undefined
  #work: Promise<void> = Promise.resolve()

  constructor(agent: ListingAgent, options: SessionListingOptions = {}) {
    this.#agent = agent
    this.#options = { maxSessions: 5000, maxBarrenPages: 10, ...options }
  }

  /** The sessions listed so far, newest first, those without a time last. */
  get sessions(): readonly SessionInfo[] {
    this.#sorted ??= [...this.#pages.byId.values()].sort(newestFirst)
    return this.#sorted
  }

  /** Whether there is another page. */
  get hasMore(): boolean {
    return this.#pages.next !== undefined
  }

  /**
   * Refreshes the list up to its current length, at least one page. Until then, and if it fails, the old list stays.
   * Rejects with the agent's error.
   */
  refresh(signal?: AbortSignal): Promise<void> {
    return this.#inTurn(async () => {
      const before = this.#pages.byId.size
      const pages: Pages = { byId: new Map(), cursors: new Set(), next: undefined }
      await this.#read(pages, undefined, signal)
      while (pages.next !== undefined && pages.byId.size < before) await this.#read(pages, pages.next, signal)
      this.#pages = pages
      this.#sorted = undefined
    })
  }

  /** Lists the next page, if there is one. Rejects with the agent's error; the call can be repeated. */
  more(signal?: AbortSignal): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#pages.next === undefined) return
      await this.#read(this.#pages, this.#pages.next, signal)
      this.#sorted = undefined
    })
  }

  /** Runs requests one after the other. */
  #inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.#work.then(work)
    this.#work = done.catch(() => {})
    return done
  }

  /** Reads a page, and further pages as long as they contain nothing new. */
  async #read(pages: Pages, from: string | undefined, signal: AbortSignal | undefined): Promise<void> {
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
      const leadsOn = next !== undefined && next !== '' && !pages.cursors.has(next)
      pages.next = leadsOn && pages.byId.size < maxSessions ? next : undefined
      if (found || pages.next === undefined) return
      cursor = pages.next
    }
    // After this many pages without new sessions, no more are expected.
    pages.next = undefined
  }
}

/** Whether any of the sessions was new. */
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

import { isDeepStrictEqual } from 'node:util'
import type { AgentCapabilities, SessionInfo } from '../../acp/model.ts'
import { sessionKey } from '../../common/session-key.ts'
import type { LocalSession } from '../../history/session-store.ts'
import type { HistoryItem, SessionStatus } from './history-item.ts'

/** The sources of an agent's sessions. Each part stays the same object until it changes. */
export interface SessionSources {
  agentName: string
  /** Whether the agent can be started. */
  isAvailable: boolean
  /** capabilities of the running agent */
  running: AgentCapabilities | undefined
  /** whether the agent can load sessions, even if it doesn't run now; likewise `canResume` */
  canLoad: boolean
  canResume: boolean
  records: readonly LocalSession[]
  listed: readonly SessionInfo[]
  /** Whether the agent has listed all of its sessions. */
  isWhole: boolean
  statuses: ReadonlyMap<string, SessionStatus>
  /** keys of the sessions of which Parley saved at least a part of the conversation */
  savedKeys: ReadonlySet<string>
}

/**
 * The sessions of one agent, without the state of sessions that are open in this window. An item stays the same object until its session
 * changes: a list of thousands is requested with every change of an open session, and with every page that the agent lists.
 */
export class KnownSessions {
  readonly #agentId: string
  #sources: SessionSources | undefined
  /** all sessions by id, including those that lists don't show */
  readonly #all = new Map<string, HistoryItem>()
  /** by session id */
  readonly #records = new Map<string, LocalSession>()
  #listed: HistoryItem[] = []

  constructor(agentId: string) {
    this.#agentId = agentId
  }

  /** The sessions to list, unless they're open. */
  get listed(): readonly HistoryItem[] {
    return this.#listed
  }

  /** All sessions, including those that lists don't show. */
  all(): IterableIterator<HistoryItem> {
    return this.#all.values()
  }

  get(sessionId: string): HistoryItem | undefined {
    return this.#all.get(sessionId)
  }

  update(sources: SessionSources): void {
    const before = this.#sources
    const keys = Object.keys(sources) as Array<keyof SessionSources>
    if (before && keys.every(key => before[key] === sources[key])) return
    this.#sources = sources
    const earlier = new Map(this.#all)
    this.#all.clear()
    this.#records.clear()
    for (const record of sources.records) this.#addRecord(record, sources)
    for (const info of sources.listed) this.#addListed(info, sources)
    for (const [sessionId, { givenTitle }] of this.#records) {
      const item = givenTitle === undefined ? undefined : this.#all.get(sessionId)
      if (item) item.title = givenTitle
    }
    this.#note(sources)
    for (const [sessionId, item] of this.#all) {
      const before = earlier.get(sessionId)
      if (before && isSame(before, item)) this.#all.set(sessionId, before)
    }
    this.#listed = [...this.#all.values()].filter(
      item => (sources.isAvailable || item.canLoad) && !this.isUnused(item),
    )
  }

  /** Whether the session is like a new one, without prompts, as far as Parley knows. */
  isUnused({ sessionId, title, pinned, updatedAt }: HistoryItem): boolean {
    if (title?.trim() || pinned) return false
    const createdAt = this.#records.get(sessionId)?.createdAt
    // the agent had the session before Parley knew it
    const isForeign = createdAt === undefined || (updatedAt !== undefined && updatedAt < createdAt)
    return !isForeign && !this.#sources?.savedKeys.has(sessionKey(this.#agentId, sessionId))
  }

  /** Adds a session with its known data and the title that the user set. */
  with(
    reference: Pick<HistoryItem, 'sessionId' | 'cwd' | 'title'>,
    more: Partial<HistoryItem>,
  ): HistoryItem | undefined {
    if (!this.#sources) return undefined
    const item = this.#item(reference, this.#sources, more)
    const given = this.#records.get(reference.sessionId)?.givenTitle
    if (given !== undefined) item.title = given
    return item
  }

  #addRecord(record: LocalSession, sources: SessionSources): void {
    const { sessionId, updatedAt, archived = false, pinned = false, formerTitles = [], title } = record
    this.#records.set(sessionId, record)
    const item = this.#item(record, sources, {
      ...{ updatedAt, archived, pinned, canDelete: true, deletesCopy: !sources.running?.delete },
      ...(record.continuedIn && { continuedIn: record.continuedIn }),
      formerTitles: title === undefined ? formerTitles : [...formerTitles, title],
    })
    this.#all.set(sessionId, item)
  }

  #addListed(info: SessionInfo, sources: SessionSources): void {
    const { sessionId, updatedAt, archived } = info
    const status = sources.statuses.get(sessionId)
    const item = this.#item(info, sources, {
      ...(updatedAt !== undefined && { updatedAt }),
      ...(archived !== undefined && { archived }),
      ...(status && { status }),
    })
    this.#all.set(sessionId, item)
  }

  /** Marks the sessions that the agent doesn't list. A saved conversation can be loaded without the agent. */
  #note({ listed, isWhole, savedKeys }: SessionSources): void {
    const ids = isWhole ? new Set(listed.map(({ sessionId }) => sessionId)) : undefined
    for (const item of this.#all.values()) {
      const { sessionId } = item
      const isSaved = () => savedKeys.has(sessionKey(this.#agentId, sessionId))
      if (ids && !ids.has(sessionId)) item.unlisted = isSaved() ? 'saved' : 'gone'
      if (!item.canLoad && !item.canResume) item.canLoad = isSaved()
    }
  }

  #item(
    reference: Pick<HistoryItem, 'sessionId' | 'cwd' | 'title'> & { additionalDirectories?: string[] },
    { agentName, running, canLoad, canResume }: SessionSources,
    more: Partial<HistoryItem>,
  ): HistoryItem {
    const { sessionId, cwd, title, additionalDirectories } = reference
    const before = this.#all.get(sessionId)
    return {
      ...{ agentId: this.#agentId, agentName, sessionId, cwd },
      additionalDirectories: additionalDirectories ?? before?.additionalDirectories ?? [],
      title: title ?? before?.title,
      formerTitles: before?.formerTitles,
      updatedAt: before?.updatedAt,
      open: false,
      archived: before?.archived ?? false,
      pinned: before?.pinned ?? false,
      canLoad,
      canResume,
      canClose: false,
      canDelete: before?.canDelete ?? running?.delete ?? false,
      deletesCopy: before?.deletesCopy ?? false,
      canFork: running?.fork ?? false,
      canArchive: running?.archive ?? false,
      ...(before?.continuedIn && { continuedIn: before.continuedIn }),
      ...more,
    }
  }
}

function isSame(before: HistoryItem, item: HistoryItem): boolean {
  const keys = Object.keys(item) as Array<keyof HistoryItem>
  const isEqual = (key: keyof HistoryItem) =>
    before[key] === item[key] || isDeepStrictEqual(before[key], item[key])
  return Object.keys(before).length === keys.length && keys.every(isEqual)
}

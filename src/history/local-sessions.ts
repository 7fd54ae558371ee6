import * as l10n from '@vscode/l10n'
import type { Disposable } from '../common/disposable.ts'
import { messageOf } from '../common/errors.ts'
import { type Logger, silentLogger } from '../common/logger.ts'
import type { SecretRegistry } from '../common/secrets.ts'
import { type SessionId, sessionKey } from '../common/session-key.ts'
import { MissingSqliteError, mayOpenLater, REOPEN_AFTER_MS, StorageTrouble } from './database.ts'
import {
  addTo,
  type DayUsage,
  type KnownAgent,
  type LocalSession,
  MemoryStore,
  type ModelUsage,
  type SessionSpan,
  type SessionStore,
  type SessionUsage,
  type UsageRecord,
} from './session-store.ts'
import { SqliteStore } from './sqlite-store.ts'
import type { StoredClock } from './stored-clock.ts'

export interface LocalSessionsOptions {
  /** the database's file; its directory is created */
  file: string
  /** Called when sessions can't be saved to disk. */
  trouble?: StorageTrouble
  log?: Logger
  now?: () => number
  /** The clock by which usage becomes too old to be shown; absent: it never does. */
  seenClock?: StoredClock
  /** The secrets to redact. */
  secrets?: SecretRegistry
  /** `node:sqlite`; `undefined` if this Node doesn't have it */
  sqlite?: typeof import('node:sqlite') | undefined
}

/** Number of days for which usage is stored: a year and a month. */
const MAX_USAGE_DAYS = 396
const DAY_MS = 86_400_000

/** Number of earlier titles that are stored for a session. */
const MAX_FORMER_TITLES = 10

/**
 * The sessions that Parley opened, with their titles, because some agents can't list sessions. Stored in a database that all windows share.
 * If the database can't be used (no SQLite, a full disk, a locked or damaged file), changes stay in memory until they can be written. No
 * method throws.
 */
export class LocalSessions implements Disposable {
  readonly #options: LocalSessionsOptions
  readonly #log: Logger
  readonly #trouble: StorageTrouble
  readonly #now: () => number
  #opened: SessionStore | undefined
  /** when the file couldn't be opened or written although a later attempt may succeed, in milliseconds since the epoch */
  #failedAt: number | undefined
  /** changes that aren't in the database yet, by the key of the changed data */
  readonly #unsaved = new Map<string, (store: SessionStore) => void>()
  /** a store that contains these changes, for reading */
  readonly #memory = new MemoryStore()
  /** keys of the sessions that this window deleted but that are still in the database */
  readonly #forgotten = new Set<string>()
  /** usage that isn't in the database yet */
  readonly #unsavedUsage = new Map<string, UsageRecord>()
  readonly #unsavedModels = new Map<string, ModelUsage>()
  #retryTimer: NodeJS.Timeout | undefined
  #isPruned = false
  #closed = false

  constructor(options: LocalSessionsOptions) {
    this.#options = options
    this.#log = options.log ?? silentLogger
    this.#trouble = options.trouble ?? new StorageTrouble(() => {})
    this.#now = options.now ?? Date.now
  }

  /** The ids of the agents with sessions. */
  agentIds(): string[] {
    return [...new Set([...this.#read(store => store.agentIds(), []), ...this.#memory.agentIds()])]
  }

  /** The agent's sessions, newest first. Returns the same object until a session changes, unless the disk can't be written. */
  list(agentId: string): readonly LocalSession[] {
    const stored = this.#read<readonly LocalSession[]>(store => store.list(agentId), [])
    const saved = this.#forgotten.size === 0 ? stored : stored.filter(session => !this.#isForgotten(session))
    const unsaved = this.#memory.list(agentId)
    if (unsaved.length === 0) return saved
    const sessions = new Map([...saved, ...unsaved].map(session => [session.sessionId, session]))
    return [...sessions.values()].sort((a, b) => b.updatedAt - a.updatedAt)
  }

  get(agentId: string, sessionId: string): LocalSession | undefined {
    const unsaved = this.#memory.get(agentId, sessionId)
    if (unsaved || this.#isForgotten({ agentId, sessionId })) return unsaved
    return this.#read(store => store.get(agentId, sessionId), undefined)
  }

  #isForgotten({ agentId, sessionId }: SessionId): boolean {
    return this.#forgotten.has(sessionKey(agentId, sessionId))
  }

  /** Keys of the sessions that the user pinned; `undefined` if they can't be read now. */
  pinned(): ReadonlySet<string> | undefined {
    const stored = this.#read<SessionId[] | undefined>(
      store => (store instanceof MemoryStore ? undefined : store.pinned()),
      undefined,
    )
    if (!stored) return undefined
    const keys = new Set(stored.map(({ agentId, sessionId }) => sessionKey(agentId, sessionId)))
    for (const agentId of this.#memory.agentIds())
      for (const { sessionId, pinned } of this.#memory.list(agentId)) {
        if (pinned) keys.add(sessionKey(agentId, sessionId))
        else keys.delete(sessionKey(agentId, sessionId))
      }
    return keys
  }

  /** Records that a session was created, loaded or resumed. Without a new title, the session keeps its title. */
  opened(
    agentId: string,
    session: Pick<
      LocalSession,
      'sessionId' | 'cwd' | 'additionalDirectories' | 'title' | 'systemPrompt' | 'place'
    >,
  ): void {
    const { sessionId, cwd, additionalDirectories, systemPrompt, place } = session
    const now = this.#now()
    // the session isn't only imported anymore, and its conversation doesn't continue in another session
    const {
      imported: _imported,
      continuedIn: _continuedIn,
      place: _place,
      ...known
    }: Partial<LocalSession> = this.get(agentId, sessionId) ?? {}
    this.#put({
      ...known,
      agentId,
      sessionId,
      cwd,
      additionalDirectories,
      ...(systemPrompt !== undefined && { systemPrompt }),
      ...(place && { place }),
      ...titled(session.title ?? known.title),
      createdAt: known.createdAt ?? now,
      updatedAt: now,
    })
  }

  /** Records activity in the session. Does nothing for a session that Parley didn't open. */
  touched(agentId: string, sessionId: string, title: string | undefined): void {
    const known = this.get(agentId, sessionId)
    if (!known) return
    this.#put({ ...known, ...titled(title ?? known.title), updatedAt: this.#now() })
  }

  /**
   * Records that the user renamed, archived or pinned a session, possibly one that Parley didn't open, or continued its conversation in
   * another session. Stores the title (empty for none), the agent's title, whether the session is archived or pinned, and the other
   * session. Doesn't change the time of the last activity.
   */
  noted(
    agentId: string,
    session: Pick<LocalSession, 'sessionId' | 'cwd' | 'title'> & { updatedAt?: number },
    said: Partial<Pick<LocalSession, 'title' | 'givenTitle' | 'archived' | 'pinned' | 'continuedIn'>>,
  ): void {
    const { sessionId, cwd, updatedAt } = session
    const now = this.#now()
    const known = this.get(agentId, sessionId) ?? {
      agentId,
      sessionId,
      cwd,
      additionalDirectories: [],
      ...titled(session.title),
      createdAt: updatedAt ?? now,
      updatedAt: updatedAt ?? now,
    }
    const { givenTitle, archived, pinned, ...rest } = { ...known, ...said }
    this.#put({
      ...rest,
      ...(givenTitle?.trim() ? { givenTitle: givenTitle.trim() } : {}),
      ...(archived ? { archived } : {}),
      ...(pinned ? { pinned } : {}),
    })
  }

  /** Adds a session from another machine, with the times of its activity there. A record that exists on this machine stays. */
  imported(session: LocalSession): void {
    if (!this.get(session.agentId, session.sessionId)) this.#put({ ...session, imported: true })
  }

  /** Removes a deleted session. */
  forget(agentId: string, sessionId: string): void {
    this.#memory.remove(agentId, sessionId)
    this.#forgotten.add(sessionKey(agentId, sessionId))
    this.#write(sessionKey(agentId, sessionId), store => store.remove(agentId, sessionId))
  }

  /** The agent's name and capabilities from its last run. */
  agent(agentId: string): KnownAgent | undefined {
    return this.#memory.agent(agentId) ?? this.#read(store => store.agent(agentId), undefined)
  }

  /** Records the name and capabilities of an agent that was started. */
  agentRuns(agentId: string, { name, list, load, resume, fork }: KnownAgent): void {
    const known = this.agent(agentId)
    const isKnown =
      known?.list === list && known.load === load && known.resume === resume && !known.fork === !fork
    if (isKnown && known.name === (name && this.#withoutSecrets(name))) return
    const agent = {
      ...(name !== undefined && { name: this.#withoutSecrets(name) }),
      list,
      load,
      resume,
      ...(fork && { fork }),
    }
    this.#memory.putAgent(agentId, agent)
    this.#write(agentId, store => store.putAgent(agentId, agent))
  }

  /** Adds to the usage of a session. */
  addUsage(record: UsageRecord): void {
    const { agentId, sessionId, day, currency } = record
    const key = JSON.stringify(['usage', agentId, sessionId, currency, day])
    addTo(this.#unsavedUsage, key, record)
    this.#write(key, store => {
      store.addUsage(this.#unsavedUsage.get(key) ?? record)
      this.#unsavedUsage.delete(key)
    })
    this.#pruneUsage()
  }

  /** Adds to the tokens of an agent's model. */
  addModelUsage(reported: ModelUsage): void {
    const usage = { ...reported, model: this.#withoutSecrets(reported.model) }
    const key = JSON.stringify(['model', usage.agentId, usage.model, usage.day])
    addTo(this.#unsavedModels, key, usage)
    this.#write(key, store => {
      store.addModelUsage(this.#unsavedModels.get(key) ?? usage)
      this.#unsavedModels.delete(key)
    })
  }

  /** Tokens of the agent's models on each day from `day` on. */
  modelUsage(agentId: string, day: string): ModelUsage[] {
    const sums = new MemoryStore()
    for (const usage of this.#read(store => store.modelUsage(agentId, day), [])) sums.addModelUsage(usage)
    for (const usage of this.#unsavedModels.values()) sums.addModelUsage(usage)
    return sums.modelUsage(agentId, day)
  }

  /** The agents' usage on each day from `day` on: a row for each currency, and one for tokens. */
  usage(day: string): DayUsage[] {
    const saved = this.#read(store => store.usage(day), [])
    const sums = new MemoryStore()
    for (const row of saved) sums.addUsage({ ...row, sessionId: '', mark: 0 })
    for (const record of this.#unsavedUsage.values()) sums.addUsage(record)
    return sums.usage(day)
  }

  /** The counted usage of a session: a row for each currency, and one for tokens. */
  sessionUsage(agentId: string, sessionId: string): SessionUsage[] {
    const saved = this.#read(store => store.sessionUsage(agentId, sessionId), [])
    const sums = new MemoryStore()
    for (const row of saved) sums.addUsage({ ...row, agentId, sessionId, day: '' })
    for (const record of this.#unsavedUsage.values()) sums.addUsage(record)
    return sums.sessionUsage(agentId, sessionId)
  }

  /** The total time of a session's turns, and the session's limit. */
  span(agentId: string, sessionId: string): SessionSpan | undefined {
    return (
      this.#memory.span(agentId, sessionId) ?? this.#read(store => store.span(agentId, sessionId), undefined)
    )
  }

  putSpan(session: SessionId, span: SessionSpan): void {
    this.#memory.putSpan(session, span)
    const key = JSON.stringify(['span', session.agentId, session.sessionId])
    this.#write(key, store => store.putSpan(session, span))
  }

  dispose(): void {
    if (this.#closed) return
    // this is the last chance to write, so don't wait after a failure
    this.#failedAt = undefined
    if (this.#unsaved.size > 0) this.#flush()
    this.#closed = true
    clearTimeout(this.#retryTimer)
    try {
      this.#opened?.close()
    } catch (error) {
      this.#log.warn(`The database of sessions couldn't be closed: ${messageOf(error)}`)
    }
  }

  /** Records the clock's time. Once per window, deletes usage records that are too old to be shown. */
  #pruneUsage(): void {
    const { seenClock } = this.#options
    seenClock?.look()
    if (!seenClock || this.#isPruned) return
    this.#isPruned = true
    const isOld = (day: string) => seenClock.ageOf(endOfDay(day)) > MAX_USAGE_DAYS * DAY_MS
    this.#write('prune', store => store.pruneUsage(isOld))
  }

  #put(wanted: LocalSession): void {
    const known = this.get(wanted.agentId, wanted.sessionId)
    const session = withFormerTitles(this.#redacted(wanted), known && this.#redacted(known))
    this.#memory.put(session)
    this.#write(sessionKey(session.agentId, session.sessionId), store => store.put(session))
  }

  /**
   * Redacts secrets, except in the ids and folders, which are needed to find the session again. A system prompt with a secret isn't stored
   * at all, since the agent would get a different one later.
   */
  #redacted({ systemPrompt, ...session }: LocalSession): LocalSession {
    const { title, givenTitle, formerTitles } = session
    const isPlain = !systemPrompt || systemPrompt.text === this.#withoutSecrets(systemPrompt.text)
    return {
      ...session,
      ...(title !== undefined && { title: this.#withoutSecrets(title) }),
      ...(givenTitle !== undefined && { givenTitle: this.#withoutSecrets(givenTitle) }),
      ...(formerTitles && { formerTitles: formerTitles.map(former => this.#withoutSecrets(former)) }),
      ...(systemPrompt !== undefined && isPlain && { systemPrompt }),
    }
  }

  #withoutSecrets(text: string): string {
    return this.#options.secrets?.redact(text) ?? text
  }

  #write(key: string, write: (store: SessionStore) => void): void {
    // Add it after the pending changes, so that the last change of a session is written last.
    this.#unsaved.delete(key)
    this.#unsaved.set(key, write)
    this.#flush()
  }

  #flush(): void {
    if (this.#closed) return
    clearTimeout(this.#retryTimer)
    try {
      const store = this.#store
      if (!store) return
      if (store.unwritable !== undefined) throw store.unwritable
      for (const [key, write] of this.#unsaved) {
        write(store)
        this.#unsaved.delete(key)
      }
      if (!(store instanceof MemoryStore)) this.#trouble.worked(this.#options.file)
      // Now the database contains all changes. It's the only source then, since other windows change it, too.
      this.#memory.clear()
      this.#forgotten.clear()
    } catch (error) {
      this.#failed(error)
    } finally {
      if (this.#unsaved.size > 0) this.#retryTimer = setTimeout(() => this.#flush(), REOPEN_AFTER_MS).unref()
    }
  }

  #read<T>(read: (store: SessionStore) => T, otherwise: T): T {
    if (this.#closed) return otherwise
    try {
      const store = this.#store
      return store ? read(store) : otherwise
    } catch (error) {
      this.#failed(error)
      return otherwise
    }
  }

  /**
   * The store, opened on first use, so that a window without a session doesn't wait for the disk. `undefined` if the database can't be
   * opened now; a store in memory if it can never be opened.
   */
  get #store(): SessionStore | undefined {
    const known = this.#opened
    if (known && known.unwritable === undefined) return known
    // the difference may be negative, since the clock may have been set back
    if (this.#failedAt !== undefined && Math.abs(this.#now() - this.#failedAt) < REOPEN_AFTER_MS) return known
    known?.close()
    this.#opened = this.#open()
    return this.#opened
  }

  #open(): SessionStore | undefined {
    const { file } = this.#options
    this.#failedAt = undefined
    try {
      const sqlite =
        'sqlite' in this.#options ? this.#options.sqlite : process.getBuiltinModule('node:sqlite')
      if (!sqlite) throw new MissingSqliteError()
      const store = new SqliteStore(sqlite, file, (error, aside, { count, of }) => {
        this.#log.warn(
          `The database of sessions was damaged (${messageOf(error)}): ${count} of ${of} sessions were saved. It was moved to ${aside}.`,
        )
        const message =
          count === 0
            ? l10n.t(
                'The file with the list of sessions was damaged, so Parley created a new one. The damaged file is {0}.',
                aside,
              )
            : l10n.t(
                'The file with the list of sessions was damaged. Parley could read {0} of {1} sessions and saved them to a new file. The damaged file is {2}.',
                count,
                of,
                aside,
              )
        this.#trouble.wasDamaged(aside, message)
      })
      if (store.unwritable !== undefined) this.#failedAt = this.#now()
      return store
    } catch (error) {
      this.#failed(error)
      this.#failedAt = this.#now()
      return mayOpenLater(error) ? undefined : new MemoryStore()
    }
  }

  #failed(error: unknown): void {
    this.#log.warn(`The database of sessions ${this.#options.file}: ${messageOf(error)}`)
    this.#trouble.failed(this.#options.file, error, reason =>
      l10n.t("Parley can't save its session list to disk. This window continues without it. {0}", reason),
    )
  }
}

/** Keeps earlier titles, so that the user can still search for them after the agent renamed the session. */
function withFormerTitles(session: LocalSession, known: LocalSession | undefined): LocalSession {
  const now = new Set([session.title, session.givenTitle])
  const before = [...(known?.formerTitles ?? []), known?.title, known?.givenTitle]
  const former = new Set(before.filter(title => title !== undefined && !now.has(title)))
  const { formerTitles: _, ...rest } = session
  return former.size === 0
    ? rest
    : { ...rest, formerTitles: ([...former] as string[]).slice(-MAX_FORMER_TITLES) }
}

function titled(title: string | undefined): { title?: string } {
  const text = title?.trim()
  return text ? { title: text } : {}
}

/** The time at which a local day ends. */
function endOfDay(day: string): number {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number)
  return new Date(year, month - 1, date + 1).getTime()
}

/** The local day of a time, in the format of {@link UsageRecord}. */
export function dayOf(time: number): string {
  const date = new Date(time)
  const two = (value: number) => String(value).padStart(2, '0')
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
}

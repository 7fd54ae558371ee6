import path from 'node:path'
import { Owner } from '../common/disposable.ts'
import { messageOf } from '../common/errors.ts'
import { type Logger, silentLogger } from '../common/logger.ts'
import type { SecretRegistry } from '../common/secrets.ts'
import { sessionKey } from '../common/session-key.ts'
import { damagedFiles, removeDamagedFiles } from './database.ts'
import { Leases } from './leases.ts'
import { StoredClock } from './stored-clock.ts'
import { TranscriptDatabase, type TranscriptDatabaseOptions } from './transcript-database.ts'
import { type StoredCopy, sessionIdOf } from './transcript-rows.ts'
import { Transcripts } from './transcripts.ts'
import { type AbandonedText, abandonedTexts, removeAbandoned } from './unsent-texts.ts'
import { Windows, type WindowsOptions } from './windows.ts'

/** How often the limits are checked while conversations grow, in milliseconds. */
const TRIM_EVERY_MS = 60_000

export interface ConversationStorageOptions extends TranscriptDatabaseOptions, Pick<WindowsOptions, 'clock'> {
  /** The secrets to redact. */
  secrets?: SecretRegistry
  /** Maximum total size of all conversations in bytes; beyond it, the oldest are deleted. 0: no limit. */
  maxBytes?: () => number
  /** Maximum time since a conversation's last write in milliseconds; older conversations are deleted. 0: no limit. */
  maxAgeMs?: () => number
  /**
   * The keys of the sessions whose conversations the user wants to keep, regardless of the limits; `undefined` if they can't be read now.
   */
  pinned?: () => ReadonlySet<string> | undefined
}

/**
 * The saved conversations and the leases of their sessions, within limits of size and age. Agents' changes are in the same file: see {@link
 * ChangesStore}.
 */
export class ConversationStorage extends Owner {
  readonly transcripts: Transcripts
  readonly leases: Leases
  /** the row of this process; each of its windows has a row of its own */
  readonly windows: Windows
  readonly clock: StoredClock
  readonly database: TranscriptDatabase
  readonly #folder: string
  readonly #log: Logger
  readonly #maxBytes: () => number
  readonly #maxAgeMs: () => number
  readonly #pinned: () => ReadonlySet<string> | undefined
  readonly #now: () => number
  #trimmedAt = 0

  constructor(options: ConversationStorageOptions) {
    super()
    this.#folder = path.dirname(options.file)
    this.#log = options.log ?? silentLogger
    this.#maxBytes = options.maxBytes ?? (() => 0)
    this.#maxAgeMs = options.maxAgeMs ?? (() => 0)
    this.#pinned = options.pinned ?? (() => new Set())
    this.#now = options.now ?? Date.now
    this.database = this.register(new TranscriptDatabase(options))
    this.clock = new StoredClock(this.database, this.#now)
    this.windows = this.register(new Windows(this.database, options))
    this.leases = this.register(new Leases(this.database, this.windows))
    this.transcripts = this.register(
      new Transcripts({
        database: this.database,
        leases: this.leases,
        secrets: options.secrets,
        now: this.#now,
      }),
    )
    this.transcripts.onDidWrite(() => {
      // the difference may be negative, since the clock may have been set back
      if (Math.abs(this.#now() - this.#trimmedAt) >= TRIM_EVERY_MS) this.trim()
    })
  }

  /** The size of all conversations on disk in bytes. */
  get usedBytes(): number {
    const ofOthers = () =>
      ['workspaces', 'unsent_items']
        .map(table => Number(this.database.all(`SELECT total(bytes) AS n FROM ${table}`)[0]?.n))
        .reduce((all, bytes) => all + bytes)
    return this.database.attempt(() => this.database.usedBytes - ofOthers(), 0)
  }

  /**
   * Deletes conversations whose last write is older than the age limit, then those with the oldest writes until the rest fits the size
   * limit. Open and pinned conversations stay. Also deletes unsent texts that no window has had for the age limit.
   */
  trim(): void {
    this.#trimmedAt = this.#now()
    const maxAge = this.#maxAgeMs()
    const max = this.#maxBytes()
    const { clock } = this
    clock.look()
    const writes = this.transcripts.lastWrites().map(({ copy, at }) => ({
      copy,
      // the earliest versions of Parley stored no time
      isOld: maxAge > 0 && at > 0 && clock.ageOf(at) > maxAge,
      age: at > 0 ? clock.ageOf(at) : Number.POSITIVE_INFINITY,
    }))
    if (maxAge > 0) this.removeDamaged(time => clock.ageOf(time) > maxAge)
    const isLarge = max > 0 && this.usedBytes > max
    const texts = maxAge > 0 ? this.#oldTexts(maxAge) : []
    if (!isLarge && texts.length === 0 && !writes.some(({ isOld }) => isOld)) return
    const pinned = this.#pinned()
    if (!pinned) {
      this.#log.warn('No conversations were deleted for the limits: which ones are pinned is unknown.')
      return
    }
    for (const text of texts)
      if (!pinned.has(text.conversation))
        this.database.attempt(() => removeAbandoned(this.database, text), undefined)
    let deleted = 0
    const discard = (copies: readonly StoredCopy[]) => {
      if (copies.filter(copy => this.transcripts.discard(copy)).length > 0) deleted += 1
    }
    const oldKeys = new Set(writes.flatMap(({ copy, isOld }) => (isOld ? sessionKey(...copy) : [])))
    const isOld = (copies: readonly StoredCopy[]) => copies.every(copy => oldKeys.has(sessionKey(...copy)))
    // writes of the same or unknown age are ordered by the clock
    const byAge = writes.sort((a, b) => (a.age === b.age ? 0 : b.age - a.age)).map(({ copy }) => copy)
    const all = byLastWrite(byAge).filter(([copy]) => !pinned.has(sessionKey(copy[0], sessionIdOf(copy))))
    for (const copies of all) if (isOld(copies)) discard(copies)
    if (isLarge)
      for (const copies of all) {
        if (this.usedBytes <= 0.9 * max) break
        if (!isOld(copies)) discard(copies)
      }
    if (deleted === 0) return
    this.#log.info(`Deleted ${deleted} saved conversations to stay within the limits of age and size.`)
    this.database.compactLater()
  }

  #oldTexts(maxAge: number): AbandonedText[] {
    const ageOf = (time: number) => this.clock.ageOf(time)
    const find = () => abandonedTexts(this.database, this.windows, { ageOf, now: this.#now() })
    return this.database.attempt(find, []).filter(({ at }) => ageOf(at) > maxAge)
  }

  /** Whether there are damaged files that were moved aside, which may hold text that was deleted since. */
  get hasDamaged(): boolean {
    return damagedFiles(this.#folder).length > 0
  }

  /** Deletes the damaged files, or only those that were moved aside long enough ago. */
  removeDamaged(isOld?: (time: number) => boolean): void {
    try {
      removeDamagedFiles(this.#folder, isOld)
    } catch (error) {
      this.#log.warn(`A damaged file couldn't be deleted: ${messageOf(error)}`)
    }
  }
}

/**
 * Groups the copies by conversation, ordered by the last write of each conversation, oldest first. `copies`: ordered by their last writes,
 * oldest first.
 */
function byLastWrite(copies: readonly StoredCopy[]): Array<[StoredCopy, ...StoredCopy[]]> {
  const conversations = new Map<string, [StoredCopy, ...StoredCopy[]]>()
  for (const copy of copies) {
    const key = sessionKey(copy[0], sessionIdOf(copy))
    const others = conversations.get(key) ?? []
    // add the key again, since a map keeps the order in which keys were added
    conversations.delete(key)
    conversations.set(key, [copy, ...others])
  }
  return [...conversations.values()]
}

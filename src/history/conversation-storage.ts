import { Owner } from '../common/disposable.ts'
import { type Logger, silentLogger } from '../common/logger.ts'
import type { SecretRegistry } from '../common/secrets.ts'
import { Leases } from './leases.ts'
import { TranscriptDatabase, type TranscriptDatabaseOptions } from './transcript-database.ts'
import { type StoredCopy, sessionIdOf } from './transcript-rows.ts'
import { Transcripts } from './transcripts.ts'

/** How often the limits are checked while conversations grow, in milliseconds. */
const TRIM_EVERY_MS = 60_000

export interface ConversationStorageOptions extends TranscriptDatabaseOptions {
  /** The secrets to redact. */
  secrets?: SecretRegistry
  /** Maximum total size of all conversations in bytes; beyond it, the oldest are deleted. 0: no limit. */
  maxBytes?: () => number
  /** Maximum time since a conversation's last write in milliseconds; older ones are deleted. 0: no limit. */
  maxAgeMs?: () => number
  /** The user wants to keep the session's conversation, whatever the limits are. */
  isPinned?: (agentId: string, sessionId: string) => boolean
}

/** The saved conversations and the leases of their sessions, in one file that stays within limits of size and age. */
export class ConversationStorage extends Owner {
  readonly transcripts: Transcripts
  readonly leases: Leases
  readonly #database: TranscriptDatabase
  readonly #log: Logger
  readonly #maxBytes: () => number
  readonly #maxAgeMs: () => number
  readonly #isPinned: (agentId: string, sessionId: string) => boolean
  readonly #now: () => number
  #trimmedAt = 0

  constructor(options: ConversationStorageOptions) {
    super()
    this.#log = options.log ?? silentLogger
    this.#maxBytes = options.maxBytes ?? (() => 0)
    this.#maxAgeMs = options.maxAgeMs ?? (() => 0)
    this.#isPinned = options.isPinned ?? (() => false)
    this.#now = options.now ?? Date.now
    this.#database = this.register(new TranscriptDatabase(options))
    this.leases = this.register(new Leases(this.#database, this.#now))
    this.transcripts = this.register(
      new Transcripts({
        database: this.#database,
        leases: this.leases,
        secrets: options.secrets,
        now: this.#now,
      }),
    )
    this.transcripts.onDidWrite(() => {
      if (this.#now() - this.#trimmedAt >= TRIM_EVERY_MS) this.trim()
    })
  }

  /** Bytes of all conversations on disk. */
  get usedBytes(): number {
    return this.#database.usedBytes
  }

  /**
   * Deletes the conversations whose last write is older than the limit, and then those with the oldest writes until the
   * others fit the limit of size. Open and pinned ones are kept.
   */
  trim(): void {
    this.#trimmedAt = this.#now()
    const maxAge = this.#maxAgeMs()
    const max = this.#maxBytes()
    let deleted = 0
    if (maxAge > 0)
      for (const copy of this.transcripts.byAge(this.#now() - maxAge)) if (this.#discard(copy)) deleted += 1
    if (max > 0 && this.usedBytes > max)
      for (const copy of this.transcripts.byAge()) {
        if (this.usedBytes <= 0.9 * max) break
        if (this.#discard(copy)) deleted += 1
      }
    if (deleted === 0) return
    this.#log.info(`Deleted ${deleted} saved conversations to stay within the limits of age and size.`)
    this.#database.compactLater()
  }

  #discard(copy: StoredCopy): boolean {
    return !this.#isPinned(copy[0], sessionIdOf(copy)) && this.transcripts.discard(copy)
  }
}

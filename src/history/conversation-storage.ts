import { Owner } from '../common/disposable.ts'
import { type Logger, silentLogger } from '../common/logger.ts'
import type { SecretRegistry } from '../common/secrets.ts'
import { Leases } from './leases.ts'
import { TranscriptDatabase, type TranscriptDatabaseOptions } from './transcript-database.ts'
import { Transcripts } from './transcripts.ts'

/** How often the total size is checked while conversations grow, in milliseconds. */
const TRIM_EVERY_MS = 60_000

export interface ConversationStorageOptions extends TranscriptDatabaseOptions {
  /** The secrets to redact. */
  secrets?: SecretRegistry
  /** Maximum total size of all conversations in bytes; beyond it, the oldest are deleted. 0: no limit. */
  maxBytes?: () => number
}

/** The saved conversations and the leases of their sessions, in one file that stays within a limit of size. */
export class ConversationStorage extends Owner {
  readonly transcripts: Transcripts
  readonly leases: Leases
  readonly #database: TranscriptDatabase
  readonly #log: Logger
  readonly #maxBytes: () => number
  readonly #now: () => number
  #trimmedAt = 0

  constructor(options: ConversationStorageOptions) {
    super()
    this.#log = options.log ?? silentLogger
    this.#maxBytes = options.maxBytes ?? (() => 0)
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

  /** Deletes the conversations with the oldest writes until the others fit the limit; open ones are kept. */
  trim(): void {
    this.#trimmedAt = this.#now()
    const max = this.#maxBytes()
    if (max === 0 || this.usedBytes <= max) return
    let deleted = 0
    for (const copy of this.transcripts.byAge()) {
      if (this.usedBytes <= 0.9 * max) break
      if (this.transcripts.discard(copy)) deleted += 1
    }
    if (deleted > 0) this.#log.info(`Deleted ${deleted} saved conversations to stay within the size limit.`)
    this.#database.compactLater()
  }
}

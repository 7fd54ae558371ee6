import * as l10n from '@vscode/l10n'
import { messageOf } from '../common/errors.ts'
import { NewerDatabaseError } from './database.ts'

/** So long nothing has failed before all counts as well again, in milliseconds: a disk that is almost full takes some. */
const WELL_FOR_MS = 60_000

/**
 * Tells the person what cannot be kept. A disk that takes nothing is told once for all that is kept on it, and again only
 * when all was well in between; what is wrong with one file alone is told once.
 */
export class StorageTrouble {
  readonly #tell: (message: string) => void
  readonly #now: () => number
  /** files that the disk did not take last */
  readonly #failing = new Set<string>()
  readonly #alone = new Set<string>()
  #isTold = false
  #failedAt = 0

  constructor(tell: (message: string) => void, now: () => number = Date.now) {
    this.#tell = tell
    this.#now = now
  }

  /** `words`: what to say when it is the trouble of this file alone. */
  failed(file: string, error: unknown, words: (reason: string) => string): void {
    if (isOfFile(error)) {
      if (this.#alone.has(file)) return
      this.#alone.add(file)
      this.#tell(words(reasonOf(error)))
      return
    }
    this.#failing.add(file)
    this.#failedAt = this.#now()
    if (this.#isTold) return
    this.#isTold = true
    this.#tell(
      l10n.t(
        "Parley can't save conversations and its session list to disk. They last until this window is closed. Agents still keep their own sessions. {0}",
        messageOf(error),
      ),
    )
  }

  /** Something was written to the file. */
  worked(file: string): void {
    this.#failing.delete(file)
    if (this.#failing.size === 0 && this.#now() - this.#failedAt >= WELL_FOR_MS) this.#isTold = false
  }

  /** Says what has come to pass with a file. */
  tell(message: string): void {
    this.#tell(message)
  }
}

/** Another window has it (SQLITE_BUSY, SQLITE_LOCKED), or a newer version wrote it. */
function isOfFile(error: unknown): boolean {
  if (error instanceof NewerDatabaseError) return true
  const code = error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : 0
  return code === 5 || code === 6
}

function reasonOf(error: unknown): string {
  return error instanceof NewerDatabaseError
    ? l10n.t('Created by a newer version of Parley.')
    : messageOf(error)
}

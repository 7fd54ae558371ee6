/** After so many slow looks in a row, a folder is skipped. */
const MAX_SLOW = 3
/** How long a folder is skipped until it's tried again. Milliseconds. */
const SKIP_MS = 10 * 60_000

/**
 * Folders where looking for changes takes too long, so that it would delay agents all the time. A single slow look says little: the disk
 * may be cold, the agent may be compiling, or the machine may have slept.
 */
export class SlowFolders {
  readonly #mostMs: number
  readonly #now: () => number
  /** by folder: the slow looks since the last quick one */
  readonly #looks = new Map<string, { count: number; at: number }>()

  /** @param mostMs how long a look may take, in milliseconds */
  constructor(mostMs: number, now = () => performance.now()) {
    this.#mostMs = mostMs
    this.#now = now
  }

  /** A look at the folder took this long, in milliseconds, whether or not it found anything. */
  looked(folder: string, ms: number): void {
    const { count } = this.#looks.get(folder) ?? { count: 0 }
    if (ms <= this.#mostMs) this.#looks.delete(folder)
    else this.#looks.set(folder, { count: count + 1, at: this.#now() })
  }

  skips(folder: string): boolean {
    const looks = this.#looks.get(folder)
    return looks !== undefined && looks.count >= MAX_SLOW && this.#now() < looks.at + SKIP_MS
  }
}

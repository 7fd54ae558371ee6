/** Number of slow scans in a row after which a folder is skipped. */
const MAX_SLOW = 3
/** How long a folder is skipped until it's tried again. Milliseconds. */
const SKIP_MS = 10 * 60_000

/**
 * Folders in which the search for changes takes so long that it would delay agents. A single slow scan says little: the disk may be cold,
 * the agent may be compiling, or the machine may have slept.
 */
export class SlowFolders {
  readonly #mostMs: number
  readonly #now: () => number
  /** by folder: the slow scans since the last quick one */
  readonly #looks = new Map<string, { count: number; at: number }>()

  /** @param mostMs how long a scan may take, in milliseconds */
  constructor(mostMs: number, now = () => performance.now()) {
    this.#mostMs = mostMs
    this.#now = now
  }

  /** Records how long a scan of the folder took, in milliseconds, whether or not it succeeded. */
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

import { lstat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { onDisk } from '../../common/file-names.ts'
import { isWrittenSince } from '../../editor/files/file-system.ts'
import type { PathRules } from '../../editor/path-rules.ts'

/**
 * The latest time at which a file may have been changed, replaced, moved or deleted. Milliseconds since the epoch, by the clock of the file
 * system. Uses the change time (`ctime`), since programs can set the modification time. A folder can be replaced with all its files, so the
 * parent folders count as long as `covers` selects them. `undefined` if nothing can be read.
 */
export async function latestChange(
  path: string,
  rules: PathRules,
  covers: (path: string) => boolean,
): Promise<number | undefined> {
  let latest: number | undefined
  for (let at = path, below = ''; at !== below && covers(at); below = at, at = rules.dirname(at)) {
    const info = await lstat(onDisk(at)).catch(() => undefined)
    if (info) latest = Math.max(latest ?? 0, info.ctimeMs)
  }
  return latest
}

/** The latest time at which a missing file may have been deleted, in milliseconds since the epoch. */
export async function goneSince(path: string): Promise<number> {
  for (let at = dirname(path), below = path; at !== below; below = at, at = dirname(at)) {
    const info = await lstat(onDisk(at)).catch(() => undefined)
    if (info) return info.ctimeMs
  }
  return 0
}

/** A moment, by the clock of the file system and by a clock that nobody can set. */
export class Moment {
  readonly #time: number
  readonly #elapsed: number

  /** In milliseconds since the epoch; possibly long ago, in an earlier window. */
  constructor(time: number) {
    this.#time = time
    this.#elapsed = performance.now() - (Date.now() - time)
  }

  /** Whether this time, in milliseconds since the epoch, is certainly before the moment. */
  isAfter(time: number): boolean {
    const drift = Date.now() - this.#time - (performance.now() - this.#elapsed)
    return Math.abs(drift) < MAX_DRIFT_MS && !isWrittenSince(time, this.#time - MAX_DRIFT_MS)
  }
}

/** A file system's clock may be behind by as much. If the system's clock was set by more, times can't be compared. Milliseconds. */
const MAX_DRIFT_MS = 100

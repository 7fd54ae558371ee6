import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { Disposable } from '../common/disposable.ts'
import { OWNER_HEARTBEAT_MS, OWNER_STALE_MS } from '../common/limits.ts'
import { operatingSystem } from '../common/processes/process-system.ts'
import type { TranscriptDatabase } from './transcript-database.ts'

/** What counts since the machine started, is the same for all its processes, and isn't set. Milliseconds. */
export const machineClock = () => Number(process.hrtime.bigint() / 1_000_000n)

/** When this process started, by that clock. Its id may have been another process's before. */
const STARTED = Math.round(machineClock() - process.uptime() * 1000)
/** How exact that is. Milliseconds. */
const CLOCK_ERROR_MS = 1000

/**
 * The windows on this machine: each renews its row while it's there. A window that crashed, or whose machine sleeps, is gone. A row
 * is removed with the leases of its window. What is called in a transaction may throw SQLite's errors; everything else reports them.
 */
export class Windows implements Disposable {
  /** the id of this window, new at each start */
  readonly own = randomUUID()
  readonly #database: TranscriptDatabase
  readonly #clock: () => number
  /** the last heartbeats of windows with another clock, and when they were first seen */
  readonly #seen = new Map<string, { beat: unknown; at: number }>()
  #timer: NodeJS.Timeout | undefined

  constructor(database: TranscriptDatabase, clock: () => number = machineClock) {
    this.#database = database
    this.#clock = clock
  }

  /** This window is there from now on, until it's disposed. */
  renew(): void {
    this.#database.attempt(() => this.beat(), undefined)
  }

  /** The same in a transaction. */
  beat(): void {
    this.#database.run(
      'INSERT INTO windows VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET beat = excluded.beat',
      this.own,
      hostname(),
      process.pid,
      STARTED,
      this.#clock(),
    )
    if (this.#timer) return
    this.#timer = setInterval(() => this.renew(), OWNER_HEARTBEAT_MS)
    this.#timer.unref()
    for (const { id } of this.#database.all('SELECT id FROM windows'))
      if (!this.isAlive(String(id))) this.#remove(String(id))
  }

  /** `earlier`: what a window says of itself that runs an earlier version of Parley, which isn't among the windows. */
  isAlive(id: string, earlier?: Record<string, unknown>): boolean {
    if (id === this.own) return true
    const [row = earlier] = this.#database.all('SELECT * FROM windows WHERE id = ?', id)
    if (!row) return false
    const pid = Number(row.pid)
    const isHere = row.host === hostname()
    if (isHere && !operatingSystem.exists(pid)) return false
    if (!isHere || row === earlier) return this.#goesOn(id, row.beat)
    if (pid === process.pid && Math.abs(Number(row.started) - STARTED) > CLOCK_ERROR_MS) return false
    const age = this.#clock() - Number(row.beat)
    return age > -CLOCK_ERROR_MS && age < OWNER_STALE_MS
  }

  dispose(): void {
    clearInterval(this.#timer)
    if (this.#database.isOpen) this.#database.attempt(() => this.#remove(this.own), undefined)
  }

  #remove(id: string): void {
    this.#database.run('DELETE FROM windows WHERE id = ?', id)
  }

  /** The clock of another machine, or the one that earlier versions use, can't be compared with this one. */
  #goesOn(id: string, beat: unknown): boolean {
    const now = this.#clock()
    const seen = this.#seen.get(id)
    if (seen?.beat === beat) return now - seen!.at < OWNER_STALE_MS
    this.#seen.set(id, { beat, at: now })
    return true
  }
}

import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { Disposable } from '../common/disposable.ts'
import { OWNER_HEARTBEAT_MS, OWNER_STALE_MS, WINDOW_STALE_MS } from '../common/limits.ts'
import { operatingSystem } from '../common/processes/process-system.ts'
import type { TranscriptDatabase } from './transcript-database.ts'

/** Time since the machine started, which is the same for all processes and can't be set. Milliseconds. */
const machineClock = () => Number(process.hrtime.bigint() / 1_000_000n)

/** Start time of this process on the machine's clock, which tells it from an earlier process with the same id. */
const STARTED = Math.round(machineClock() - process.uptime() * 1000)
/** The precision of {@link STARTED}. Milliseconds. */
const CLOCK_ERROR_MS = 1000

type Row = Record<string, unknown>

/** Maximum length of a window's published state; a longer one isn't read. Characters. */
const MAX_STATE = 1024 * 1024

export interface WindowsOptions {
  /** Returns the time since the machine started. Milliseconds. */
  clock?: (() => number) | undefined
  /**
   * Resolves once the window itself responds: with VS Code in a browser, the extension host outlives its window by hours. If absent, the
   * window counts as open while its process runs.
   */
  confirm?: (() => PromiseLike<unknown>) | undefined
}

/**
 * The windows on this machine: each renews its row regularly. A window that crashed, or hangs for long, counts as closed, and its row is
 * removed with its leases. A process also has a row, for the leases that its windows share. Functions that are called in a transaction may
 * throw SQLite's errors; the others report SQLite's errors.
 */
export class Windows implements Disposable {
  /** the id of this window, new at each start */
  readonly own: string = randomUUID()
  readonly #database: TranscriptDatabase
  readonly #clock: () => number
  /** the last heartbeats of windows with another clock, and when they were first seen */
  readonly #seen = new Map<unknown, { beat: unknown; at: number }>()
  readonly #confirm: () => PromiseLike<unknown>
  #timer: NodeJS.Timeout | undefined
  #isCleaned = false
  /** when this window's row was last renewed, and when renewing was last tried, by the clock */
  #renewed = 0
  #tried = 0
  /**
   * when the last long gap ended in which no window could renew its row, because the machine slept or the disk couldn't be written, by the
   * clock
   */
  #steady = Number.NEGATIVE_INFINITY
  /** when the window responded last, by the clock */
  #answered: number
  #state: string | null = null
  #version = ''
  /**
   * the windows of this process, by id: they share a connection to the database, so the database doesn't tell them about each other's
   * writes
   */
  readonly #here: Map<string, Windows>
  /** whether another window of this process has written something that this window may read */
  #isTold = false

  constructor(
    database: TranscriptDatabase,
    options: WindowsOptions = {},
    here: Map<string, Windows> = new Map(),
  ) {
    this.#database = database
    this.#here = here.set(this.own, this)
    this.#clock = options.clock ?? machineClock
    this.#confirm = options.confirm ?? (async () => {})
    this.#answered = this.#clock()
  }

  /** Creates another window of this process, with its own row. `confirm`: see {@link WindowsOptions}. */
  another(confirm?: WindowsOptions['confirm']): Windows {
    return new Windows(this.#database, { clock: this.#clock, confirm }, this.#here)
  }

  /** Whether a window is in this process. */
  isHere(id: string): boolean {
    return this.#here.has(id)
  }

  /** Registers this window until it's disposed. Other windows see it after a few seconds, since a start doesn't wait for the database. */
  start(): void {
    if (this.#timer) return
    this.#renewed = this.#clock()
    this.#timer = setInterval(() => void this.#heartbeat(), OWNER_HEARTBEAT_MS)
    this.#timer.unref()
  }

  /** Renews the row immediately. */
  renew(): void {
    this.#tried = this.#clock()
    this.#database.attempt(() => this.beat(), undefined)
    this.start()
  }

  /** Renews the row within a transaction. */
  beat(): void {
    this.start()
    const now = this.#clock()
    this.#database.run(
      `INSERT INTO windows (id, host, pid, started, beat, answered, state) VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET beat = excluded.beat, answered = excluded.answered, state = excluded.state`,
      ...[this.own, hostname(), process.pid, STARTED, now, this.#answered, this.#state],
    )
    if (this.#isLate(now)) this.#steady = now
    this.#renewed = now
    if (this.#isCleaned) return
    this.#isCleaned = true
    for (const row of this.#database.all('SELECT * FROM windows')) if (!this.#lives(row)) this.#remove(row.id)
  }

  /**
   * Whether a window is open or, if the database can't be read now, whether its process may be running. `earlier`: the known row of a
   * window that isn't in the table, since it has just started or runs an earlier version of Parley.
   */
  isAlive(id: string, earlier: Row): boolean {
    const read = () => {
      const [row] = this.#database.all('SELECT * FROM windows WHERE id = ?', id)
      return row ? this.#lives(row) : this.#isRenewed({ ...earlier, id })
    }
    return id === this.own || this.#database.attempt(read, mayRun(earlier))
  }

  /** Whether a window is in the table and responds. Within a transaction. */
  isListed(id: string): boolean {
    const [row] = this.#database.all('SELECT * FROM windows WHERE id = ?', id)
    return row !== undefined && this.#responds(row)
  }

  /** Publishes a state to the other windows, for as long as this window is open. */
  publish(state: string): void {
    this.#state = state
    this.renew()
    this.#tell()
  }

  /** The published states of the other open windows, by id; `undefined` if they can't be read now. */
  others(): Map<string, string> | undefined {
    const read = () => {
      const rows = this.#database.all('SELECT * FROM windows WHERE length(state) <= ?', MAX_STATE)
      const open = rows.filter(row => row.id !== this.own && this.#responds(row))
      return new Map(open.map(({ id, state }) => [String(id), String(state)]))
    }
    return this.#fresh(read)
  }

  /** Whether other windows may have written anything since the last call. */
  hasNews(): boolean {
    const before = this.#version
    this.#version = this.#fresh(() => this.#database.foreignVersion) ?? before
    const isTold = this.#isTold
    this.#isTold = false
    return isTold || this.#version !== before
  }

  /** Sends another window a request, which replaces an earlier unread one. */
  request(id: string, request: string): void {
    const ask = () => this.#database.run('UPDATE windows SET request = ? WHERE id = ?', request, id)
    this.#database.attempt(ask, undefined)
    this.#tell()
  }

  /** Takes the last request of another window, so that the next call doesn't return it again. */
  takeRequest(): string | undefined {
    const take = () => {
      const [row] = this.#database.all('SELECT request FROM windows WHERE id = ?', this.own)
      if (row?.request == null) return undefined
      this.#database.run('UPDATE windows SET request = NULL WHERE id = ?', this.own)
      return String(row.request)
    }
    return this.#fresh(take)
  }

  dispose(): void {
    clearInterval(this.#timer)
    if (this.#database.isOpen) this.#database.attempt(() => this.#remove(this.own), undefined)
    this.#here.delete(this.own)
    this.#tell()
  }

  /** Tells the other windows of this process that something was written that they may read. */
  #tell(): void {
    for (const other of this.#here.values()) if (other !== this) other.#isTold = true
  }

  /** Returns the result of the work; `undefined` if the disk can't be written, since the data would be old. */
  #fresh<T>(work: () => T): T | undefined {
    const database = this.#database
    if (!database.isWritable) return undefined
    return database.attempt(() => (database.isWritable ? work() : undefined), undefined)
  }

  /** Renews the row, but rarely while the disk can't be written: each attempt may copy the whole file to read it. */
  async #heartbeat(): Promise<void> {
    if (this.#database.isWritable || this.#clock() - this.#tried >= WINDOW_STALE_MS) this.renew()
    try {
      await this.#confirm()
      this.#answered = this.#clock()
    } catch {
      // the call fails when the window closes
    }
  }

  #responds(row: Row): boolean {
    const hasAnswered = row.host !== hostname() || this.#age(row.answered) < WINDOW_STALE_MS
    return hasAnswered && this.#lives(row)
  }

  #lives(row: Row): boolean {
    if (row.host !== hostname()) return this.#isRenewed(row)
    if (row.pid === process.pid && Math.abs(Number(row.started) - STARTED) > CLOCK_ERROR_MS) return false
    const age = this.#age(row.beat)
    return mayRun(row) && age > -CLOCK_ERROR_MS && age < OWNER_STALE_MS
  }

  /**
   * The time since `then`, counting only time in which another window could renew its row. No window can while the disk can't be written or
   * the machine sleeps. On Linux, the clock stops during sleep; on macOS and Windows it doesn't.
   */
  #age(then: unknown): number {
    const now = this.#clock()
    const age = now - Number(then)
    if (age > 0 && (!this.#database.isWritable || this.#isLate(now))) return 0
    return Math.min(age, Math.max(0, now - this.#steady))
  }

  /** Whether the renewal of this window's row is overdue. */
  #isLate(now: number): boolean {
    return this.#timer !== undefined && now - this.#renewed >= OWNER_STALE_MS
  }

  /**
   * Whether the row was renewed recently. Times of another machine's clock, or of the clock in earlier versions, can't be compared with
   * this clock.
   */
  #isRenewed(row: Row): boolean {
    const { id, beat } = row
    const now = this.#clock()
    const seen = this.#seen.get(id)
    if (!mayRun(row)) return false
    if (seen?.beat === beat) return now - seen!.at < OWNER_STALE_MS
    this.#seen.set(id, { beat, at: now })
    return true
  }

  #remove(id: unknown): void {
    this.#database.run('DELETE FROM windows WHERE id = ?', String(id))
  }
}

/** Whether the window's process may be running; always true for a process on another machine. */
function mayRun({ host, pid }: Row): boolean {
  return host !== hostname() || operatingSystem.exists(Number(pid))
}

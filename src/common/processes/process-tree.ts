import { delay } from '../async.ts'
import { PROCESS_POLL_MS, PROCESS_VANISH_MS } from '../limits.ts'
import {
  type EndSignal,
  operatingSystem,
  type ProcessRow,
  type ProcessSystem,
  processesWith,
} from './process-system.ts'

/** On Windows, the maximum time between the start of a process and the moment when Parley knows its id. Milliseconds. */
const START_SLACK_MS = 5000

/**
 * A process and everything under it. On POSIX the root leads a process group; shells that its descendants put into groups of their own are
 * found by their ancestry. The ancestry must be read while the processes run ({@link recordDescendants}): on POSIX, init becomes the parent
 * of a process whose parent has exited; on Windows, the process keeps the id of that parent, which may be reused.
 */
export class ProcessTree {
  readonly root: number
  readonly #system: ProcessSystem
  readonly #createdAt = Date.now()
  #rootStarted: number | undefined
  /** Descendants by pid, including exited ones: the start time distinguishes each from a later process with that id. */
  readonly #descendants = new Map<number, number>()
  /** Descendants that had left the tree at the last {@link follow}. */
  #leaving = new Set<number>()
  #seen = 0
  #rootHasExited = false
  /** Whether all processes of the tree have exited. The system may reuse their ids, so nothing is signaled anymore. */
  #isGone = false

  constructor(root: number, system: ProcessSystem = operatingSystem) {
    this.root = root
    this.#system = system
  }

  /** Records the current descendants of the root. */
  async recordDescendants(): Promise<void> {
    if (this.#isGone || this.#groupIsGone()) return
    const rows = await this.#system.list()
    if (rows) this.#note(rows)
  }

  /**
   * Records the descendants of the running root, so that they are known if the root is killed: on POSIX, children in their own groups can't
   * be found then. A process that left the tree while the root runs, such as a browser that a helper opened, is dropped, but only when it's
   * missing twice in a row, since the root may have just been killed. Does nothing on Windows, where processes keep the ids of their
   * parents.
   */
  async follow(): Promise<void> {
    if (this.#isWindows || this.#isGone || this.#rootHasExited) return
    const rows = await this.#system.list()
    if (!rows || this.#isGone || this.#rootHasExited) return
    const byId = new Map(rows.map(row => [row.pid, row]))
    if (byId.get(this.root)?.zombie !== false) return
    this.#rootStarted ??= byId.get(this.root)?.started
    this.#seen = rows.reduce((latest, row) => Math.max(latest, row.started), 0)
    const current = this.#descendantsIn(rows, byId, new Map())
    const missing = [...this.#descendants.keys()].filter(pid => !current.has(pid))
    for (const pid of missing) if (this.#leaving.has(pid)) this.#descendants.delete(pid)
    this.#leaving = new Set(missing)
    for (const [pid, started] of current) this.#descendants.set(pid, started)
  }

  /** The recorded descendants by pid, with their start times. */
  get descendants(): ReadonlyMap<number, number> {
    return this.#descendants
  }

  /** Start time of the youngest process that existed when {@link follow} last listed the processes. */
  get seen(): number {
    return this.#seen
  }

  /**
   * Records the processes with this environment variable that started since the last {@link follow}. Processes that started earlier had
   * left the tree on purpose, such as a browser.
   */
  async recordNewborn(variable: string): Promise<void> {
    const marked = await processesWith(variable)
    for (const { pid, started } of (marked.size > 0 && (await this.#system.list())) || [])
      if (pid !== this.root && marked.has(pid) && started >= this.#seen) this.#descendants.set(pid, started)
  }

  /** Sets the descendants that another process has recorded while following the tree. */
  remember(descendants: ReadonlyMap<number, number>, seen: number): void {
    this.#seen = seen
    this.#descendants.clear()
    for (const [pid, started] of descendants) this.#descendants.set(pid, started)
  }

  /** Records that the root has exited. If no other process is left, the root's id is never used again. */
  rootExited(): void {
    this.#rootHasExited = true
    if (this.#isWindows ? this.#descendants.size === 0 : this.#groupIsGone()) this.#isGone = true
  }

  /** Whether any process of the tree is still running. */
  async isAlive(): Promise<boolean> {
    if (this.#isGone) return false
    this.#isGone = !(await this.#looksAlive())
    return !this.#isGone
  }

  /** Signals the whole tree. On Windows, any signal ends the tree by force. */
  async signal(signal: EndSignal): Promise<void> {
    if (this.#isGone) return
    if (this.#isWindows) return this.#endOnWindows()
    this.#system.signal(-this.root, signal)
    if (this.#descendants.size > 0) this.#signalOutside(await this.#system.list(), signal)
  }

  /** Kills the tree without waiting, as far as possible: on POSIX, its process group; on Windows, the descendants that the system finds. */
  kill(): void {
    if (this.#isGone) return
    if (this.#isWindows) {
      if (!this.#rootHasExited) void this.#system.endTree(this.root)
    } else this.#system.signal(-this.root, 'SIGKILL')
  }

  /**
   * Kills the whole tree without waiting for its end. Lists the processes first: once the root is dead, nobody can find the processes
   * outside its group.
   */
  async killAll(): Promise<void> {
    await this.recordDescendants()
    await this.signal('SIGKILL')
  }

  /** Ends the tree: SIGTERM to all processes, SIGKILL after `killAfterMs`. Resolves to whether the tree has exited; never rejects. */
  async end(killAfterMs: number): Promise<boolean> {
    await this.recordDescendants()
    if (!(await this.isAlive())) return true
    await this.signal('SIGTERM')
    if (await this.goneWithin(killAfterMs)) return true
    await this.recordDescendants()
    await this.signal('SIGKILL')
    return this.goneWithin(PROCESS_VANISH_MS)
  }

  /** Polls until the tree has exited, but no longer than `ms`. Resolves with whether it has exited. */
  async goneWithin(ms: number): Promise<boolean> {
    const until = performance.now() + ms
    for (;;) {
      if (!(await this.isAlive())) return true
      const remainingMs = until - performance.now()
      if (remainingMs <= 0) return false
      await delay(Math.min(PROCESS_POLL_MS, remainingMs))
    }
  }

  get #isWindows(): boolean {
    return this.#system.platform === 'win32'
  }

  #groupIsGone(): boolean {
    return !this.#isWindows && this.#descendants.size === 0 && !this.#system.exists(-this.root)
  }

  async #looksAlive(): Promise<boolean> {
    if (this.#groupIsGone()) return false
    // Listing processes is slow on Windows, so list them only if one of the ids is in use, perhaps by another process.
    if (this.#isWindows && !this.#ids().some(pid => this.#system.exists(pid))) return false
    const rows = await this.#system.list()
    if (!rows) return this.#system.exists(this.#isWindows ? this.root : -this.root)
    // A group of zombies still accepts signals; only the process list shows that the group is gone.
    return rows.some(
      row => !row.zombie && (this.#isInGroup(row) || this.#isRoot(row) || this.#isDescendant(row)),
    )
  }

  /**
   * Ends the tree by force. While the root is running, Windows itself finds the descendants, including processes that have just started.
   */
  async #endOnWindows(): Promise<void> {
    const rows = await this.#system.list()
    if (rows) this.#note(rows)
    if (rows ? rows.some(row => this.#isRoot(row)) : !this.#rootHasExited)
      await this.#system.endTree(this.root)
    if (this.#descendants.size > 0) this.#signalOutside(await this.#system.list(), 'SIGKILL')
  }

  /** Signals the descendants that aren't covered by the group or the root. */
  #signalOutside(rows: ProcessRow[] = [], signal: EndSignal): void {
    for (const row of rows) {
      if (!this.#isInGroup(row) && this.#isDescendant(row)) this.#system.signal(row.pid, signal)
    }
  }

  #ids(): number[] {
    return [this.root, ...this.#descendants.keys()]
  }

  #isRoot(row: ProcessRow): boolean {
    return row.pid === this.root && row.started === this.#rootStarted
  }

  #isInGroup(row: ProcessRow): boolean {
    return row.pgid === this.root
  }

  #isDescendant(row: ProcessRow): boolean {
    return this.#descendants.get(row.pid) === row.started
  }

  #note(rows: ProcessRow[]): void {
    const byId = new Map(rows.map(row => [row.pid, row]))
    this.#rootStarted ??= this.#rootStartIn(byId)
    this.#descendantsIn(rows, byId, this.#descendants)
  }

  /** Adds the descendants of the root and of the `known` processes to `known`. */
  #descendantsIn(
    rows: ProcessRow[],
    byId: ReadonlyMap<number, ProcessRow>,
    known: Map<number, number>,
  ): Map<number, number> {
    // Rows are unordered, so each round finds another generation.
    for (let found = true; found; ) {
      found = false
      for (const row of rows) {
        const isKnown = known.get(row.pid) === row.started
        if (row.pid === this.root || isKnown || !this.#isChild(row, byId, known)) continue
        known.set(row.pid, row.started)
        found = true
      }
    }
    return known
  }

  /** Start time of the root from the list of processes or, on Windows, where the root may have exited, shortly before its id was known. */
  #rootStartIn(rows: ReadonlyMap<number, ProcessRow>): number | undefined {
    const row = rows.get(this.root)
    if (!this.#isWindows) return row?.started
    const isOurs = row !== undefined && row.started <= this.#createdAt + START_SLACK_MS
    return isOurs ? row.started : this.#createdAt - START_SLACK_MS
  }

  /** Whether the parent of the process is the root or a descendant, rather than a later process with the same id. */
  #isChild(
    row: ProcessRow,
    rows: ReadonlyMap<number, ProcessRow>,
    known: ReadonlyMap<number, number>,
  ): boolean {
    const parentStarted = row.ppid === this.root ? (this.#rootStarted ?? 0) : known.get(row.ppid)
    if (parentStarted === undefined || row.started < parentStarted) return false
    const parent = rows.get(row.ppid)
    // The id was reused: only children that started before the new process belong to this tree.
    if (!parent || parent.started <= parentStarted) return true
    return row.started < parent.started
  }
}

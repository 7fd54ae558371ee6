import treeKill from 'tree-kill'
import { listProcesses, type ProcessRow } from './process-list.ts'

/**
 * A process with a group of its own, and everything under it. Most of that is in the group; agents put shells into
 * groups of their own, though, and those are found by their ancestry, which has to be looked at while it is there:
 * children of a process that is gone belong to nobody.
 */
export class ProcessTree {
  readonly root: number
  /** descendants outside the group, by pid: when each started tells it from a later process of the same number */
  readonly #outside = new Map<number, string>()

  constructor(root: number) {
    this.root = root
  }

  /** Notes what runs under the root now. Nothing to do on Windows, where the system follows the ancestry itself. */
  async look(): Promise<void> {
    if (process.platform === 'win32') return
    const rows = await listProcesses()
    if (!rows) return
    for (const row of under(this.root, rows)) {
      if (row.pgid !== this.root) this.#outside.set(row.pid, row.started)
    }
  }

  /** Whether anything of it still runs. */
  async isAlive(): Promise<boolean> {
    if (!treeIsAlive(this.root) && this.#outside.size === 0) return false
    if (process.platform === 'win32') return true
    const rows = await listProcesses()
    // A group of zombies answers, too: only the list tells.
    if (!rows) return treeIsAlive(this.root)
    return rows.some(row => !row.zombie && (row.pgid === this.root || this.#isOutside(row)))
  }

  async signal(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    signalTree(this.root, signal)
    if (this.#outside.size === 0) return
    for (const row of (await listProcesses()) ?? []) if (this.#isOutside(row)) send(row.pid, signal)
  }

  /** Looks again and again until nothing of it runs, but no longer than `ms`. Returns whether it is gone. */
  async goneWithin(ms: number): Promise<boolean> {
    const until = Date.now() + ms
    for (;;) {
      if (!(await this.isAlive())) return true
      const left = until - Date.now()
      if (left <= 0) return false
      await new Promise(resolve => setTimeout(resolve, Math.min(POLL_MS, left)))
    }
  }

  #isOutside(row: ProcessRow): boolean {
    return this.#outside.get(row.pid) === row.started
  }
}

const POLL_MS = 40

/** Sends a signal to a process and its group; one that is gone already is no error. */
export function signalTree(pid: number, signal: 'SIGTERM' | 'SIGKILL', platform = process.platform): void {
  // taskkill /T: Windows has no groups of this kind, and no gentle signal.
  if (platform === 'win32') treeKill(pid, signal, () => {})
  else send(-pid, signal)
}

/** Whether anything of the group is there. On Windows whether the process itself is. */
export function treeIsAlive(pid: number, platform = process.platform): boolean {
  try {
    process.kill(platform === 'win32' ? pid : -pid, 0)
    return true
  } catch (error) {
    // EPERM: it runs, as somebody else.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It has ended.
  }
}

/** The descendants of a process. */
function under(root: number, rows: ProcessRow[]): ProcessRow[] {
  const found: ProcessRow[] = []
  const parents = new Set([root])
  // Rows are in no order; each round finds at least one more generation.
  for (let before = -1; before !== found.length; ) {
    before = found.length
    for (const row of rows) {
      if (parents.has(row.pid) || !parents.has(row.ppid)) continue
      parents.add(row.pid)
      found.push(row)
    }
  }
  return found
}

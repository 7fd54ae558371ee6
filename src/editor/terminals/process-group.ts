import type { ChildProcess } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { signalTree, treeIsAlive } from '../../acp/transport/process-tree.ts'

const LOOK_MS = 100

/**
 * A child process with everything it started. The child must have been spawned `detached` where there are process
 * groups, so that it leads one of its own; Windows has none and its tree is walked.
 */
export class ProcessGroup {
  readonly #child: ChildProcess
  readonly #onGone: () => void
  /** Once nobody is left the number may belong to somebody else: it is never used again. */
  #gone = false
  #nextLook = 0

  /** `onGone` is called once, when it is found that nobody is left. */
  constructor(child: ChildProcess, onGone: () => void) {
    this.#child = child
    this.#onGone = onGone
  }

  /** Is the child, or on POSIX anything it started, still there? */
  isAlive(): boolean {
    if (this.#gone) return false
    this.#gone = this.#isGone()
    if (this.#gone) this.#onGone()
    return !this.#gone
  }

  /** Sends the signal to all of it. On Windows any signal ends it by force. */
  signal(signal: 'SIGTERM' | 'SIGKILL'): void {
    if (this.isAlive() && this.#child.pid !== undefined) signalTree(this.#child.pid, signal)
  }

  #isGone(): boolean {
    const { pid } = this.#child
    if (pid === undefined) return true
    const hasExited = this.#child.exitCode !== null || this.#child.signalCode !== null
    if (process.platform === 'win32') return hasExited
    if (!treeIsAlive(pid)) return true
    if (!hasExited || process.platform !== 'linux') return false
    // Looking through all processes is not for every call.
    const now = Date.now()
    if (now < this.#nextLook) return false
    this.#nextLook = now + LOOK_MS
    return onlyZombies(pid)
  }
}

/**
 * In a container whose first process buries nobody, the ended processes of a group stay there for ever, and signals
 * still reach it. False when that cannot be told.
 */
function onlyZombies(group: number): boolean {
  let pids: string[]
  try {
    pids = readdirSync('/proc').filter(name => /^\d+$/.test(name))
  } catch {
    return false
  }
  for (const pid of pids) {
    let stat: string
    try {
      stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    } catch {
      continue
    }
    // `pid (name) state parent group …`; the name may hold anything.
    const [state, , groupOf] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (Number(groupOf) === group && state !== 'Z' && state !== 'X') return false
  }
  return true
}

import type { ChildProcess } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import treeKill from 'tree-kill'

const LOOK_MS = 100

/**
 * A child process with everything it started. The child must have been spawned `detached` where there are process
 * groups, so that it leads one of its own; Windows has none and its tree is walked.
 */
export class ProcessGroup {
  readonly #child: ChildProcess
  /** Once nobody is left the number may belong to somebody else: it is never used again. */
  #gone = false
  #nextLook = 0

  constructor(child: ChildProcess) {
    this.#child = child
  }

  /** Is the child, or on POSIX anything it started, still there? */
  isAlive(): boolean {
    if (this.#gone || this.#child.pid === undefined) return false
    if (process.platform === 'win32') {
      this.#gone = this.#childExited
      return !this.#gone
    }
    try {
      process.kill(-this.#child.pid, 0)
    } catch (error) {
      // EPERM: there is one, of another user.
      if ((error as NodeJS.ErrnoException).code === 'ESRCH') this.#gone = true
    }
    if (!this.#gone && this.#childExited && this.#isDueToLook()) this.#gone = onlyZombies(this.#child.pid)
    return !this.#gone
  }

  /** Sends the signal to all of it. On Windows any signal ends it by force. */
  signal(signal: 'SIGTERM' | 'SIGKILL'): void {
    if (!this.isAlive() || this.#child.pid === undefined) return
    if (process.platform === 'win32') {
      treeKill(this.#child.pid, signal, () => {})
      return
    }
    try {
      process.kill(-this.#child.pid, signal)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ESRCH') this.#gone = true
      else this.#child.kill(signal)
    }
  }

  /** Looking through all processes is not for every call. */
  #isDueToLook(): boolean {
    const now = Date.now()
    if (process.platform !== 'linux' || now < this.#nextLook) return false
    this.#nextLook = now + LOOK_MS
    return true
  }

  get #childExited(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null
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

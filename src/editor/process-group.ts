import type { ChildProcess } from 'node:child_process'
import treeKill from 'tree-kill'

/**
 * A child process with everything it started. The child must have been spawned `detached` where there are process
 * groups, so that it leads one of its own; Windows has none and its tree is walked.
 */
export class ProcessGroup {
  readonly #child: ChildProcess
  /** Once nobody is left the number may belong to somebody else: it is never used again. */
  #gone = false

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

  get #childExited(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null
  }
}

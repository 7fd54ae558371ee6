import treeKill from 'tree-kill'

/** Sends a signal to a process and everything it started; a process that is gone already is no error. */
export function signalTree(pid: number, signal: 'SIGTERM' | 'SIGKILL', platform = process.platform): void {
  if (platform === 'win32') {
    // taskkill /T: Windows has no process groups of this kind, and no gentle signal.
    treeKill(pid, signal, () => {})
    return
  }
  try {
    process.kill(-pid, signal)
  } catch {
    // The group is empty.
  }
}

/** Whether anything of the group still runs. POSIX only; on Windows whether the process itself does. */
export function treeIsAlive(pid: number, platform = process.platform): boolean {
  try {
    process.kill(platform === 'win32' ? pid : -pid, 0)
    return true
  } catch (error) {
    // EPERM: it runs, as somebody else.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

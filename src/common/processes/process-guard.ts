import { type ChildProcess, spawn } from 'node:child_process'
import { deferred } from '../async.ts'
import type { Disposable } from '../disposable.ts'
import { messageOf } from '../errors.ts'
import { AGENT_EXIT_MS, WINDOW_CLOSE_MS } from '../limits.ts'
import type { Logger } from '../logger.ts'

/** Ends process trees when this process dies without having ended them. */
export interface ProcessGuard extends Disposable {
  /** Watches a process tree. `pid`: the root; `variable`: an environment variable that only the processes of the tree have. */
  add(pid: number, variable?: string): void
  /**
   * Reports the current descendants of a watched root, with their start times: some can't be found once the root is gone. `seen`: later
   * descendants are found by their environment variable.
   */
  follow(pid: number, descendants: ReadonlyMap<number, number>, seen: number): void
  /** Stops watching a tree that has exited. */
  remove(pid: number): void
}

export interface ProcessGuardOptions {
  /** the bundled guard script */
  script: string
  /** The Node executable; an Electron executable runs as Node. */
  execPath?: string
  /** Time for the trees to exit by themselves once this process is gone, in milliseconds. */
  graceMs?: number
  /** The time to exit after {@link ProcessGuard.dispose}, while this process still runs. */
  closeMs?: number
  log: Logger
}

/**
 * Creates a guard, which is a separate process, since nothing in this process survives a SIGKILL. The guard starts with the first tree, is
 * notified of each tree with a line of input, and acts when its input ends. If it can't be started or dies, that's logged, and the guard
 * starts again with the next tree; meanwhile, trees run without a guard.
 *
 * After `dispose`, trees that are ending by themselves get `closeMs`, then the guard ends them. `closed` resolves after `closeMs`, or as
 * soon as no tree is left.
 */
export function createProcessGuard(
  options: ProcessGuardOptions,
): ProcessGuard & { readonly closed: Promise<void> } {
  /** by root: the lines that describe the tree to the guard */
  const watched = new Map<number, { added: string; followed: string }>()
  const closed = deferred()
  let child: ChildProcess | undefined
  let disposed = false
  let timer: NodeJS.Timeout | undefined

  const start = (): ChildProcess => {
    const started = spawn(
      options.execPath ?? process.execPath,
      [options.script, String(options.graceMs ?? AGENT_EXIT_MS)],
      {
        // In a separate process group, so that the guard survives the end of this process, and without shared file descriptors.
        detached: true,
        windowsHide: true,
        stdio: ['pipe', 'ignore', 'ignore'],
        env: { ...process.env, ELECTRON_RUN_AS_NODE: '1' },
      },
    )
    const lost = (why: string) => {
      if (child !== started) return
      child = undefined
      if (!disposed) options.log.warn(`The process guard ended: ${why}`)
    }
    started.once('error', error => lost(messageOf(error)))
    started.once('exit', (code, signal) => lost(`${signal ?? `exit code ${code}`}`))
    started.stdin?.on('error', () => {})
    started.unref()
    // The pipe must not keep the event loop alive, either.
    ;(started.stdin as unknown as { unref?: () => void } | null)?.unref?.()
    for (const { added, followed } of watched.values()) started.stdin?.write(added + followed)
    return started
  }

  const close = () => {
    clearTimeout(timer)
    child?.stdin?.end('now\n')
    closed.resolve()
  }

  return {
    closed: closed.promise,
    add(pid, variable = '') {
      const added = `add ${pid} ${variable}\n`
      watched.set(pid, { added, followed: '' })
      if (child) child.stdin?.write(added)
      else if (!disposed) child = start()
    },
    follow(pid, descendants, seen) {
      const followed = `follow ${[pid, seen, ...[...descendants].map(one => one.join(':'))].join(' ')}\n`
      const known = watched.get(pid)
      if (!known || known.followed === followed) return
      known.followed = followed
      child?.stdin?.write(followed)
    },
    remove(pid) {
      if (!watched.delete(pid)) return
      child?.stdin?.write(`remove ${pid}\n`)
      if (disposed && watched.size === 0) close()
    },
    dispose() {
      if (disposed) return
      disposed = true
      if (watched.size === 0) close()
      else timer = setTimeout(close, options.closeMs ?? WINDOW_CLOSE_MS)
    },
  }
}

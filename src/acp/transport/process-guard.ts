import { type ChildProcess, spawn } from 'node:child_process'
import type { Disposable } from '../../common/disposable.ts'
import { messageOf } from '../../common/errors.ts'
import type { Logger } from '../../common/logger.ts'

/** Ends the process trees of agents when this process dies without having ended them. */
export interface ProcessGuard extends Disposable {
  /** Watches over a process group. */
  add(pid: number): void
  /** The process group has ended. */
  remove(pid: number): void
}

export interface ProcessGuardOptions {
  /** the bundled guard script */
  script: string
  /** A Node executable; an Electron one is told to be Node. */
  execPath?: string
  /** How long the agents get to end by themselves after this process is gone, in milliseconds. */
  graceMs?: number
  log: Logger
}

/**
 * A guard in a process of its own, since nothing in this one survives a SIGKILL. It is started with the first agent,
 * knows the agents by the lines it is sent, and acts when its input ends. A guard that cannot be started or that dies
 * is logged, and starts anew with the next agent; agents run without.
 */
export function createProcessGuard(options: ProcessGuardOptions): ProcessGuard {
  const watched = new Set<number>()
  let child: ChildProcess | undefined
  let disposed = false

  const start = (): ChildProcess => {
    const started = spawn(
      options.execPath ?? process.execPath,
      [options.script, String(options.graceMs ?? 1500)],
      {
        // Of its own group, out of reach of what ends this process's; it holds nothing of ours open.
        detached: true,
        windowsHide: true,
        stdio: ['pipe', 'ignore', 'ignore'],
        env: { ...process.env, ELECTRON_RUN_AS_NODE: '1' },
      },
    )
    const lost = (why: string) => {
      if (child !== started) return
      child = undefined
      if (!disposed) options.log.warn(`The process guard is gone: ${why}`)
    }
    started.once('error', error => lost(messageOf(error)))
    started.once('exit', (code, signal) => lost(`${signal ?? `exit code ${code}`}`))
    started.stdin?.on('error', () => {})
    started.unref()
    // A pipe keeps the event loop alive like a child does.
    ;(started.stdin as unknown as { unref?: () => void } | null)?.unref?.()
    for (const pid of watched) started.stdin?.write(`add ${pid}\n`)
    return started
  }

  return {
    add(pid) {
      if (disposed) return
      watched.add(pid)
      if (child) child.stdin?.write(`add ${pid}\n`)
      else child = start()
    },
    remove(pid) {
      if (watched.delete(pid)) child?.stdin?.write(`remove ${pid}\n`)
    },
    dispose() {
      if (disposed) return
      disposed = true
      // What is still watched is the guard's to end now.
      child?.stdin?.end()
    },
  }
}

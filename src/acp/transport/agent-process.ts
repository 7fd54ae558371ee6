import type { ChildProcess } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import path from 'node:path'
import type { Readable, Writable } from 'node:stream'
import * as l10n from '@vscode/l10n'
import spawn from 'cross-spawn'
import type { Disposable } from '../../common/disposable.ts'
import type { AgentLaunch } from '../agent.ts'
import type { ProcessGuard } from './process-guard.ts'
import { ProcessTree } from './process-tree.ts'
import { LineDecoder, Tail } from './tail.ts'

export interface AgentProcessOptions {
  /** Hears stderr in whole lines. */
  onStderr?: (line: string) => void
  /** Ends the process tree when this process dies without having done so. */
  guard?: ProcessGuard
}

/** How long to wait before each harder step of an ending, in milliseconds. */
export interface StopTimes {
  /** after stdin was closed, before SIGTERM */
  terminateAfterMs: number
  /** after SIGTERM, before SIGKILL */
  killAfterMs: number
}

/** Most agents exit within 250 ms of the end of their input; some need a few seconds, some never do. */
const GENTLE_STOP: StopTimes = { terminateAfterMs: 2000, killAfterMs: 2000 }
/** For an agent that failed to start. */
export const QUICK_STOP: StopTimes = { terminateAfterMs: 100, killAfterMs: 500 }

export interface ProcessExit {
  exitCode: number | null
  signal: string | null
}

/** The process could not be started. */
export class SpawnError extends Error {
  override readonly name = 'SpawnError'
  readonly kind: 'command-missing' | 'other'
  /** the directories that were searched; empty for a path */
  readonly searched: string[]

  constructor(kind: SpawnError['kind'], message: string, searched: string[] = []) {
    super(message)
    this.kind = kind
    this.searched = searched
  }
}

/** characters of stderr that a failure card shows at most */
const STDERR_TAIL = 8 * 1024

/**
 * A running agent: one process tree with one owner, which ends it with {@link stop} (or `dispose`). Its children end
 * with it, also when it exits or crashes by itself.
 */
export class AgentProcess implements Disposable {
  readonly pid: number
  readonly stdin: Writable
  readonly stdout: Readable
  /** Resolves when the process has exited. Never rejects. */
  readonly exited: Promise<ProcessExit>
  readonly #child: ChildProcess
  readonly #stderr = new Tail(STDERR_TAIL)
  readonly #stderrEnded: Promise<void>
  readonly #guard: ProcessGuard | undefined
  readonly #tree: ProcessTree
  #hasExited = false
  #stopping: Promise<void> | undefined
  #ending: Promise<void> | undefined

  private constructor(child: ChildProcess, pid: number, options: AgentProcessOptions) {
    const { stdin, stdout, stderr } = child
    if (!stdin || !stdout || !stderr) throw new SpawnError('other', 'The process has no standard streams.')
    this.#child = child
    this.pid = pid
    this.stdin = stdin
    this.stdout = stdout
    this.#tree = new ProcessTree(pid)
    this.#guard = options.guard
    this.#guard?.add(pid)
    this.#stderrEnded = this.#readStderr(stderr, options.onStderr ?? (() => {}))
    this.exited = new Promise(resolve => {
      child.once('exit', (exitCode, signal) => {
        this.#hasExited = true
        resolve({ exitCode, signal })
        void this.#endTree(GENTLE_STOP)
      })
    })
    // A process that goes away while we write is told by its exit, not by an uncaught error.
    stdin.on('error', () => {})
    stdout.on('error', () => {})
    child.on('error', () => {})
  }

  /**
   * Starts the agent in a process group of its own.
   * @throws SpawnError
   */
  static async start(launch: AgentLaunch, options: AgentProcessOptions = {}): Promise<AgentProcess> {
    let child: ChildProcess
    try {
      child = spawn(launch.command, launch.args, {
        cwd: launch.cwd,
        env: launch.env,
        stdio: ['pipe', 'pipe', 'pipe'],
        detached: process.platform !== 'win32',
        windowsHide: true,
      })
    } catch (error) {
      throw explain(error as NodeJS.ErrnoException, launch)
    }
    const pid = child.pid
    if (pid === undefined) {
      const error = await new Promise<NodeJS.ErrnoException>(resolve => child.once('error', resolve))
      throw explain(error, launch)
    }
    return new AgentProcess(child, pid, options)
  }

  get hasExited(): boolean {
    return this.#hasExited
  }

  /** The last part of stderr, in whole lines where possible. */
  get stderrTail(): string {
    return this.#stderr.text
  }

  /** Resolves when stderr has been read to its end, or `ms` have passed: a grandchild may hold it open. */
  async stderrRead(ms: number): Promise<void> {
    await within(this.#stderrEnded, ms)
  }

  /**
   * Ends the whole tree: closes stdin, waits, SIGTERM, waits, SIGKILL. Resolves when nothing of it runs any more.
   * A second call waits for the first.
   */
  stop(times: StopTimes = GENTLE_STOP): Promise<void> {
    this.#stopping ??= this.#stop(times)
    return this.#stopping
  }

  dispose(): void {
    void this.stop()
  }

  async #stop(times: StopTimes): Promise<void> {
    // Before its input ends: an agent that exits then leaves its shells behind, and nobody could tell them from others.
    await this.#tree.look()
    if (!this.stdin.writableEnded) this.stdin.end()
    // What it still writes is of no use, but a full pipe must not keep it from ending.
    this.stdout.resume()
    if (!this.#hasExited) await within(this.exited, times.terminateAfterMs)
    await this.#endTree(times)
    this.stdout.destroy()
    this.#child.stderr?.destroy()
  }

  /** Ends what still runs of the tree. After an exit of the agent's own, too: it leaves children behind at times. */
  #endTree(times: StopTimes): Promise<void> {
    this.#ending ??= (async () => {
      await this.#tree.look()
      if (await this.#tree.isAlive()) {
        await this.#tree.signal('SIGTERM')
        if (!(await this.#tree.goneWithin(times.killAfterMs))) await this.#tree.signal('SIGKILL')
      }
      await this.exited
      this.#guard?.remove(this.pid)
    })()
    return this.#ending
  }

  #readStderr(stream: Readable, onLine: (line: string) => void): Promise<void> {
    const lines = new LineDecoder(onLine)
    stream.on('data', (chunk: Buffer) => this.#stderr.append(lines.push(chunk)))
    stream.on('error', () => {})
    return new Promise(resolve => {
      stream.once('close', () => {
        this.#stderr.append(lines.end())
        resolve()
      })
    })
  }
}

/** Waits for a promise, but no longer than `ms`. */
export async function within(promise: Promise<unknown>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  await Promise.race([
    promise,
    new Promise<void>(resolve => {
      timer = setTimeout(resolve, ms)
    }),
  ])
  clearTimeout(timer)
}

function explain(error: NodeJS.ErrnoException, launch: AgentLaunch): SpawnError {
  const { command, cwd } = launch
  if (error.code !== 'ENOENT') {
    const reason = error.code === 'EACCES' ? l10n.t('it may not be executed') : error.message
    return new SpawnError('other', l10n.t('{0} could not be started: {1}.', command, reason))
  }
  // The same code stands for a missing working directory and for a script whose interpreter is missing.
  if (!isDirectory(cwd)) {
    return new SpawnError(
      'other',
      l10n.t('{0} could not be started: there is no folder {1} to run it in.', command, cwd),
    )
  }
  const isPath = command.includes('/') || command.includes(path.sep)
  if (isPath && existsSync(path.resolve(cwd, command))) {
    return new SpawnError(
      'other',
      l10n.t('{0} could not be started: what it runs with is not installed.', command),
    )
  }
  const searched = isPath
    ? []
    : (searchPath(launch.env) ?? '').split(path.delimiter).filter(entry => entry !== '')
  return new SpawnError('command-missing', l10n.t('There is no command {0}.', command), searched)
}

function searchPath(env: Record<string, string>): string | undefined {
  const name = Object.keys(env).find(key => key.toUpperCase() === 'PATH')
  return name === undefined ? undefined : env[name]
}

function isDirectory(folder: string): boolean {
  try {
    return statSync(folder).isDirectory()
  } catch {
    return false
  }
}

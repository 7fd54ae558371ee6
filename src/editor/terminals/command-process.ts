/**
 * One command of an agent as a child process with pipes.
 *
 * Why pipes and no pty: a pty needs a native add-on. And no `FORCE_COLOR` or the like is set: command lines redirect
 * and pipe the output of their parts, and colour codes would end up in files and in other programs. A command that
 * colours anyway, or whose agent sets such a variable, is shown in colour. A pseudoterminal would implement
 * {@link RunCommand} as well.
 */
import { statSync } from 'node:fs'
import path from 'node:path'
import spawn from 'cross-spawn'
import type { TerminalExit } from '../../acp/model.ts'
import type { ProcessGuard } from '../../acp/transport/process-guard.ts'
import { messageOf } from '../../common/errors.ts'
import { OutputPump } from './output-pump.ts'
import { ProcessGroup } from './process-group.ts'
import { shellFor } from './shell.ts'

interface CommandRequest {
  /** a program, or with no `args` a whole shell line */
  command: string
  args: readonly string[]
  /** absolute */
  cwd: string
  /** the whole environment */
  env: Record<string, string>
  /** ends it when this process dies without having ended it */
  guard?: ProcessGuard
}
interface CommandEvents {
  /** stdout and stderr as they come, never half a character */
  onOutput(text: string): void
  /** Once, after the last of the command's own output. What it left running may still write. */
  onExit(exit: TerminalExit): void
}
export interface RunningCommand {
  /**
   * Ends it and all it started: politely first, by force after `graceMs`. `onExit` comes as soon as the command
   * itself is gone; the promise resolves when all of it is, and never rejects.
   */
  kill(graceMs: number): Promise<void>
  /** Ends all of it by force, without waiting: the window closes. */
  killNow(): void
}
/** Starts a command; rejects with a sentence when it cannot be started. Events come after it resolved. */
export type RunCommand = (request: CommandRequest, events: CommandEvents) => Promise<RunningCommand>

/** How long a process may take to vanish after SIGKILL before it is given up for dead. */
const FORCED_MS = 3000
const POLL_MS = 20

export const runCommand: RunCommand = async (request, events) => {
  checkFolder(request.cwd)
  const isLine = request.args.length === 0 && !isProgram(request.command)
  const shell = isLine ? shellFor(request.env) : undefined
  const child = begin(request, () =>
    spawn(shell ?? request.command, shell ? ['-c', inOneStream(request.command)] : [...request.args], {
      cwd: request.cwd,
      env: request.env,
      // Nobody can type: a command that asks sees the end of its input instead of waiting for ever.
      stdio: ['ignore', 'pipe', 'pipe'],
      // Its own process group, so that all it starts can be ended with it.
      detached: process.platform !== 'win32',
      windowsHide: true,
      shell: isLine && shell === undefined,
    }),
  )
  const { pid } = child
  if (pid !== undefined) request.guard?.add(pid)
  const group = new ProcessGroup(child, () => pid !== undefined && request.guard?.remove(pid))
  const streams = [child.stdout, child.stderr].filter(stream => stream !== null)
  const output = new OutputPump(streams, text => events.onOutput(text))
  const closed = new Promise<void>(resolve => child.once('close', () => resolve()))
  const exited = new Promise<TerminalExit>(resolve => {
    child.once('exit', (exitCode, signal) => resolve({ exitCode, signal }))
  })
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve)
    child.once('error', error => reject(startError(request, error)))
  })
  // A later error, of a signal that could not be sent, is no news.
  child.on('error', () => {})

  let ended = false
  const end = (exit: TerminalExit) => {
    if (ended) return
    ended = true
    events.onExit(exit)
  }
  void exited.then(async exit => {
    // Notes whether it left anything running, while the number of its group is surely still its own.
    group.isAlive()
    // Something left running may hold the pipes open for ever.
    await Promise.race([closed, output.quiet()])
    end(exit)
  })

  return {
    async kill(graceMs) {
      group.signal('SIGTERM')
      if (!(await vanished(group, graceMs))) {
        group.signal('SIGKILL')
        await vanished(group, FORCED_MS)
      }
      await Promise.race([closed, output.quiet()])
      output.close()
      end({
        exitCode: child.exitCode,
        signal: child.signalCode ?? (child.exitCode === null ? 'SIGKILL' : null),
      })
    },
    killNow() {
      group.signal('SIGKILL')
      output.close()
    },
  }
}

/**
 * What is written to stderr goes the way of stdout, so that the two stand in the order in which they were written, as
 * in a terminal. On the same line, so that the numbers of lines in the shell's messages stay right.
 */
function inOneStream(line: string): string {
  return `exec 2>&1; ${line}`
}

/** The absolute path of a file, perhaps with blanks in it: no shell line. */
function isProgram(command: string): boolean {
  return path.isAbsolute(command) && statSync(command, { throwIfNoEntry: false })?.isFile() === true
}

function checkFolder(folder: string): void {
  let isFolder: boolean
  try {
    isFolder = statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true
  } catch (error) {
    throw new Error(`The command cannot be started in ${folder}: ${messageOf(error)}`)
  }
  if (!isFolder) throw new Error(`The command cannot be started in ${folder}: there is no such folder.`)
}

/** Some errors of a start are thrown, others come as an event. */
function begin<T>(request: CommandRequest, start: () => T): T {
  try {
    return start()
  } catch (error) {
    throw startError(request, error)
  }
}

function startError(request: CommandRequest, error: unknown): Error {
  const code = (error as NodeJS.ErrnoException).code
  const why =
    code === 'ENOENT'
      ? 'there is no such program on the PATH'
      : code === 'EACCES'
        ? 'it may not be executed'
        : code === 'E2BIG' || code === 'ENAMETOOLONG'
          ? 'the command is too long'
          : messageOf(error)
  const shown = request.command.length > 200 ? `${request.command.slice(0, 200)}…` : request.command
  return new Error(`${JSON.stringify(shown)} cannot be started: ${why}.`, { cause: error })
}

async function vanished(group: ProcessGroup, ms: number): Promise<boolean> {
  const until = Date.now() + ms
  while (group.isAlive()) {
    if (Date.now() >= until) return false
    await new Promise(resolve => setTimeout(resolve, POLL_MS))
  }
  return true
}

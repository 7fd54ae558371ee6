import { statSync } from 'node:fs'
import path from 'node:path'
import { messageOf } from '../errors.ts'
import { PROCESS_VANISH_MS } from '../limits.ts'
import { shortened } from '../visible.ts'
import { OutputPump } from './command-output.ts'
import { shellFor } from './command-shell.ts'
import { outputEncoding, systemEncoding } from './decode-output.ts'
import type { ProcessGuard } from './process-guard.ts'
import { SpawnError, type SpawnErrorKind, spawnProcess } from './spawn-process.ts'

/**
 * Runs a command of an agent as a child process with pipes.
 *
 * A pty would need a native add-on. `FORCE_COLOR` and similar variables aren't set: command lines redirect and pipe output, and color codes
 * would end up in files and other programs. If a command prints colors anyway, or its agent sets such a variable, they're shown. A pty
 * could also implement {@link RunCommand}.
 */

export interface CommandRequest {
  /** a program; without `args`, a whole shell command line */
  command: string
  args: readonly string[]
  /** absolute path */
  cwd: string
  /** the whole environment */
  env: Record<string, string>
  /** ends the command if this process dies without having ended it */
  guard?: ProcessGuard
  /** the encoding of output that isn't UTF-8, as a value of `files.encoding` */
  encoding?: string
  /** the terminal that shows the command */
  terminal: CommandTerminal
}
/** The data that a window needs to show a command as a terminal. */
export interface CommandTerminal {
  id: string
  /** the command as a user would type it */
  shown: string
  cwd: string
  /** maximum size of the stored output in bytes */
  outputLimit: number
}
export interface CommandExit {
  exitCode?: number | null
  signal?: string | null
}
export interface CommandEvents {
  /** stdout and stderr as they arrive, in whole characters */
  onOutput(text: string): void
  /** Replaces the previous output with all stored output. `truncated`: whether the beginning is missing. */
  onWholeOutput(text: string, truncated: boolean): void
  /** Called once, after the command's last output. Processes that the command left running may still write. */
  onExit(exit: CommandExit): void
}
export interface RunningCommand {
  /**
   * Ends the command and its children: first with SIGTERM, after `graceMs` by force. `onExit` is called as soon as the command itself has
   * exited; the promise resolves when all processes have exited, and never rejects.
   */
  kill(graceMs: number): Promise<void>
  /** Ends all processes by force, without waiting, because the window closes. */
  killNow(): void
  /** Whether the command keeps running when the window closes, and the next window continues it. */
  readonly outlivesWindow?: boolean
  /** Called when the command's output isn't needed anymore. */
  forget?(): void
}
/** Starts a command; rejects with a sentence if it can't be started. Events are reported only after the promise has resolved. */
export type RunCommand = (request: CommandRequest, events: CommandEvents) => Promise<RunningCommand>

/** Runs the commands of a session in another process, so that the commands can outlive this process. */
export interface CommandHost {
  run: RunCommand
  /** The commands that an earlier window started. `isAnswered`: whether the agent received the terminal's id. */
  readonly earlier: ReadonlyArray<CommandTerminal & { isAnswered: boolean }>
  /** Continues a command of an earlier window: reports the command's whole output, and later its exit. */
  resume(id: string, events: CommandEvents): RunningCommand
}

export const runCommand: RunCommand = async (request, events) => {
  checkFolder(request.cwd)
  await systemEncoding()
  const isLine = request.args.length === 0 && !isProgram(request.command)
  const shell = isLine ? shellFor(request.command, request.env) : undefined
  const program = shell ?? request.command
  const args = shell ? ['-c', inOneStream(request.command)] : request.args
  const { child, tree } = await spawnProcess(
    { command: program, args, cwd: request.cwd, env: request.env },
    // The user can't type, so stdin is empty: a command that reads its input doesn't wait forever.
    { stdio: ['ignore', 'pipe', 'pipe'], shell: isLine && shell === undefined },
  ).catch((error: unknown) => {
    throw startError(request, error)
  })
  request.guard?.add(tree.root)
  const noteWhetherGone = async () => {
    if (!(await tree.isAlive())) request.guard?.remove(tree.root)
  }
  const streams = [child.stdout, child.stderr].filter(stream => stream !== null)
  const output = new OutputPump(streams, text => events.onOutput(text), outputEncoding(request.encoding))
  const closed = new Promise<void>(resolve => child.once('close', () => resolve()))
  const exited = new Promise<CommandExit>(resolve => {
    child.once('exit', (exitCode, signal) => resolve({ exitCode, signal }))
  })
  let ended = false
  const end = (exit: CommandExit) => {
    if (ended) return
    ended = true
    output.flush()
    events.onExit(exit)
  }
  void exited.then(async exit => {
    void noteWhetherGone()
    // A process that the command left running may keep the pipes open forever.
    await Promise.race([closed, output.quiet()])
    end(exit)
  })

  return {
    async kill(graceMs) {
      await tree.end(graceMs)
      await noteWhetherGone()
      await Promise.race([closed, output.quiet()])
      output.close()
      end({
        exitCode: child.exitCode,
        signal: child.signalCode ?? (child.exitCode === null ? 'SIGKILL' : null),
      })
    },
    killNow() {
      output.close()
      void tree
        .killAll()
        .then(() => tree.goneWithin(PROCESS_VANISH_MS))
        .then(noteWhetherGone)
    },
  }
}

/**
 * Redirects stderr to stdout, so that the output keeps its order, as in a terminal. The redirection is on the same line, so that line
 * numbers in the shell's messages stay correct.
 */
function inOneStream(line: string): string {
  return `exec 2>&1; ${line}`
}

/** Whether the text is the absolute path of a file, perhaps with spaces, rather than a shell command line. */
function isProgram(command: string): boolean {
  return path.isAbsolute(command) && statSync(command, { throwIfNoEntry: false })?.isFile() === true
}

function checkFolder(folder: string): void {
  let isFolder: boolean
  try {
    isFolder = statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true
  } catch (error) {
    throw new Error(`The command can't be started in ${folder}: ${messageOf(error)}`)
  }
  if (!isFolder) throw new Error(`The command can't be started in ${folder}: the folder doesn't exist.`)
}

/** The error for a command that couldn't be started. In English, because the agent reads it. */
function startError(request: CommandRequest, error: unknown): Error {
  const kind = error instanceof SpawnError ? error.kind : 'other'
  const cause = error instanceof SpawnError ? error.cause : error
  const shown = shortened(request.command, 200)
  const why = START_PROBLEMS[kind] ?? messageOf(cause)
  return new Error(`${JSON.stringify(shown)} can't be started: ${why}.`, { cause })
}

const START_PROBLEMS: Partial<Record<SpawnErrorKind, string>> = {
  'command-missing': 'there is no such program on the PATH',
  'interpreter-missing': "the program that runs it isn't installed",
  'not-executable': 'it may not be executed',
  'too-long': 'the command is too long',
}

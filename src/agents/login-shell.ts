import type { ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { userInfo } from 'node:os'
import { basename } from 'node:path'
import { StringDecoder } from 'node:string_decoder'
import { messageOf } from '../common/errors.ts'
import { SHELL_EXIT_MS } from '../common/limits.ts'
import type { ProcessTree } from '../common/processes/process-tree.ts'
import { type Environment, spawnProcess } from '../common/processes/spawn-process.ts'

export interface LoginShellRequest {
  /** absolute path of the shell */
  shell: string
  /** the environment that the shell starts with */
  env: Environment
  cwd: string
  timeoutMs: number
  /** a Node executable, or Electron running as Node */
  execPath: string
  /** Ends the shell immediately. */
  signal?: AbortSignal
}
export type LoginShellAnswer = { env: Environment } | { failure: string }

/** A profile that prints more than this is stopped. */
const MAXIMUM_OUTPUT = 8 * 1024 * 1024

/** Set while the profile runs and removed afterward. The first is VS Code's own; existing profiles check it. */
const duringProfile: Environment = {
  VSCODE_RESOLVING_ENVIRONMENT: '1',
  DISABLE_AUTO_UPDATE: 'true',
  ZSH_TMUX_AUTOSTART: 'false',
  ZSH_TMUX_AUTOSTARTED: 'true',
}
const MARK = 'PARLEY_SHELL_MARK'

/** The user's shell: `SHELL`, or else the one in the system's user database; none for a user without a login. */
export function loginShell(env: Readonly<Record<string, string | undefined>>): string | undefined {
  let shell = env.SHELL
  if (!shell) {
    try {
      shell = userInfo().shell ?? undefined
    } catch {
      // A user id without an entry in the database, as in some containers.
    }
  }
  return shell && !/[\\/](?:false|nologin)$/.test(shell) ? shell : undefined
}

/**
 * Starts the shell as a login and interactive one, lets it read the user's profile, and has it print the environment as
 * JSON between two delimiters: other output of the profile is ignored, and values may contain line breaks.
 *
 * Never rejects. At the time limit, the shell's whole process group is killed. It has no terminal and an empty stdin, so
 * that a profile that prompts for input continues immediately.
 */
export async function readLoginShellEnvironment(request: LoginShellRequest): Promise<LoginShellAnswer> {
  const mark = randomUUID()
  const name = basename(request.shell)
  let child: ChildProcess
  let tree: ProcessTree
  try {
    const args = [...shellArguments(name), printCommand(name, request.execPath)]
    const env = { ...request.env, ...duringProfile, ELECTRON_RUN_AS_NODE: '1', [MARK]: mark }
    const shell = { command: request.shell, args, env, cwd: request.cwd }
    ;({ child, tree } = await spawnProcess(shell, { stdio: ['ignore', 'pipe', 'pipe'] }))
  } catch (error) {
    return { failure: messageOf(error) }
  }
  const answer = await hear(child, mark, request)
  child.stdout?.destroy()
  child.stderr?.destroy()
  if ('failure' in answer) endShell(child, tree)
  else setTimeout(endShell, SHELL_EXIT_MS, child, tree).unref()
  return answer
}

/** Waits for the printed environment, the shell's end, the time limit or the signal, whichever is first. */
function hear(
  child: ChildProcess,
  mark: string,
  { timeoutMs, signal }: LoginShellRequest,
): Promise<LoginShellAnswer> {
  return new Promise(resolve => {
    const decoder = new StringDecoder('utf8')
    let output = ''
    const fail = (failure: string) => finish({ failure })
    const abort = () => fail('it was no longer needed')
    const timer = setTimeout(
      () => fail(`its profile didn't finish within ${timeoutMs / 1000} seconds`),
      timeoutMs,
    )
    const finish = (answer: LoginShellAnswer) => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
      resolve(answer)
    }
    signal?.addEventListener('abort', abort)
    if (signal?.aborted) abort()

    child.stdout?.on('data', (chunk: Buffer) => {
      const searchedTo = output.length
      output += decoder.write(chunk)
      const printed = between(output, mark, searchedTo)
      if (printed !== undefined) finish(parsePrinted(printed))
      else if (output.length > MAXIMUM_OUTPUT) fail('its profile printed more than 8 MB')
    })
    child.stderr?.resume()
    const ended = (code: number | null, killed: string | null) =>
      fail(`it ended (${killed ?? `exit code ${code}`}) without telling its environment`)
    child.on('close', ended)
    // A background program started by the profile may keep the output open; then `close` would not fire.
    child.on('exit', (code, killed) => setTimeout(ended, SHELL_EXIT_MS, code, killed).unref())
  })
}

/**
 * Kills a shell that is still running: an interactive bash ignores SIGTERM. After a shell exited, a daemon that it left
 * keeps running.
 */
function endShell(child: ChildProcess, tree: ProcessTree): void {
  if (child.exitCode === null && child.signalCode === null) tree.kill()
}

function shellArguments(name: string): string[] {
  if (/^(?:pwsh|powershell)(?:\.exe)?$/i.test(name)) return ['-Login', '-Command']
  if (name === 'csh' || name === 'tcsh') return ['-ic']
  return ['-i', '-l', '-c']
}

/** The program contains no quotes, so single quotes around it work in every shell. */
function printCommand(name: string, execPath: string): string {
  const program = `process.stdout.write(process.env.${MARK}+JSON.stringify(process.env)+process.env.${MARK})`
  if (/^(?:pwsh|powershell)(?:\.exe)?$/i.test(name)) {
    return `& '${execPath.replaceAll("'", "''")}' -e '${program}'`
  }
  const quoted = `'${execPath.replaceAll("'", `'\\''`)}'`
  return `${name === 'nu' ? '^' : ''}${quoted} -e '${program}'`
}

/** The JSON between the delimiters, once it's complete. The delimiter also occurs inside the JSON, but in quotes. */
function between(output: string, mark: string, searchedTo: number): string | undefined {
  const closing = `}${mark}`
  const end = output.indexOf(closing, Math.max(0, searchedTo - closing.length))
  if (end < 0) return undefined
  const start = output.lastIndexOf(`${mark}{`, end)
  return start < 0 ? undefined : output.slice(start + mark.length, end + 1)
}

function parsePrinted(printed: string): LoginShellAnswer {
  try {
    const env: Environment = {}
    for (const [name, value] of Object.entries(JSON.parse(printed) as Record<string, unknown>)) {
      if (typeof value === 'string') env[name] = value
    }
    for (const name of [MARK, 'ELECTRON_RUN_AS_NODE', ...Object.keys(duringProfile)]) delete env[name]
    return { env }
  } catch (error) {
    return { failure: `its output couldn't be read: ${messageOf(error)}` }
  }
}

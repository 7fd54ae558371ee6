import { randomUUID } from 'node:crypto'
import { userInfo } from 'node:os'
import { basename } from 'node:path'
import { messageOf } from '../common/errors.ts'
import { runProgram } from '../common/processes/run-program.ts'
import type { Environment } from '../common/processes/spawn-process.ts'

export interface LoginShellRequest {
  /** absolute path of the shell */
  shell: string
  /** the environment with which the shell starts */
  env: Environment
  cwd: string
  timeoutMs: number
  /** a Node executable, or Electron running as Node */
  execPath: string
  /** Ends the shell immediately. */
  signal?: AbortSignal
}
export type LoginShellAnswer = { env: Environment } | { failure: string }

/** The maximum output of a profile, in bytes. A profile that prints more is stopped. */
const MAXIMUM_OUTPUT = 8 * 1024 * 1024

/**
 * Variables that are set while the profile runs, and removed from the result. The first one is VS Code's own, which existing profiles
 * check.
 */
const duringProfile: Environment = {
  VSCODE_RESOLVING_ENVIRONMENT: '1',
  DISABLE_AUTO_UPDATE: 'true',
  ZSH_TMUX_AUTOSTART: 'false',
  ZSH_TMUX_AUTOSTARTED: 'true',
}
const MARK = 'PARLEY_SHELL_MARK'

/**
 * Returns the path of the user's shell: `SHELL`, or else the shell in the system's user database. Returns `undefined` for a user who can't
 * log in.
 */
export function loginShell(env: Readonly<Record<string, string | undefined>>): string | undefined {
  let shell = env.SHELL
  if (!shell) {
    try {
      shell = userInfo().shell ?? undefined
    } catch {
      // The user id has no entry in the database, as in some containers.
    }
  }
  return shell && !/[\\/](?:false|nologin)$/.test(shell) ? shell : undefined
}

/**
 * Starts the shell as an interactive login shell, lets it read the user's profile, and has it print the environment as JSON between two
 * delimiters. So other output of the profile is ignored, and values may contain line breaks.
 *
 * Never rejects. At the time limit, the shell's whole process group is killed. The shell has no terminal and an empty stdin, so that a
 * profile that prompts for input continues immediately.
 */
export async function readLoginShellEnvironment(request: LoginShellRequest): Promise<LoginShellAnswer> {
  const { shell, cwd, execPath, timeoutMs, signal } = request
  const mark = randomUUID()
  const name = basename(shell)
  const args = [...shellArguments(name), printCommand(name, execPath)]
  const env = { ...request.env, ...duringProfile, ELECTRON_RUN_AS_NODE: '1', [MARK]: mark }
  let printed: string | undefined
  const isEnough = (output: string, from: number) => {
    printed = between(output, mark, from)
    return printed !== undefined
  }
  try {
    const limits = { timeoutMs, maxOutput: MAXIMUM_OUTPUT, signal, isEnough }
    const result = await runProgram({ command: shell, args, env, cwd }, limits)
    if (printed !== undefined) return parsePrinted(printed)
    if (!('ended' in result)) {
      const { killed, code } = result
      return { failure: `it ended (${killed ?? `exit code ${code}`}) without telling its environment` }
    }
    if (result.ended === 'too-long') return { failure: 'its profile printed more than 8 MB' }
    if (result.ended === 'aborted') return { failure: 'it was no longer needed' }
    return { failure: `its profile didn't finish within ${timeoutMs / 1000} seconds` }
  } catch (error) {
    return { failure: messageOf(error) }
  }
}

function shellArguments(name: string): string[] {
  if (/^(?:pwsh|powershell)(?:\.exe)?$/i.test(name)) return ['-Login', '-Command']
  if (name === 'csh' || name === 'tcsh') return ['-ic']
  return ['-i', '-l', '-c']
}

/**
 * Returns the shell's command that prints the environment. The program contains no quotes, so single quotes around it work in every shell.
 */
function printCommand(name: string, execPath: string): string {
  const program = `process.stdout.write(process.env.${MARK}+JSON.stringify(process.env)+process.env.${MARK})`
  if (/^(?:pwsh|powershell)(?:\.exe)?$/i.test(name)) {
    return `& '${execPath.replaceAll("'", "''")}' -e '${program}'`
  }
  const quoted = `'${execPath.replaceAll("'", `'\\''`)}'`
  return `${name === 'nu' ? '^' : ''}${quoted} -e '${program}'`
}

/** Returns the JSON between the delimiters, once it's complete. The delimiter also occurs inside of the JSON, but there it's in quotes. */
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

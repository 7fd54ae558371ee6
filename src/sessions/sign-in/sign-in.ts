import { readFile } from 'node:fs/promises'
import * as l10n from '@vscode/l10n'
import { type Agent, type AgentLaunch, AgentRequestError } from '../../acp/agent.ts'
import { RpcCode } from '../../acp/errors.ts'
import type { AuthMethod } from '../../acp/model.ts'
import { messageOf } from '../../common/errors.ts'
import { hostPlatform } from '../../common/platform.ts'
import { findCommand, mergeEnvironment } from '../../common/processes/spawn-process.ts'
import type { SignInTerminal, SignInVariables } from '../ports.ts'
import type { AgentRunner } from '../runners/agent-runner.ts'

export interface SignInOptions {
  runner: (agentId: string) => AgentRunner
  signInTerminal: SignInTerminal
  signInVariables: SignInVariables
}

/**
 * The result of signing in:
 * - `same`: the running process is signed in.
 * - `outdated`: the running process must be restarted to be signed in.
 */
export type SignedIn = 'same' | 'outdated'

/** Thrown if the method can't be used from VS Code: it depends on the agent's own settings, or has no command to run. */
export class SignInUnavailableError extends Error {}

/** Signs in to an agent with one of its methods, of any type. Rejects if that fails. */
export async function signIn(
  options: SignInOptions,
  agentId: string,
  methodId: string,
  method: AuthMethod | undefined,
  signal: AbortSignal,
): Promise<SignedIn> {
  const runner = options.runner(agentId)
  if (method?.type === 'terminal') {
    await options.signInTerminal(agentId, method, signal)
    return 'outdated'
  }
  if (method && asksForValues(method)) {
    await options.signInVariables(agentId, method, signal)
    await runner.renew(async () => {
      const { agent } = await runner.ensure(signal)
      await authenticateIfAsked(agent, methodId, signal)
    })
    return 'same'
  }
  if (method?.gateway) throw new SignInUnavailableError(l10n.t('it requires a gateway URL'))
  const { agent } = await runner.ensure(signal)
  await agent.authenticate(methodId, signal).catch((error: unknown) => {
    throw isUnknown(error) ? new SignInUnavailableError(messageOf(error), { cause: error }) : error
  })
  return 'same'
}

/** Whether signing in needs values that the agent reads from its environment. */
export function asksForValues({ type, vars }: AuthMethod): boolean {
  return type === 'env_var' || (vars !== undefined && vars.length > 0)
}

/** Requests authentication: some agents read the variables only then, and others don't support the request. */
async function authenticateIfAsked(agent: Agent, methodId: string, signal: AbortSignal): Promise<void> {
  try {
    await agent.authenticate(methodId, signal)
  } catch (error) {
    if (!isUnknown(error)) throw error
  }
}

/** Whether the agent doesn't support requests for the method, whose description only tells the user what to do. */
function isUnknown(error: unknown): boolean {
  if (!(error instanceof AgentRequestError)) return false
  const { kind, code, message } = error
  return (
    kind === 'unsupported' ||
    code === RpcCode.methodNotFound ||
    /\bnot (?:yet )?(?:implemented|supported)\b/i.test(message)
  )
}

/**
 * Signs out of an agent: deletes its stored values, and notifies the agent if it supports that. A process that has stored
 * values keeps them, so it's ended; a process that never answers is ended when the user stops waiting (`givenUp`). Resolves to whether
 * there was anything to do. Rejects with the agent's refusal, or with the error of starting the agent.
 */
export async function signOut(
  runner: AgentRunner,
  forget: () => Promise<boolean>,
  givenUp?: AbortSignal,
): Promise<boolean> {
  const forgotten = await forget()
  const { agent } = await runner.ensure(givenUp)
  const { logout } = agent.capabilities
  const stop = () => {
    if (forgotten) runner.stop()
  }
  givenUp?.addEventListener('abort', stop, { once: true })
  try {
    if (logout) await agent.logout()
  } finally {
    givenUp?.removeEventListener('abort', stop)
    stop()
  }
  return forgotten || logout
}

/**
 * A shell script that runs the command after its first two arguments, a message and a file. If the command fails, writes the exit code to
 * the file and keeps the terminal open.
 */
const SCRIPT = `message=$1; shift
"$@"
code=$?
[ "$code" -eq 0 ] && exit 0
printf '%s\\n' "$code" > "$0"
printf '\\r\\n%s' "$message"
read -r _
exit "$code"`

/**
 * Wraps a command so that its output stays readable if it fails, since VS Code closes a terminal as soon as its program exits. On Windows,
 * returns the command unchanged.
 * @param file the file to which the exit code of a failure is written
 * @param message the text below the output
 */
export function keepOpenOnFailure(
  command: string,
  args: readonly string[],
  { file, message, platform = hostPlatform }: { file: string; message: string; platform?: NodeJS.Platform },
): { command: string; args: string[] } {
  if (platform === 'win32') return { command, args: [...args] }
  return { command: '/bin/sh', args: ['-c', SCRIPT, file, message, command, ...args] }
}

/**
 * Resolves to what a sign-in terminal runs: the method's own command, or the agent's command with the arguments of the method. The command
 * has its whole path, since VS Code's terminal doesn't find `.cmd` files of Windows on the PATH.
 */
export async function terminalCommand(
  launch: Pick<AgentLaunch, 'command' | 'args' | 'env' | 'cwd'>,
  method: Required<AuthMethod>['terminal'] = { args: [], env: {} },
  platform: NodeJS.Platform = hostPlatform,
): Promise<Pick<AgentLaunch, 'command' | 'args' | 'env'>> {
  const env = mergeEnvironment(launch.env, method.env, platform)
  const { command } = method
  if (command === undefined) return { command: launch.command, args: [...launch.args, ...method.args], env }
  const found = await findCommand(command, { env, cwd: launch.cwd, platform })
  return { command: 'path' in found ? found.path : command, args: method.args, env }
}

/** Resolves to the exit code of a failed command that the file contains; `undefined` while there is none. */
export async function failedExitCode(file: string): Promise<number | undefined> {
  const text = await readFile(file, 'utf8').catch(() => '')
  return /^\d+\n$/.test(text) ? Number(text) : undefined
}

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import type { AgentLaunch } from '../../acp/agent.ts'
import type { AuthMethod } from '../../acp/model.ts'
import { DisposableStore } from '../../common/disposable.ts'
import { CancelledError } from '../../common/errors.ts'
import { SIGN_IN_POLL_MS } from '../../common/limits.ts'
import { failedExitCode, keepOpenOnFailure, terminalCommand } from '../../sessions/sign-in/sign-in.ts'

/**
 * Signs in with the method's own command, or with the agent's command and the method's arguments, in a visible terminal,
 * where the user may have to type. Closing the terminal before the command ended cancels the sign-in; if the command
 * fails, the terminal stays open with its output.
 */
export async function signInTerminal(
  agentName: string,
  launch: AgentLaunch,
  method: AuthMethod,
  signal: AbortSignal,
): Promise<void> {
  if (launch.remote)
    throw new Error(l10n.t("{0} runs on a server, so it can't sign in in a terminal here.", agentName))
  const { command, args, env } = await terminalCommand(launch, method.terminal)
  const folder = await mkdtemp(path.join(tmpdir(), 'parley-sign-in-'))
  try {
    // the user may have canceled while the agent's start was looked up
    if (signal.aborted) throw new CancelledError()
    const file = path.join(folder, 'exit-code')
    const message = l10n.t('Sign-in failed. Press Enter to close the terminal.')
    const run = keepOpenOnFailure(command, args, { file, message })
    const terminal = vscode.window.createTerminal({
      name: l10n.t('Sign in to {0}', agentName),
      shellPath: run.command,
      shellArgs: run.args,
      env,
      strictEnv: true,
      cwd: launch.cwd,
      iconPath: new vscode.ThemeIcon('key'),
      isTransient: true,
    })
    terminal.show()
    const code = await exitOf(terminal, file, signal)
    if (code === undefined) throw new CancelledError()
    if (code !== 0) throw new Error(l10n.t('The sign-in command exited with code {0}.', code))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Resolves to the command's exit code when the terminal closes, or when the command fails and the terminal stays open. */
async function exitOf(
  terminal: vscode.Terminal,
  file: string,
  signal: AbortSignal,
): Promise<number | undefined> {
  const owned = new DisposableStore()
  try {
    return await new Promise<number | undefined>((resolve, reject) => {
      const onAbort = () => {
        terminal.dispose()
        reject(new CancelledError())
      }
      signal.addEventListener('abort', onAbort, { once: true })
      owned.add({ dispose: () => signal.removeEventListener('abort', onAbort) })
      const timer = setInterval(async () => {
        const code = await failedExitCode(file)
        if (code !== undefined) resolve(code)
      }, SIGN_IN_POLL_MS)
      owned.add({ dispose: () => clearInterval(timer) })
      owned.add(
        vscode.window.onDidCloseTerminal(closed => {
          if (closed === terminal) resolve(closed.exitStatus?.code)
        }),
      )
    })
  } finally {
    owned.dispose()
  }
}

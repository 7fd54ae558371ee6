import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import type { AgentLaunch } from '../../acp/agent.ts'
import { DisposableStore } from '../../common/disposable.ts'
import { CancelledError } from '../../common/errors.ts'
import type { SignInTerminal } from '../../sessions/ports.ts'

/**
 * Signs in by the method's own command, or by the agent's with the method's arguments, in a terminal of the editor: the
 * person sees it and may have to type. A terminal that is closed before the command ended is a cancel.
 */
export function signInTerminal(
  resolveLaunch: (agentId: string) => Promise<AgentLaunch>,
  nameOf: (agentId: string) => string,
): SignInTerminal {
  return async (agentId, method, signal) => {
    const launch = await resolveLaunch(agentId)
    const { command, args, env } = method.terminal ?? { args: [], env: {} }
    const terminal = vscode.window.createTerminal({
      name: l10n.t('Sign in to {0}', nameOf(agentId)),
      shellPath: command ?? launch.command,
      shellArgs: command === undefined ? [...launch.args, ...args] : args,
      env: { ...launch.env, ...env },
      strictEnv: true,
      cwd: launch.cwd,
      iconPath: new vscode.ThemeIcon('key'),
      isTransient: true,
    })
    terminal.show()
    const code = await exitOf(terminal, signal)
    if (code === undefined) throw new CancelledError()
    if (code !== 0) throw new Error(l10n.t('The sign-in command ended with code {0}.', code))
  }
}

/** Resolves with the exit code when the terminal is closed; VS Code keeps one open whose command failed at once. */
async function exitOf(terminal: vscode.Terminal, signal: AbortSignal): Promise<number | undefined> {
  const owned = new DisposableStore()
  try {
    return await new Promise<number | undefined>((resolve, reject) => {
      const onAbort = () => {
        terminal.dispose()
        reject(new CancelledError())
      }
      signal.addEventListener('abort', onAbort, { once: true })
      owned.add({ dispose: () => signal.removeEventListener('abort', onAbort) })
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

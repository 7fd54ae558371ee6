import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import type { AskVariable } from '../../sessions/sign-in/sign-in-values.ts'

/** Asks for a variable's value with an input box; what is secret is not shown while it is typed. */
export function askVariable(nameOf: (agentId: string) => string): AskVariable {
  return async (agentId, method, variable, signal) => {
    const source = new vscode.CancellationTokenSource()
    const cancel = () => source.cancel()
    signal.addEventListener('abort', cancel, { once: true })
    if (signal.aborted) cancel()
    const label = variable.label ? `${variable.label} (${variable.name})` : variable.name
    try {
      return await vscode.window.showInputBox(
        {
          title: l10n.t('Sign in to {0}: {1}', nameOf(agentId), method.name),
          prompt: variable.optional
            ? l10n.t("{0}, optional. Stored in VS Code's secret storage.", label)
            : l10n.t("{0}. Stored in VS Code's secret storage.", label),
          password: variable.secret,
          ignoreFocusOut: true,
          validateInput: value => {
            if (value.includes('\0')) return l10n.t('Invalid environment variable value.')
            return value.trim() === '' && !variable.optional ? l10n.t('A value is required.') : undefined
          },
        },
        source.token,
      )
    } finally {
      signal.removeEventListener('abort', cancel)
      source.dispose()
    }
  }
}

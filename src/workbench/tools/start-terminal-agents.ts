import * as vscode from 'vscode'

const SETTINGS = 'parley.terminalAgents'

/**
 * Loads the servers for agents in terminals once a setting turns them on. `load` reports its own errors. The settings are read here, since
 * their schema isn't loaded at startup.
 */
export function startTerminalAgents(load: () => Promise<unknown>): vscode.Disposable {
  const { workspace } = vscode
  const start = () => {
    const values = workspace.getConfiguration().get<Record<string, unknown>>(SETTINGS) ?? {}
    if (workspace.isTrusted && Object.values(values).includes(true)) void load()
  }
  start()
  return vscode.Disposable.from(
    workspace.onDidGrantWorkspaceTrust(start),
    workspace.onDidChangeConfiguration(event => {
      if (event.affectsConfiguration(SETTINGS)) start()
    }),
  )
}

/** The workspace folders, trust and memento of VS Code. */
import * as vscode from 'vscode'
import type { LastUsedAgent, Trust } from './agent-catalog.ts'

/** The workspace folders that are on this machine's disk. */
export function localFolders(): Array<{ name: string; path: string }> {
  return (vscode.workspace.workspaceFolders ?? [])
    .filter(folder => folder.uri.scheme === 'file')
    .map(folder => ({ name: folder.name, path: folder.uri.fsPath }))
}

export const workspaceTrust: Trust = {
  get trusted() {
    return vscode.workspace.isTrusted
  },
  onDidChange: listener => vscode.workspace.onDidGrantWorkspaceTrust(() => listener()),
}

/** The agent used last in this workspace, or else anywhere. */
export function lastUsedAgent(context: vscode.ExtensionContext): LastUsedAgent {
  const key = 'lastUsedAgent'
  return {
    get: () => context.workspaceState.get<string>(key) ?? context.globalState.get<string>(key),
    async set(id) {
      await context.workspaceState.update(key, id)
      await context.globalState.update(key, id)
    },
  }
}

/** What the editor knows of the workspace, for `planRoots`. */
import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import type { WorkspaceRoot } from './roots.ts'

export function workspaceRoots(): WorkspaceRoot[] {
  return (vscode.workspace.workspaceFolders ?? []).map(({ name, uri }) => ({
    name,
    scheme: uri.scheme,
    path: uri.fsPath,
  }))
}

/** The file of the active editor (a notebook's too), when it is one on disk. */
export function activeFilePath(): string | undefined {
  const uri = vscode.window.activeTextEditor?.document.uri ?? vscode.window.activeNotebookEditor?.notebook.uri
  return uri?.scheme === 'file' ? uri.fsPath : undefined
}

/** Lets the person choose the folder that a session works in; `undefined` when they chose none. */
export async function pickWorkingDirectory(choices: readonly WorkspaceRoot[]): Promise<string | undefined> {
  const items = choices.map(folder => ({ label: folder.name, description: folder.path, folder }))
  const picked = await vscode.window.showQuickPick(items, {
    title: l10n.t('Working directory'),
    placeHolder: l10n.t('Select the working directory for the session'),
    matchOnDescription: true,
  })
  return picked?.folder.path
}

import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as vscode from 'vscode'

/** A new folder for each test of the suite. After the test, closes all editors and deletes the folder. */
export function useTemporaryFolder(): () => string {
  let folder = ''
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'editor-')))
  })
  afterEach(async () => {
    // undo unsaved changes, since VS Code would ask before it closes the document
    for (const { isDirty, uri } of vscode.workspace.textDocuments) {
      if (!isDirty || !uri.fsPath.startsWith(folder)) continue
      await vscode.window.showTextDocument(uri)
      await vscode.commands.executeCommand('workbench.action.files.revert')
    }
    await vscode.commands.executeCommand('workbench.action.closeAllEditors')
    rmSync(folder, { recursive: true, force: true })
  })
  return () => folder
}

import * as vscode from 'vscode'
import { type Disposable, DisposableStore } from '../../common/disposable.ts'
import type { ChangeTracker } from './change-tracker.ts'

/** Tells the tracker what the user does to files in the editor. */
export function followUserEdits(tracker: ChangeTracker): Disposable {
  const own = new DisposableStore()
  const { workspace } = vscode
  const typed = (document: vscode.TextDocument) => {
    if (document.uri.scheme === 'file')
      tracker.typed(document.uri.fsPath, () => document.getText(), document.isDirty)
  }
  own.add(workspace.onDidChangeTextDocument(({ document }) => typed(document)))
  own.add(
    workspace.onDidSaveTextDocument(document => {
      if (document.uri.scheme !== 'file') return
      tracker.saved(document.uri.fsPath, document.getText())
      typed(document)
    }),
  )
  own.add(
    workspace.onDidCloseTextDocument(document => {
      if (document.uri.scheme === 'file') tracker.typed(document.uri.fsPath, () => document.getText(), false)
    }),
  )
  own.add(
    workspace.onWillRenameFiles(({ files }) => {
      for (const { oldUri } of files) if (oldUri.scheme === 'file') tracker.renaming(oldUri.fsPath)
    }),
  )
  own.add(
    workspace.onDidRenameFiles(({ files }) => {
      for (const { oldUri, newUri } of files)
        if (oldUri.scheme === 'file') void tracker.renamed(oldUri.fsPath, newUri.fsPath)
    }),
  )
  return own
}

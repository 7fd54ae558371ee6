import * as vscode from 'vscode'
// biome-ignore lint/style/noRestrictedImports: the tracker reads unsaved text at once, as long as it's in this process
import type { ChangeTracker } from '../../changes/change-tracker.ts'
import { type Disposable, DisposableStore } from '../../common/disposable.ts'
import { isUnsaved } from '../editor/files.ts'
import { onDidSaveElsewhere } from '../editor/other-editors.ts'
import { pathOnDisk } from '../path-on-disk.ts'

/** Reports the user's file operations in the editor to the tracker. */
export function followUserEdits(tracker: ChangeTracker): Disposable {
  const own = new DisposableStore()
  const { workspace } = vscode
  /** the latest versions of documents with unsaved changes */
  const unsaved = new WeakMap<vscode.TextDocument, number>()
  /** the versions that were reported as saved */
  const reported = new WeakMap<vscode.TextDocument, number>()
  const typed = (document: vscode.TextDocument) => {
    const { uri, version } = document
    if (uri.scheme !== 'file') return
    const isDirty = isUnsaved(document)
    // VS Code reports that a document isn't dirty before it reports the save
    const isSame = !isDirty && unsaved.get(document) === version
    if (isDirty) unsaved.set(document, version)
    else unsaved.delete(document)
    if (isSame) {
      reported.set(document, version)
      tracker.edits.saved(pathOnDisk(uri), document.getText(), { likely: true })
    }
    tracker.edits.typed(pathOnDisk(uri), () => document.getText(), isDirty)
  }
  for (const document of workspace.textDocuments) if (isUnsaved(document)) typed(document)
  own.add(workspace.onDidChangeTextDocument(({ document }) => typed(document)))
  own.add(
    workspace.onDidSaveTextDocument(document => {
      if (document.uri.scheme !== 'file') return
      if (reported.get(document) !== document.version)
        tracker.edits.saved(pathOnDisk(document.uri), document.getText())
      typed(document)
    }),
  )
  own.add(onDidSaveElsewhere(file => tracker.edits.savedElsewhere(file)))
  own.add(
    workspace.onDidCloseTextDocument(document => {
      if (document.uri.scheme === 'file')
        tracker.edits.typed(pathOnDisk(document.uri), () => document.getText(), false)
    }),
  )
  own.add(
    workspace.onWillRenameFiles(({ files }) => {
      for (const { oldUri, newUri } of files)
        if (oldUri.scheme === 'file') tracker.renames.renaming(pathOnDisk(oldUri), pathOnDisk(newUri))
    }),
  )
  own.add(
    workspace.onDidRenameFiles(({ files }) => {
      for (const { oldUri, newUri } of files)
        if (oldUri.scheme === 'file') void tracker.renames.renamed(pathOnDisk(oldUri), pathOnDisk(newUri))
    }),
  )
  return own
}

import type { Disposable } from '../../common/disposable.ts'
import type { DocumentCopy, OpenDocuments } from '../../editor/files/open-documents.ts'
import type { UserEdits } from './user-edits.ts'
import type { UserRenames } from './user-renames.ts'

interface FollowingTracker {
  edits: Pick<UserEdits, 'typed' | 'saved' | 'savedElsewhere'>
  renames: Pick<UserRenames, 'renaming' | 'renamed'>
}

/** Reports to the tracker what the user does with files in the editor. */
export function followDocuments(documents: OpenDocuments, { edits, renames }: FollowingTracker): Disposable {
  /** the latest versions of documents with unsaved changes */
  const unsaved = new WeakMap<DocumentCopy, number>()
  /** the versions that were reported as saved */
  const reported = new WeakMap<DocumentCopy, number>()
  const typed = (document: DocumentCopy) => {
    const { path, version } = document
    const isDirty = document.isDirty()
    // VS Code reports that a document isn't dirty before it reports the save
    const isSame = !isDirty && !document.isClosed() && unsaved.get(document) === version
    if (isDirty) unsaved.set(document, version)
    else unsaved.delete(document)
    if (isSame) {
      reported.set(document, version)
      edits.saved(path, document.text(), { likely: true })
    }
    edits.typed(path, () => document.text(), isDirty)
  }
  for (const document of documents.all) if (document.isDirty()) typed(document)
  return documents.onDidReport(report => {
    switch (report.type) {
      case 'saved-elsewhere':
        return edits.savedElsewhere(report.path)
      case 'renaming':
        for (const { from, to } of report.files) renames.renaming(from, to)
        return
      case 'renamed':
        for (const { from, to } of report.files) void renames.renamed(from, to)
        return
    }
    const { document } = report
    // only a document that the editor restored with unsaved changes is of interest
    if (report.type === 'opened' && !document.isDirty()) return
    if (report.type === 'saved' && reported.get(document) !== document.version)
      edits.saved(document.path, document.text())
    typed(document)
  })
}

import { realpath } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import * as vscode from 'vscode'
import { type Disposable, DisposableStore } from '../../common/disposable.ts'
import type { Event } from '../../common/event.ts'
import type { DocumentEdit, DocumentEvent, EditorDocuments } from '../../editor/files/open-documents.ts'
import type { Encodings } from '../../editor/files/text-files.ts'
import { pathOnDisk } from '../path-on-disk.ts'
import { onDidSaveElsewhere, unsavedElsewhere } from './other-editors.ts'

/** Reports the paths of files that are created, changed or deleted on disk. */
export function watchFiles(changed: (path: string) => void): Disposable {
  const own = new DisposableStore()
  const watcher = own.add(vscode.workspace.createFileSystemWatcher('**/*'))
  const tell = (uri: vscode.Uri) => changed(pathOnDisk(uri))
  for (const event of [watcher.onDidCreate, watcher.onDidChange, watcher.onDidDelete]) own.add(event(tell))
  return own
}

/** Fires with the real path of a file or folder that the user saved, created, renamed or deleted in the editor. */
export const onDidSaveFile: Event<string> = listener => {
  const own = new DisposableStore()
  const { workspace } = vscode
  const tell = (uri: vscode.Uri) => {
    if (uri.scheme !== 'file') return
    const file = pathOnDisk(uri)
    listener(file)
    realpath.native(file, (_error, path) => path !== undefined && path !== file && listener(path))
  }
  own.add(workspace.onDidSaveTextDocument(({ uri }) => tell(uri)))
  own.add(onDidSaveElsewhere(path => tell(vscode.Uri.file(path))))
  own.add(workspace.onDidCreateFiles(({ files }) => files.forEach(tell)))
  own.add(workspace.onDidDeleteFiles(({ files }) => files.forEach(tell)))
  own.add(
    workspace.onDidRenameFiles(({ files }) => {
      for (const { oldUri, newUri } of files) for (const uri of [oldUri, newUri]) tell(uri)
    }),
  )
  return own
}

/** VS Code's documents of files on disk. */
export class VsCodeDocuments implements EditorDocuments {
  readonly #open = new Map<number, vscode.TextDocument>()
  #lastId = 0

  follow(listener: (event: DocumentEvent) => void): Disposable {
    const own = new DisposableStore()
    const { tabGroups } = vscode.window
    /** by document: the state that was reported last */
    const reported = new Map<vscode.TextDocument, { id: number; isDirty: boolean; lineEnd: string }>()
    const stateOf = (document: vscode.TextDocument, id: number) => {
      const { version, encoding } = document
      const state = { version, isDirty: isUnsaved(document), lineEnd: lineEndOf(document), encoding }
      reported.set(document, { id, ...state })
      return { id, ...state }
    }
    const opened = (document: vscode.TextDocument) => {
      const { uri } = document
      // VS Code also fires this when the language of an open document changes
      if (uri.scheme !== 'file' || document.isClosed || reported.has(document)) return
      const state = stateOf(document, ++this.#lastId)
      this.#open.set(state.id, document)
      listener({ type: 'opened', path: pathOnDisk(uri), text: document.getText(), ...state })
    }
    const changed = ({ document, contentChanges }: vscode.TextDocumentChangeEvent) => {
      const before = reported.get(document)
      if (!before) return opened(document)
      const state = stateOf(document, before.id)
      const edits = contentChanges.map(({ rangeOffset: start, rangeLength, text }) => {
        return { start, end: start + rangeLength, text }
      })
      const isOther = state.lineEnd !== before.lineEnd
      listener({ type: 'changed', edits, ...(isOther && { text: document.getText() }), ...state })
    }
    const saved = (document: vscode.TextDocument) => {
      const before = reported.get(document)
      if (!before) return
      const { id, isDirty } = stateOf(document, before.id)
      listener({ type: 'saved', id, isDirty })
    }
    const closed = (document: vscode.TextDocument) => {
      const before = reported.get(document)
      if (!before || !document.isClosed) return
      reported.delete(document)
      this.#open.delete(before.id)
      listener({ type: 'closed', id: before.id })
    }
    let elsewhere: readonly string[] = []
    const tabsChanged = () => {
      const tabs = dirtyTabs()
      for (const [document, before] of reported) {
        const isDirty = isUnsaved(document, tabs)
        if (isDirty === before.isDirty) continue
        before.isDirty = isDirty
        listener({ type: 'dirty', id: before.id, isDirty })
      }
      const paths = unsavedElsewhere()
      if (isDeepStrictEqual(paths, elsewhere)) return
      elsewhere = paths
      listener({ type: 'unsaved-elsewhere', paths })
    }
    const { workspace } = vscode
    for (const document of workspace.textDocuments) opened(document)
    tabsChanged()
    own.add(workspace.onDidOpenTextDocument(opened))
    own.add(workspace.onDidChangeTextDocument(changed))
    own.add(workspace.onDidSaveTextDocument(saved))
    own.add(workspace.onDidCloseTextDocument(closed))
    own.add(tabGroups.onDidChangeTabs(tabsChanged))
    own.add(tabGroups.onDidChangeTabGroups(tabsChanged))
    own.add(onDidSaveElsewhere(path => listener({ type: 'saved-elsewhere', path })))
    const renames = (type: 'renaming' | 'renamed') => (event: vscode.FileRenameEvent) => {
      const files = event.files.flatMap(({ oldUri, newUri }) =>
        oldUri.scheme === 'file' ? { from: pathOnDisk(oldUri), to: pathOnDisk(newUri) } : [],
      )
      listener({ type, files })
    }
    own.add(workspace.onWillRenameFiles(renames('renaming')))
    own.add(workspace.onDidRenameFiles(renames('renamed')))
    return own
  }

  async edit(id: number, version: number, { start, end, text }: DocumentEdit): Promise<boolean> {
    const document = this.#open.get(id)
    if (document?.version !== version) return false
    const change = new vscode.WorkspaceEdit()
    change.replace(document.uri, new vscode.Range(document.positionAt(start), document.positionAt(end)), text)
    return vscode.workspace.applyEdit(change)
  }

  async save(id: number): Promise<boolean> {
    const document = this.#open.get(id)
    // VS Code rejects the save of a closed document
    return document !== undefined && !document.isClosed && document.save()
  }
}

function lineEndOf({ eol }: vscode.TextDocument): '\n' | '\r\n' {
  return eol === vscode.EndOfLine.CRLF ? '\r\n' : '\n'
}

/**
 * Whether a document has unsaved changes. Text that the user types while VS Code saves the document isn't saved, but VS
 * Code then reports to extensions that the document has no unsaved changes. The document's tabs have the right state.
 */
export function isUnsaved(document: vscode.TextDocument, tabs?: ReadonlySet<string>): boolean {
  return document.isDirty || (tabs ?? dirtyTabs()).has(document.uri.toString())
}

/** Returns the URIs of the documents whose tabs show unsaved changes. */
function dirtyTabs(): Set<string> {
  const tabs = vscode.window.tabGroups.all.flatMap(group => group.tabs)
  return new Set(
    tabs.flatMap(({ isDirty, input }) => {
      if (!isDirty) return []
      if (input instanceof vscode.TabInputText) return input.uri.toString()
      return input instanceof vscode.TabInputTextDiff ? input.modified.toString() : []
    }),
  )
}

/** The encodings that VS Code reads and writes, as `files.encoding` sets them. */
export const vscodeEncodings: Encodings = {
  async configured(path) {
    const encoding = vscode.workspace.getConfiguration('files', vscode.Uri.file(path)).get('encoding')
    return typeof encoding === 'string' && encoding !== 'utf8' ? encoding : undefined
  },
  decode: async (bytes, encoding) => vscode.workspace.decode(bytes, { encoding }),
  encode: async (text, encoding) => vscode.workspace.encode(text, { encoding }),
}

/** Moves a file to the trash; rejects if there is no trash. */
export async function trashFile(file: string): Promise<void> {
  await vscode.workspace.fs.delete(vscode.Uri.file(file), { useTrash: true })
}

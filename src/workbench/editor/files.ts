import { realpath } from 'node:fs'
import * as vscode from 'vscode'
import { type Disposable, DisposableStore } from '../../common/disposable.ts'
import type { Event } from '../../common/event.ts'
import type { Logger } from '../../common/logger.ts'
import type { Documents, OpenDocument } from '../../editor/files/documents.ts'
import { disk } from '../../editor/files/file-system.ts'
import { type FilesShared, filesShared } from '../../editor/files/files.ts'
import type { Encodings } from '../../editor/files/text-files.ts'
import { PathRules } from '../../editor/path-rules.ts'
import type { ProtectedFiles } from '../../editor/protected-files.ts'
import { pathOnDisk } from '../path-on-disk.ts'
import { localFolders } from '../settings.ts'
import { onDidSaveElsewhere, unsavedElsewhere } from './other-editors.ts'

/** The objects for reading and writing files that all sessions of this window share. */
export function vscodeFiles(log: Logger, protectedFiles: ProtectedFiles): FilesShared {
  const rules = new PathRules()
  return filesShared({
    documents: new VscodeDocuments(rules),
    fileSystem: disk,
    encodings: vscodeEncodings,
    rules,
    protectedFiles,
    log,
    watch: watchFiles,
    folders: () => localFolders().map(({ path }) => path),
  })
}

function watchFiles(changed: (path: string) => void): Disposable {
  const own = new DisposableStore()
  const watcher = own.add(vscode.workspace.createFileSystemWatcher('**/*'))
  const tell = (uri: vscode.Uri) => changed(pathOnDisk(uri))
  for (const event of [watcher.onDidCreate, watcher.onDidChange, watcher.onDidDelete]) own.add(event(tell))
  return own
}

/** The user saved, created, renamed or deleted a file or folder in the editor: its real path. */
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

/** The editor's open documents of files on disk. */
export class VscodeDocuments implements Documents {
  readonly #rules: PathRules

  constructor(rules: PathRules) {
    this.#rules = rules
  }

  find(paths: readonly string[]): OpenDocument | undefined {
    const keys = new Set(paths.map(path => this.#rules.key(path)))
    // A file may be open under two spellings of its path: prefer the document with unsaved changes.
    let found: vscode.TextDocument | undefined
    for (const document of vscode.workspace.textDocuments) {
      if (document.uri.scheme !== 'file' || document.isClosed) continue
      if (!keys.has(this.#rules.key(pathOnDisk(document.uri)))) continue
      if (!found || (isUnsaved(document) && !isUnsaved(found))) found = document
    }
    return found && openDocument(found)
  }

  isUnsavedElsewhere(paths: readonly string[]): boolean {
    const keys = new Set(paths.map(path => this.#rules.key(path)))
    return unsavedElsewhere().some(path => keys.has(this.#rules.key(path)))
  }

  unsaved(): string[] {
    const documents = vscode.workspace.textDocuments.filter(
      one => one.uri.scheme === 'file' && isUnsaved(one),
    )
    return [...documents.map(({ uri }) => pathOnDisk(uri)), ...unsavedElsewhere()]
  }
}

/**
 * Whether a document has unsaved changes. Text that the user types while VS Code saves the document isn't saved, but VS
 * Code then reports to extensions that the document has no unsaved changes. The document's tabs know better.
 */
export function isUnsaved(document: vscode.TextDocument): boolean {
  if (document.isDirty) return true
  const address = document.uri.toString()
  return vscode.window.tabGroups.all.some(({ tabs }) =>
    tabs.some(({ isDirty, input }) => {
      if (!isDirty) return false
      if (input instanceof vscode.TabInputText) return input.uri.toString() === address
      return input instanceof vscode.TabInputTextDiff && input.modified.toString() === address
    }),
  )
}

function openDocument(document: vscode.TextDocument): OpenDocument {
  return {
    text: () => document.getText(),
    isDirty: () => isUnsaved(document),
    isClosed: () => document.isClosed,
    encoding: document.encoding,
    lineEnd: document.eol === vscode.EndOfLine.CRLF ? '\r\n' : '\n',
    async replace({ start, end, text }, expected) {
      if (document.isClosed || document.getText() !== expected) return false
      const change = new vscode.WorkspaceEdit()
      const range = new vscode.Range(document.positionAt(start), document.positionAt(end))
      change.replace(document.uri, range, text)
      return vscode.workspace.applyEdit(change)
    },
    async save() {
      // VS Code rejects the save of a closed document
      return !document.isClosed && document.save()
    },
  }
}

/** The encodings that VS Code reads and writes, as `files.encoding` sets them. */
export const vscodeEncodings: Encodings = {
  configured(path) {
    const encoding = vscode.workspace.getConfiguration('files', vscode.Uri.file(path)).get('encoding')
    return typeof encoding === 'string' && encoding !== 'utf8' ? encoding : undefined
  },
  decode: async (bytes, encoding) => vscode.workspace.decode(bytes, { encoding }),
  encode: async (text, encoding) => vscode.workspace.encode(text, { encoding }),
}

/** Moves a file to the trash; rejects if there is none. */
export async function trashFile(file: string): Promise<void> {
  await vscode.workspace.fs.delete(vscode.Uri.file(file), { useTrash: true })
}

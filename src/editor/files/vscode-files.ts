import { realpath } from 'node:fs'
import * as vscode from 'vscode'
import { type Disposable, DisposableStore } from '../../common/disposable.ts'
import type { Event } from '../../common/event.ts'
import type { Logger } from '../../common/logger.ts'
import { PathRules } from '../path-rules.ts'
import type { ProtectedFiles } from '../protected-files.ts'
import { disk } from './file-system.ts'
import { type FilesShared, filesShared } from './files.ts'
import { VscodeDocuments } from './vscode-documents.ts'
import { vscodeEncodings } from './vscode-encodings.ts'

/** What the sessions of this window share to read and write files. */
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
  })
}

function watchFiles(changed: (path: string) => void): Disposable {
  const own = new DisposableStore()
  const watcher = own.add(vscode.workspace.createFileSystemWatcher('**/*'))
  const tell = ({ fsPath }: vscode.Uri) => changed(fsPath)
  for (const event of [watcher.onDidCreate, watcher.onDidChange, watcher.onDidDelete]) own.add(event(tell))
  return own
}

/** A file was saved in the editor: its path, links resolved. */
export const onDidSaveFile: Event<string> = listener =>
  vscode.workspace.onDidSaveTextDocument(({ uri }) => {
    if (uri.scheme !== 'file') return
    listener(uri.fsPath)
    realpath.native(uri.fsPath, (_error, path) => path !== undefined && listener(path))
  })

import path from 'node:path'
import type * as vscode from 'vscode'
import type { KeyValueStore } from '../common/key-value-store.ts'
import { FileStore, FolderStore } from '../common/key-value-store.ts'
import type { Logger } from '../common/logger.ts'

/** The page that the side bar showed last, to restore it after a reload. */
export const SHOWN_PAGE = 'parley.page'

/** The sessions of tabs by their keys; a tab keeps its key across reloads. */
export const TABS = 'parley.tabs'

/** VS Code's own storage. Values are written with a delay. */
export function mementoStore(memento: vscode.Memento): KeyValueStore {
  return {
    get: key => memento.get(key),
    set: (key, value) => void memento.update(key, value),
  }
}

/** The sessions with a running turn, in case the window is lost. */
export function workStore(
  { storageUri, workspaceState }: vscode.ExtensionContext,
  log: Logger,
): KeyValueStore {
  return storageUri
    ? new FileStore(path.join(storageUri.fsPath, 'work.json'), log)
    : mementoStore(workspaceState)
}

/** What each view shows. Written immediately, because the window may reload right after the click that changed it. */
export function viewStore(
  { storageUri, workspaceState }: vscode.ExtensionContext,
  log: Logger,
): KeyValueStore {
  return storageUri
    ? new FolderStore(path.join(storageUri.fsPath, 'views'), log)
    : mementoStore(workspaceState)
}

/** The folders to which stores write files. */
export function storeFolders({ storageUri, globalStorageUri }: vscode.ExtensionContext): string[] {
  const inWorkspace = storageUri
    ? ['', 'views', 'draft-items'].map(name => path.join(storageUri.fsPath, name))
    : []
  return [path.join(globalStorageUri.fsPath, 'previews'), ...inWorkspace]
}

/** What conversations' pages show first, by session: shared by all windows, since any of them can delete a session. */
export function previewFiles({ globalStorageUri }: vscode.ExtensionContext, log: Logger): KeyValueStore {
  return new FolderStore(path.join(globalStorageUri.fsPath, 'previews'), log)
}

import path from 'node:path'
import * as vscode from 'vscode'
import type { KeyValueStore } from '../../common/key-value-store.ts'
import { FileStore, FolderStore } from '../../common/key-value-store.ts'
import type { Logger } from '../../common/logger.ts'
import { ContextKey } from '../ids.ts'
import { MementoState, WindowFiles, type WindowStates } from './window-states.ts'

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

/** The drafts of this workspace. A window without a workspace has no folder for files. */
export function draftStorage(
  { storageUri, workspaceState }: vscode.ExtensionContext,
  log: Logger,
): { windows: WindowStates; items: KeyValueStore } {
  const store = mementoStore(workspaceState)
  if (!storageUri) return { windows: new MementoState(store, 'parley.drafts'), items: store }
  const folder = path.join(storageUri.fsPath, 'drafts')
  // Checks that the window itself responds, since in a browser the extension host outlives its window by hours.
  const confirm = () => vscode.commands.executeCommand('setContext', ContextKey.windowIsOpen, true)
  return {
    windows: new WindowFiles({ folder, log, confirm }),
    items: new FolderStore(path.join(storageUri.fsPath, 'draft-items'), log),
  }
}

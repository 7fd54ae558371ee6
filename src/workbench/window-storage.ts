import type * as vscode from 'vscode'
import type { WindowStorage } from '../app/storage/stores.ts'
import type { KeyValueStore } from '../common/key-value-store.ts'

/** The storage that VS Code gives the extension in this window. */
export function windowStorage(context: vscode.ExtensionContext): WindowStorage {
  return {
    workspace: mementoStore(context.workspaceState),
    global: mementoStore(context.globalState),
    workspaceFolder: context.storageUri?.fsPath,
    globalFolder: context.globalStorageUri.fsPath,
  }
}

/** Values are written with a delay. */
function mementoStore(memento: vscode.Memento): KeyValueStore {
  return {
    get: key => memento.get(key),
    set: (key, value) => void memento.update(key, value),
  }
}

import type * as vscode from 'vscode'
import type { WindowStorage } from '../app/storage/stores.ts'
import type { KeyValueStore } from '../common/key-value-store.ts'
import { pathOnDisk } from './path-on-disk.ts'

/** Returns the storage that VS Code gives the extension in this window. */
export function windowStorage(context: vscode.ExtensionContext): WindowStorage {
  return {
    workspace: mementoStore(context.workspaceState),
    global: mementoStore(context.globalState),
    workspaceFolder: context.storageUri && pathOnDisk(context.storageUri),
    globalFolder: pathOnDisk(context.globalStorageUri),
  }
}

/** Returns a store in a memento, which VS Code writes with a delay. */
function mementoStore(memento: vscode.Memento): KeyValueStore {
  return {
    get: key => memento.get(key),
    set: (key, value) => void memento.update(key, value),
  }
}

import path from 'node:path'
import type * as vscode from 'vscode'
import type { Logger } from '../../common/logger.ts'
import type { Keep } from '../../sessions/ports.ts'
import { KeepFile } from './keep-file.ts'
import { KeepFolder } from './keep-folder.ts'

/** A memento, as the sessions see it. */
export function keepIn(memento: vscode.Memento): Keep {
  return {
    get: key => memento.get(key),
    set: (key, value) => void memento.update(key, value),
  }
}

/** Where a window remembers what its agents are at, should it be lost. */
export function keepForWork({ storageUri, workspaceState }: vscode.ExtensionContext, log: Logger): Keep {
  return storageUri ? new KeepFile(path.join(storageUri.fsPath, 'work.json'), log) : keepIn(workspaceState)
}

/** Where this workspace's drafts are kept. A window without a workspace has no folder to keep files in. */
export function keepForDrafts(context: vscode.ExtensionContext, log: Logger): { texts: Keep; items: Keep } {
  const { storageUri, workspaceState } = context
  if (!storageUri) return { texts: keepIn(workspaceState), items: keepIn(workspaceState) }
  return {
    texts: new KeepFile(path.join(storageUri.fsPath, 'drafts.json'), log),
    items: new KeepFolder(path.join(storageUri.fsPath, 'draft-items'), log),
  }
}

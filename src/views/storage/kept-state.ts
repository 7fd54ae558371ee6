import path from 'node:path'
import * as vscode from 'vscode'
import type { Logger } from '../../common/logger.ts'
import type { Keep } from '../../sessions/ports.ts'
import { ContextKey } from '../ids.ts'
import { KeepFile, KeepFolder } from './keep-files.ts'
import { MementoState, WindowFiles, type WindowStates } from './window-states.ts'

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

/** What the views show: on disk at once, since a reload may follow on the click that changed it. */
export function keepForViews({ storageUri, workspaceState }: vscode.ExtensionContext, log: Logger): Keep {
  return storageUri ? new KeepFolder(path.join(storageUri.fsPath, 'views'), log) : keepIn(workspaceState)
}

/** Where this workspace's drafts are kept. A window without a workspace has no folder to keep files in. */
export function storageForDrafts(
  { storageUri, workspaceState }: vscode.ExtensionContext,
  log: Logger,
): { windows: WindowStates; items: Keep } {
  const keep = keepIn(workspaceState)
  if (!storageUri) return { windows: new MementoState(keep, 'parley.drafts'), items: keep }
  const folder = path.join(storageUri.fsPath, 'drafts')
  // answered by the window itself: in a browser the extension host runs on for hours after its window is gone
  const confirm = () => vscode.commands.executeCommand('setContext', ContextKey.windowIsOpen, true)
  return {
    windows: new WindowFiles({ folder, log, confirm }),
    items: new KeepFolder(path.join(storageUri.fsPath, 'draft-items'), log),
  }
}

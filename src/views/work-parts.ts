import path from 'node:path'
import type * as vscode from 'vscode'
import type { Disposable } from '../common/disposable.ts'
import type { Logger } from '../common/logger.ts'
import { ChangeEditors } from '../editor/changes/vscode-changes.ts'
import { ChangesStore } from '../history/changes-store.ts'
import type { SessionManager } from '../sessions/session-manager.ts'
import type { ChangesParts } from './conversation/changes-listener.ts'
import { FollowAgent } from './follow-agent.ts'
import { keepIn } from './storage/kept-state.ts'

export interface WorkParts {
  changesKeep: ChangesStore['keepFor']
  follow: FollowAgent
  changes: (manager: SessionManager) => ChangesParts
}

/** What shows in the editor what agents do there: the files they changed, and where they are. */
export function workParts(
  context: vscode.ExtensionContext,
  log: Logger,
  own: { add<T extends Disposable>(item: T): T },
): WorkParts {
  const folder = path.join((context.storageUri ?? context.globalStorageUri).fsPath, 'changes')
  const editors = own.add(new ChangeEditors())
  return {
    changesKeep: own.add(new ChangesStore(folder, log)).keepFor,
    follow: own.add(new FollowAgent(keepIn(context.workspaceState))),
    changes: manager => ({ manager, editors }),
  }
}

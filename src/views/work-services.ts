import path from 'node:path'
import type * as vscode from 'vscode'
import { readSetting } from '../agents/vscode-settings.ts'
import type { Disposable } from '../common/disposable.ts'
import type { Logger } from '../common/logger.ts'
import { ChangeTracker } from '../editor/changes/change-tracker.ts'
import type { CheckpointLimits } from '../editor/changes/checkpoints.ts'
import { ChangeDecorations } from '../editor/changes/vscode-change-decorations.ts'
import { ChangeEditors, followUserEdits, hiddenFiles, trashFile } from '../editor/changes/vscode-changes.ts'
import type { FilesShared } from '../editor/files/files.ts'
import { ChangesStore } from '../history/changes-store.ts'
import { FollowAgent } from './follow-agent.ts'
import { CommandId, ContextKey } from './ids.ts'
import { mementoStore } from './storage/stores.ts'

export interface WorkServices {
  tracker: ChangeTracker
  editors: ChangeEditors
  follow: FollowAgent
}

/** Shows agents' work in the editor: the files they changed, and where they are working. */
export function workServices(
  context: vscode.ExtensionContext,
  files: FilesShared,
  log: Logger,
  own: { add<T extends Disposable>(item: T): T },
): WorkServices {
  const folder = path.join((context.storageUri ?? context.globalStorageUri).fsPath, 'changes')
  const store = own.add(new ChangesStore(folder, log))
  const tracker = own.add(
    new ChangeTracker({
      files,
      store,
      trash: trashFile,
      checkpoints: checkpointLimits,
      excluded: hiddenFiles,
    }),
  )
  own.add(followUserEdits(tracker))
  const editors = own.add(new ChangeEditors(tracker, log))
  const lensCommands = { keep: CommandId.keepChange, revert: CommandId.revertChange }
  own.add(new ChangeDecorations(tracker, lensCommands, ContextKey))
  return {
    tracker,
    editors,
    follow: own.add(new FollowAgent(mementoStore(context.workspaceState))),
  }
}

function checkpointLimits(): CheckpointLimits {
  const days = readSetting('checkpoints.maximumAge')
  const megabytes = readSetting('checkpoints.maximumSize')
  return {
    maxAgeMs: days === 0 ? Number.POSITIVE_INFINITY : days * 24 * 3_600_000,
    maxBytes: megabytes === 0 ? Number.POSITIVE_INFINITY : megabytes * 1_000_000,
  }
}

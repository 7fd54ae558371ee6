import { type ReadonlySignal, signal } from '@preact/signals'
import type { MessageConnection } from 'vscode-jsonrpc/browser'
import {
  type ChangedFileNote,
  ChangedFilesShown,
  KeepChanges,
  OpenChange,
  ReviewChanges,
  UndoChanges,
} from '../../../views/bridge/changed-files.ts'
import { FollowShown, SetFollow } from '../../../views/bridge/follow.ts'

/** What the agent's work does outside of the conversation: the files it changed, and whether the editor follows it. */
export interface WorkModel {
  /** of the conversation with that key */
  changes: ReadonlySignal<{ key: string; files: readonly ChangedFileNote[]; omitted?: number }>
  following: ReadonlySignal<boolean>
  setFollowing(on: boolean): void
  open(path: string): void
  review(): void
  /** absent: all files */
  undo(path?: string): void
  keep(path?: string): void
}

export function connectWork(connection: MessageConnection, key: () => string): WorkModel {
  const changes = signal<{ key: string; files: readonly ChangedFileNote[]; omitted?: number }>({
    key: '',
    files: [],
  })
  const following = signal(false)
  connection.onNotification(ChangedFilesShown, shown => {
    changes.value = shown
  })
  connection.onNotification(FollowShown, ({ on }) => {
    following.value = on
  })
  return {
    changes,
    following,
    setFollowing: on => void connection.sendNotification(SetFollow, { on }),
    open: path => void connection.sendNotification(OpenChange, { key: key(), path }),
    review: () => void connection.sendNotification(ReviewChanges, { key: key() }),
    undo: path => void connection.sendNotification(UndoChanges, { key: key(), path }),
    keep: path => void connection.sendNotification(KeepChanges, { key: key(), path }),
  }
}

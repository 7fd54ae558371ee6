import { type ReadonlySignal, signal } from '@preact/signals'
import type { MessageConnection } from 'vscode-jsonrpc/browser'
import { type ChangedFileNote, ChangedFilesShown, FollowShown } from '../../../bridge/conversation.ts'

/** The agent's work outside of the conversation: the changed files, and whether the editor follows it. */
export interface WorkModel {
  /** of the conversation with that key */
  changes: ReadonlySignal<{
    key: string
    files: readonly ChangedFileNote[]
    omitted?: number
    unseen?: readonly string[]
  }>
  following: ReadonlySignal<boolean>
}

export function connectWork(connection: MessageConnection): WorkModel {
  const changes = signal<{
    key: string
    files: readonly ChangedFileNote[]
    omitted?: number
    unseen?: readonly string[]
  }>({
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
  return { changes, following }
}

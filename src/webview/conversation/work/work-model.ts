import { type ReadonlySignal, signal } from '@preact/signals'
import type { HostListeners } from '../../../bridge/contract.ts'
import type { ChangedFiles } from '../../../bridge/conversation.ts'
import type { ConversationHostMessages } from '../../../bridge/conversation-messages.ts'

/** The agent's work outside of the conversation: the changed files, and whether the editor follows it. */
export interface WorkModel {
  /** the changed files of the conversation with the contained `key` */
  changes: ReadonlySignal<ChangedFiles>
  following: ReadonlySignal<boolean>
}

export function createWork(): WorkModel & {
  listeners: Pick<HostListeners<ConversationHostMessages>, 'changes/shown' | 'follow/shown'>
} {
  const changes = signal<ChangedFiles>({ key: '', files: [] })
  const following = signal(false)
  return {
    changes,
    following,
    listeners: {
      'changes/shown': shown => {
        changes.value = shown
      },
      'follow/shown': ({ on }) => {
        following.value = on
      },
    },
  }
}

/** What a person does with a part of a conversation, or with all of it. */
import { NotificationType } from 'vscode-jsonrpc'
import type { ContentBlock } from '../../acp/model.ts'
import type { EntryId } from '../../conversation/state.ts'

/** The commands that a conversation's own buttons run; each is also in the palette and in the context menu. */
export type EntryCommand = 'parley.copyMessage' | 'parley.editPrompt' | 'parley.sendAgain'

/** webview → host: runs a command for one entry */
export const RunEntryCommand = new NotificationType<{ command: EntryCommand; key: string; entryId: EntryId }>(
  'actions/entry',
)
/** host → webview: puts a prompt into the composer, after what stands there; `quiet`: the focus stays where it is */
export const FillComposer = new NotificationType<{ blocks: ContentBlock[]; quiet?: boolean }>('actions/fill')
/** host → webview: quotes what is selected in the conversation */
export const Quote = new NotificationType<void>('actions/quote')

/** What a context menu's command is told of where it was opened. */
export interface EntryContext {
  /** the conversation's key */
  conversation: string
  entry?: EntryId
}

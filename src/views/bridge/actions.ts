/** What a person does with a part of a conversation, or with all of it. */
import { NotificationType } from 'vscode-jsonrpc'
import type { ContentBlock } from '../../acp/model.ts'
import type { EntryId, Rewind } from '../../conversation/state.ts'

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

/** The person went back to before this turn: it is no longer part of what the agent goes by. */
export function isSetAside(rewinds: readonly Rewind[], turn: number): boolean {
  return rewinds.some(({ from, to }) => from <= turn && turn <= to)
}

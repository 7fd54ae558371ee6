/** What the host tells the composer, and answers it. See `conversation.ts`. */
import { NotificationType } from 'vscode-jsonrpc'
import type { ContentBlock } from '../../acp/model.ts'
import type { Attachment, MentionRow } from '../../conversation/attachment.ts'

export type { Attachment, MentionRow }

/** The selection, or else the file of the active editor; `automatic`: it's added to every prompt. */
export interface ActiveContext {
  attachment?: Attachment
  automatic: boolean
}
export const ActiveContextChanged = new NotificationType<ActiveContext>('composer/activeContext')

/** Prompts that came earlier in a conversation, the oldest first. */
export interface EarlierPrompts {
  prompts: ContentBlock[][]
  /** Index of the entry of the first one; there is none before entry 0. */
  from: number
}

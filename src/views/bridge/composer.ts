/** The messages between the extension host and the composer. See `conversation.ts`. */
import { NotificationType, RequestType } from 'vscode-jsonrpc'
import type { ContentBlock } from '../../acp/model.ts'
import type { Attachment, CaptureKind, MentionRow } from '../../conversation/attachment.ts'

export type { Attachment, CaptureKind, MentionRow }

// ---- webview → host ------------------------------------------------------------------------------------------------

/** What `@` offers for what was typed behind it: open editors, context, files and folders. */
export const SearchMentions = new RequestType<{ query: string }, MentionRow[], void>('composer/mentions')
/** Symbols come apart: from programs that may take seconds. */
export const SearchSymbols = new RequestType<{ query: string }, MentionRow[], void>('composer/symbols')
/** Asks the editor for context as it is now. Rejects with a sentence when there is none; picking may answer none. */
export const Capture = new RequestType<{ kind: CaptureKind }, Attachment[], void>('composer/capture')
/** Files and folders that were dropped onto the view. Rejects with a sentence when none can be taken. */
export const TakeDropped = new RequestType<{ uris: string[] }, Attachment[], void>('composer/dropped')
/** Puts a queued prompt at another place; 0 is the next one. */
export const MoveQueued = new NotificationType<{ key: string; id: string; to: number }>('composer/moveQueued')
/** Returns a queued prompt to the composer: it comes with `ReturnPrompts`, unless it was sent meanwhile. */
export const EditQueued = new NotificationType<{ key: string; id: string }>('composer/editQueued')
/** Answers false when it was sent meanwhile. */
export const RemoveQueued = new RequestType<{ key: string; id: string }, boolean, void>(
  'composer/removeQueued',
)
/** Sends the prompts of a paused queue. */
export const ResumeQueue = new NotificationType<{ key: string }>('composer/resumeQueue')
/** How tall the person made the composer, in pixels; `undefined`: it finds its height by itself. */
export const KeepHeight = new NotificationType<{ height?: number }>('composer/height')
/** Stops the running turn, if any, and sends this queued prompt next. */
export const SendQueuedNow = new NotificationType<{ key: string; id: string }>('composer/sendNow')

// ---- host → webview ------------------------------------------------------------------------------------------------

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
/** The prompts before an entry, those nearest to it: a webview has only a part of a long conversation. */
export const FetchPrompts = new RequestType<{ key: string; before: number }, EarlierPrompts, void>(
  'composer/prompts',
)

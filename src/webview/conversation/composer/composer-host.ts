import type { MessageConnection } from 'vscode-jsonrpc/browser'
import {
  Capture,
  type CaptureKind,
  type EarlierPrompts,
  EditQueued,
  FetchPrompts,
  KeepHeight,
  type MentionRow,
  MoveQueued,
  RemoveQueued,
  ResumeQueue,
  SearchMentions,
  SearchSymbols,
  SendQueuedNow,
  TakeDropped,
} from '../../../views/bridge/composer.ts'
import type { Attachment } from '../../../views/bridge/conversation.ts'

/** What the composer asks of the editor around it. Requests reject with a sentence to show. */
export interface ComposerHost {
  mentions(query: string): Promise<MentionRow[]>
  symbols(query: string): Promise<MentionRow[]>
  capture(kind: CaptureKind): Promise<Attachment[]>
  takeDropped(uris: string[]): Promise<Attachment[]>
  /** The prompts before an entry of the conversation, by its index. */
  promptsBefore(before: number): Promise<EarlierPrompts>
  keepHeight(height: number | undefined): void
  moveQueued(id: string, to: number): void
  /** Returns a queued prompt to the composer, unless it was sent meanwhile. */
  editQueued(id: string): void
  /** Answers false when it was sent meanwhile. */
  removeQueued(id: string): Promise<boolean>
  resumeQueue(): void
  sendQueuedNow(id: string): void
}

export function composerHost(connection: MessageConnection, key: () => string): ComposerHost {
  return {
    mentions: query => connection.sendRequest(SearchMentions, { query }),
    symbols: query => connection.sendRequest(SearchSymbols, { query }),
    capture: kind => connection.sendRequest(Capture, { kind }),
    takeDropped: uris => connection.sendRequest(TakeDropped, { uris }),
    promptsBefore: before => connection.sendRequest(FetchPrompts, { key: key(), before }),
    keepHeight: height =>
      void connection.sendNotification(KeepHeight, height === undefined ? {} : { height }),
    moveQueued: (id, to) => void connection.sendNotification(MoveQueued, { key: key(), id, to }),
    editQueued: id => void connection.sendNotification(EditQueued, { key: key(), id }),
    removeQueued: id => connection.sendRequest(RemoveQueued, { key: key(), id }),
    resumeQueue: () => void connection.sendNotification(ResumeQueue, { key: key() }),
    sendQueuedNow: id => void connection.sendNotification(SendQueuedNow, { key: key(), id }),
  }
}

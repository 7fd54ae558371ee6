import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { ContentBlock, ElicitationOutcome } from '../../acp/model.ts'
import type { EntryId } from '../../conversation/state.ts'
import type { Attachment } from '../../views/bridge/conversation.ts'
import type { ListController } from '../list/controller.ts'
import type { Row } from './row.ts'
import type { EntrySlot } from './slot.ts'
import type { ConversationStore } from './store.ts'

/** What the view asks of its host. The conversation's key is added where it is sent. */
export interface ConversationHost {
  send(text: string, attachments: ContentBlock[]): Promise<void>
  /** Takes a prompt from the queue: its text, or `null` when it was sent meanwhile. */
  withdraw(id: string): Promise<string | null>
  sendQueued(): void
  cancel(): void
  /** Stops one tool call, or one terminal's command. */
  cancelWork(work: { toolCallId: string } | { terminalId: string }): void
  answer(requestId: string, optionId: string | undefined): void
  answerElicitation(requestId: string, answer: ElicitationOutcome): void
  setOption(optionId: string, value: string | boolean): void
  card(cardId: string, buttonId: string): void
  start(agentId?: string): void
  saveDraft(key: string, text: string): void
  openLink(href: string): void
  openFile(path: string, line?: number): void
  openDiff(entryId: EntryId, content: number, change: number): void
  copy(text: string): void
  run(command: string): void
}

/** What the host does to the view without being asked. */
export interface ComposerPort {
  focus(): void
  attach(attachment: Attachment): void
  /** Types into the composer, as when somebody types while something else has the focus. */
  type(text: string): void
}

export interface App {
  host: ConversationHost
  store: ConversationStore
  list: ListController<Row>
  /** set while the composer is there */
  composer: { current: ComposerPort | undefined }
  /** Opens or closes an entry and keeps its line under the pointer. */
  toggle(slot: EntrySlot): void
  toggleRun(slots: readonly EntrySlot[]): void
}

const AppContext = createContext<App | undefined>(undefined)
export const AppProvider = AppContext.Provider

export function useApp(): App {
  const app = useContext(AppContext)
  if (!app) throw new Error('A part of the conversation was drawn outside of it.')
  return app
}

import type { Signal } from '@preact/signals'
import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { ContentBlock } from '../../acp/model.ts'
import type { ActiveContext, Attachment, EditedEntry } from '../../bridge/conversation.ts'
import type { ConversationMessages } from '../../bridge/conversation-messages.ts'
import type { ViewPage } from '../../bridge/history.ts'
import type { EntryId } from '../../conversation/state.ts'
import type { HostClient } from '../host/connection.ts'
import type { ListController } from '../list/controller.ts'
import type { WrittenDraft } from './composer/draft.ts'
import type { FindLoader } from './find/find-loader.ts'
import type { AsideRow, Row } from './row.ts'
import type { EntrySlot } from './slot.ts'
import type { ConversationStore } from './store.ts'
import type { WorkModel } from './work/work-model.ts'

/** The composer's interface for other parts of the page. */
export interface ComposerPort {
  focus(): void
  /** Whether the composer is empty. */
  readonly isEmpty: boolean
  /** The user has written since the composer got the focus, which it still has. */
  readonly isWriting: boolean
  attach(attachment: Attachment): void
  /** Inserts text, for keys pressed while something else has the focus. */
  type(text: string): void
  /**
   * Appends a prompt with its chips and images. `instead`: a prompt that was appended before, which is replaced. Can be undone.
   * `quiet`: doesn't take the focus.
   */
  write(blocks: readonly ContentBlock[], quiet?: boolean, instead?: readonly ContentBlock[]): void
  /** *Send to Several Agents…*: stores the draft with its added context, and lets the user choose agents. */
  sendTo(): void
  /** Opens the menu for what the session may do without asking. */
  showAllowance(): void
  /** Puts the last prompt into the composer, as ↑ does. */
  recall(): void
  /** Shows a message below the composer until the user types. */
  say(sentence: string): void
}

export interface App {
  host: HostClient<ConversationMessages>
  store: ConversationStore
  list: ListController<Row>
  find: FindLoader
  /** the displayed page; the conversation continues while History is shown */
  page: Signal<ViewPage>
  work: WorkModel
  /** the file or selection that the user works on in the editor */
  activeContext: Signal<ActiveContext>
  /** the `editKey` of the prompt that is edited in the conversation; empty for none */
  editing: Signal<string>
  /** the `editKey` of the prompt that ↑ in the composer opened, until the user changes it */
  recalled: string
  /** the edited prompts that the host has stored, by their `editKey` */
  edits: Map<string, { draft: WrittenDraft; from?: EditedEntry }>
  /** the host's current round: see `EditedPromptsShown` */
  editsRound: number
  /** set while the composer exists */
  composer: { current: ComposerPort | undefined }
  /** Expands or collapses an entry and keeps its line under the pointer. */
  toggle(slot: EntrySlot): void
  toggleRun(slots: readonly EntrySlot[]): void
  /** Collapses the turn that ends with this entry, or expands it, and keeps its line under the pointer. */
  toggleTurn(end: EntrySlot): void
  /** Shows or hides the turns that a restore set aside, and keeps their line under the pointer. */
  toggleAside(row: AsideRow): void
  /** Hides or shows a subagent's entries, and keeps its line under the pointer. */
  hideWork(subagent: EntrySlot, hidden: boolean): void
}

const AppContext = createContext<App | undefined>(undefined)
export const AppProvider = AppContext.Provider

/** Identifies a prompt for `App.editing`. */
export function editKey(store: Pick<ConversationStore, 'key'>, id: EntryId): string {
  return `${store.key} ${id}`
}

/** Opens the editor of a prompt in the conversation. */
export function editPrompt(app: App, id: EntryId): void {
  app.editing.value = editKey(app.store, id)
  const slot = app.store.slot(id)
  const row = slot && app.store.rows.rowsOf(slot.index)[0]
  if (row && !app.list.isInView(row)) app.list.toItem(row, 0)
}

export function useApp(): App {
  const app = useContext(AppContext)
  if (!app) throw new Error('A part of the conversation was rendered outside of it.')
  return app
}

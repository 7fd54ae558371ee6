import type { Signal } from '@preact/signals'
import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { ContentBlock, ElicitationOutcome } from '../../acp/model.ts'
import type { EntryId } from '../../conversation/state.ts'
import type { EntryCommand } from '../../views/bridge/actions.ts'
import type { CodeToApply } from '../../views/bridge/code.ts'
import type { ActiveContext } from '../../views/bridge/composer.ts'
import type { Attachment } from '../../views/bridge/conversation.ts'
import type { ViewPage } from '../../views/bridge/history.ts'
import type { Direction } from '../../views/bridge/navigate.ts'
import type { ListController } from '../list/controller.ts'
import type { ComposerHost } from './composer/composer-host.ts'
import type { FindLoader } from './find/find-loader.ts'
import type { Row } from './rows/row.ts'
import type { EntrySlot } from './rows/slot.ts'
import type { RulesHost } from './rules-host.ts'
import type { ConversationStore } from './store.ts'
import type { WorkModel } from './work/work-model.ts'

/** What the view asks of its host. The conversation's key is added where it is sent. */
export interface ConversationHost extends RulesHost {
  /** Takes a prompt from the queue: its content, or `null` when it was sent meanwhile. */
  cancel(): void
  /** Stops one tool call, or one terminal's command. */
  cancelWork(work: { toolCallId: string } | { terminalId: string } | { subagentId: string }): void
  answer(requestId: string, optionId: string | undefined): void
  answerElicitation(requestId: string, answer: ElicitationOutcome): void
  setOption(optionId: string, value: string | boolean): void
  /** Marks a value of an option as a favorite, or no longer. */
  toggleFavorite(optionId: string, value: string): void
  card(cardId: string, buttonId: string): void
  start(agentId?: string): void
  /** Installs an agent of the empty state, and begins a session with it; `stated`: what the user saw that will run. */
  install(id: string, stated: string | undefined): void
  cancelInstall(id: string): void
  openLink(href: string): void
  openFile(path: string, line?: number, column?: number): void
  /** Diffs side by side where there is room; kept for all conversations. */
  setDiffLayout(sideBySide: boolean): void
  openDiff(entryId: EntryId, content: number, change: number): void
  /** The line, from 1, at which the texts of a change begin in its file; `null` where that can't be told. */
  findFragment(entryId: EntryId, content: number, change: number): Promise<number | null>
  /** The index of the nearest prompt at or after an entry's index in a direction, loaded or not. */
  findPrompt(from: number, direction: Direction): Promise<number | null>
  copy(text: string): void
  /** Runs one of Parley's commands for an entry. */
  runFor(command: EntryCommand, entryId: EntryId): void
  insertCode(text: string): void
  openText(text: string, language: string): void
  /** Opens something that is no text. `data` is base64. */
  openBlob(name: string, mimeType: string, data: string): void
  applyCode(code: CodeToApply): void
  run(command: string): void
  rename(title: string): void
}

/** What the host does to the view without being asked. */
export interface ComposerPort {
  focus(): void
  /** Nothing stands in it. */
  readonly isEmpty: boolean
  attach(attachment: Attachment): void
  /** Types into the composer, as when somebody types while something else has the focus. */
  type(text: string): void
  /** Puts a prompt there, chips and pictures too, after what stands in it. It can be undone. `quiet`: without the focus. */
  write(blocks: readonly ContentBlock[], quiet?: boolean): void
}

export interface App {
  host: ConversationHost
  /** what the composer asks of the editor around it */
  editor: ComposerHost
  store: ConversationStore
  list: ListController<Row>
  find: FindLoader
  /** what is shown: the conversation goes on behind History */
  page: Signal<ViewPage>
  work: WorkModel
  /** what the user works on in the editor */
  activeContext: Signal<ActiveContext>
  /** set while the composer is there */
  composer: { current: ComposerPort | undefined }
  /** Opens or closes an entry and keeps its line under the pointer. */
  toggle(slot: EntrySlot): void
  toggleRun(slots: readonly EntrySlot[]): void
  /** Hides what a subagent does, or shows it; keeps its line under the pointer. */
  hideWork(subagent: EntrySlot, sessionId: string, hidden: boolean): void
}

const AppContext = createContext<App | undefined>(undefined)
export const AppProvider = AppContext.Provider

export function useApp(): App {
  const app = useContext(AppContext)
  if (!app) throw new Error('A part of the conversation was drawn outside of it.')
  return app
}

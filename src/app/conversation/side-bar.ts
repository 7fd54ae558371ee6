import * as l10n from '@vscode/l10n'
import type { Attachment } from '../../bridge/conversation.ts'
import type { HistorySurface, ViewPage } from '../../bridge/history.ts'
import type { HistoryHostMessages } from '../../bridge/history-messages.ts'
import type { Disposable } from '../../common/disposable.ts'
import type { KeyValueStore } from '../../common/key-value-store.ts'
import { ContextKey, ViewId } from '../ids.ts'
import { SHOWN_PAGE } from '../storage/stores.ts'
import type { PageChannel, WebviewConnection } from '../webview-connection.ts'
import type { SideBarView } from '../webviews.ts'
import type { FocusReport } from './active-surface.ts'
import { ConversationPage, type ConversationPageOptions } from './conversation-page.ts'
import type { ConversationMatch, ConversationSurface, SendToPage } from './conversation-surface.ts'

export interface SideBarEvents {
  /** Called when the view is shown for the first time in this window. */
  onFirstShown: () => void
  /** Called when the page reports the focus. */
  onFocus: (focus: FocusReport) => void
  /** Called when a command revealed the view. */
  onReveal: () => void
  /** Called when the view was shown or hidden. */
  onSeen: () => void
}

/** History, which the view can show instead of the conversation. */
export interface SecondPage {
  listen(
    where: HistorySurface,
    connection: WebviewConnection<HistoryHostMessages>,
    isShown: () => boolean,
  ): Disposable
  /** Must be called when the user opened History. */
  shown(): void
}

/**
 * The view in the side bar, which shows the conversation or History. The conversation continues while History is shown. Connects the view's
 * page when VS Code shows the view.
 */
export class SideBar implements ConversationSurface {
  readonly controller: ConversationPageOptions['controller']
  readonly #options: ConversationPageOptions
  readonly #events: SideBarEvents
  readonly #history: SecondPage
  readonly #store: KeyValueStore
  #page: ViewPage = 'conversation'
  #view: SideBarView | undefined
  #isViewVisible = false
  #conversation: ConversationPage | undefined
  #waitingSessions = { here: 0, elsewhere: 0 }
  #waiting: Array<(conversation: ConversationPage) => void> = []

  constructor(
    options: ConversationPageOptions,
    events: SideBarEvents,
    history: SecondPage,
    store: KeyValueStore,
  ) {
    this.controller = options.controller
    this.#options = options
    this.#events = events
    this.#history = history
    this.#store = store
    if (store.get(SHOWN_PAGE) === 'history') this.#page = 'history'
    this.#tellPage()
  }

  /** Whether the conversation is visible. */
  get isVisible(): boolean {
    return this.#isShown('conversation')
  }

  #isShown(page: ViewPage): boolean {
    return this.#page === page && this.#isViewVisible
  }

  /** Connects the page of the view when VS Code shows the view. */
  show(view: SideBarView, page: PageChannel): void {
    const first = this.#view === undefined
    this.#view = view
    this.#isViewVisible = view.visible
    const conversation = new ConversationPage(page, this.#options, connection =>
      this.#history.listen('sideBar', connection, () => this.#isShown('history')),
    )
    this.#conversation = conversation
    conversation.showPage(this.#page, false)
    conversation.onDidFocus(this.#events.onFocus)
    const visibility = view.onDidChangeVisibility(visible => {
      this.#isViewVisible = visible
      conversation.setVisible(visible)
      if (this.#isShown('history')) this.#history.shown()
      this.#events.onSeen()
    })
    view.onDidDispose(() => {
      visibility.dispose()
      conversation.dispose()
      if (this.#conversation === conversation) this.#conversation = undefined
    })
    this.setWaiting(this.#waitingSessions.here, this.#waitingSessions.elsewhere)
    for (const task of this.#waiting.splice(0)) task(conversation)
    if (first) this.#events.onFirstShown()
  }

  /** Shows the number of sessions that wait for the user as a badge on the view's icon. `elsewhere` counts sessions in other windows. */
  setWaiting(here: number, elsewhere: number): void {
    this.#waitingSessions = { here, elsewhere }
    const all = here + elsewhere
    const text =
      elsewhere === 0
        ? l10n.t('{0} waiting for your answer', all)
        : l10n.t('{0} waiting for your answer ({1} in other windows)', all, elsewhere)
    this.#view?.setBadge(all, text)
  }

  async reveal(): Promise<void> {
    this.#events.onReveal()
    this.#setPage('conversation')
    await this.#focusView()
    // when a tab closes, VS Code activates the next editor, so the side bar must become active again
    this.#events.onReveal()
    this.#withConversation(conversation => conversation.focusComposer())
  }

  /** Shows History instead of the conversation, and focuses its search field. */
  async showHistory(): Promise<void> {
    this.#setPage('history')
    await this.#focusView()
    this.#withConversation(conversation => conversation.showPage(this.#page, true))
  }

  /** Focuses the view unless it has the focus, because VS Code would take the focus away for a moment and drop what the user types. */
  async #focusView(): Promise<void> {
    const hasFocus = this.#isViewVisible && this.#conversation?.hasFocus
    if (!hasFocus) await this.#options.workbench.execute(`${ViewId.conversation}.focus`)
  }

  #setPage(page: ViewPage): void {
    if (this.#page === page) return
    this.#page = page
    this.#store.set(SHOWN_PAGE, page)
    this.#tellPage()
    this.#conversation?.showPage(page, false)
    if (this.#isShown('history')) this.#history.shown()
    this.#events.onSeen()
  }

  #tellPage(): void {
    this.#options.workbench.setContext(ContextKey.historyShown, this.#page === 'history')
  }

  readonly sendToPage: SendToPage = (name, ...params) =>
    this.#conversation?.sendToPage(name, ...params) ?? false

  attach(attachment: Attachment): void {
    this.#withConversation(conversation => conversation.attach(attachment))
  }

  commentChanged(...change: Parameters<ConversationSurface['commentChanged']>): boolean {
    return this.#conversation?.commentChanged(...change) ?? false
  }

  write(text: string): void {
    this.#withConversation(conversation => conversation.write(text))
  }

  sendTo(): boolean {
    this.#conversation?.sendTo()
    return this.#conversation !== undefined
  }

  showRequest(requestId: string): void {
    this.#withConversation(conversation => conversation.showRequest(requestId))
  }

  showMatch(match: ConversationMatch): void {
    this.#withConversation(conversation => conversation.showMatch(match))
  }

  #withConversation(task: (conversation: ConversationPage) => void): void {
    if (this.#conversation) task(this.#conversation)
    else this.#waiting.push(task)
  }
}

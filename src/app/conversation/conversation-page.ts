import type { InstallManager } from '../../agents/registry/install-manager.ts'
import type * as bridge from '../../bridge/conversation.ts'
import { nearestPrompt } from '../../bridge/conversation.ts'
import { type ConversationHostMessages, conversationMessages } from '../../bridge/conversation-messages.ts'
import type { ViewPage } from '../../bridge/history.ts'
import type { HistoryHostMessages } from '../../bridge/history-messages.ts'
import { type Disposable, DisposableStore, Owner } from '../../common/disposable.ts'
import { Emitter } from '../../common/event.ts'
import type { Logger } from '../../common/logger.ts'
import type { SessionOrganizer } from '../../sessions/listing/session-organizer.ts'
import type { AgentDirectory } from '../../sessions/ports.ts'
import type { Accounts } from '../../sessions/sign-in/accounts.ts'
import type { AgentEnvironments } from '../agents/agent-environments.ts'
import type { UndoServices } from '../changes/undo-changes.ts'
import type { PageFocus } from '../page-focus.ts'
import type { PreviewStore } from '../page-preview.ts'
import { composerHeight } from '../storage/stores.ts'
import { type PageChannel, WebviewConnection } from '../webview-connection.ts'
import type { WindowWorktrees } from '../window-worktrees.ts'
import type { Workbench } from '../workbench.ts'
import type { FocusReport } from './active-surface.ts'
import { type ComposerOptions, composerHandlers } from './composer-handlers.ts'
import { connectChanges } from './connect-changes.ts'
import { contextFullHandlers } from './context-full.ts'
import type { ConversationMatch, SendToPage } from './conversation-surface.ts'
import { EditedPrompts } from './edited-prompts.ts'
import { connectAppearance, connectComposer, editorHandlers } from './editor-handlers.ts'
import { FindSearch } from './find-search.ts'
import type { FollowAgent } from './follow-agent.ts'
import { buildHead, runningIn } from './head.ts'
import { PatchPump } from './patch-pump.ts'
import type { PlanDocuments } from './plan-documents.ts'
import type { SessionsToOpen } from './recent-sessions.ts'
import { type RuleHandlersOptions, ruleHandlers } from './rule-handlers.ts'
import { sessionHandlers } from './session-handlers.ts'
import type { Summarize } from './summarize.ts'

export interface ConversationPageOptions extends ComposerOptions {
  agents: AgentDirectory
  workbench: Workbench
  accounts: Accounts
  organizer: SessionOrganizer
  environments: Pick<AgentEnvironments, 'note' | 'isOutdated' | 'slowTool' | 'dismiss' | 'onDidChange'>
  ruleMessages: RuleHandlersOptions
  changes: UndoServices
  pageFocus: PageFocus
  follow: Pick<FollowAgent, 'connect'>
  installs: InstallManager
  previews: PreviewStore
  worktrees: Pick<WindowWorktrees, 'of' | 'hasRepository' | 'onDidChange'>
  /** the sessions on the start page and in the session switcher */
  sessions: SessionsToOpen
  summarize: Summarize
  plans: Pick<PlanDocuments, 'open'>
  log: Logger
}

/** Connects a webview with a conversation, for the webview's lifetime. */
export class ConversationPage extends Owner {
  readonly #options: ConversationPageOptions
  readonly #connection: WebviewConnection<ConversationHostMessages & HistoryHostMessages>
  readonly #pump: PatchPump
  readonly #edits: EditedPrompts
  readonly #find: FindSearch
  /** messages to send once the page is ready */
  #pending: Array<() => void> = []
  #focusWanted = false
  #page: ViewPage = 'conversation'
  #requestWanted: string | undefined
  #matchWanted: ConversationMatch | undefined
  #ready = false
  readonly #hasHistory: boolean
  /** whether the page shows the session switcher */
  #isSwitching = false
  readonly #focus = this.register(new Emitter<FocusReport>())

  readonly onDidFocus = this.#focus.event

  /** `listen` registers handlers for other content of the page, such as History. */
  constructor(
    page: PageChannel,
    options: ConversationPageOptions,
    listen?: (connection: WebviewConnection<HistoryHostMessages>) => Disposable,
  ) {
    super()
    this.#options = options
    const { controller } = options
    this.#connection = this.register(new WebviewConnection(page, options.log))
    this.#edits = new EditedPrompts(options.drafts, controller)
    this.#pump = this.register(
      new PatchPump({
        session: () => controller.current?.session,
        end: () => controller.opener.end?.conversation,
        head: () => buildHead({ ...options, isSwitching: this.#isSwitching }),
        running: () => controller.current && runningIn(controller.current),
        draft: () => options.drafts.get(controller.key),
        composerHeight: () => composerHeight(options.views),
        returned: () => [...controller.prompts.queue.returned],
        sendSnapshot: snapshot => {
          const edits = this.#edits.forSnapshot(snapshot.head.key)
          return this.#connection.trySend('conversation/snapshot', {
            ...snapshot,
            edits,
            ...(this.#hasHistory && this.#page === 'conversation' && { leavesHistory: true as const }),
          })
        },
        sendPatch: patch => this.#connection.trySend('conversation/patch', patch),
        sendReturned: prompts =>
          this.#connection.send('conversation/returnPrompts', { key: controller.key, prompts }),
      }),
    )
    this.register(
      options.pageFocus.listen(this.#connection, {
        page: () => this.#page,
        onFocus: focus => {
          // A page that loads with the focus moves the focus to its composer by itself. Another request could take the focus from an editor
          // that the user selected in the meantime.
          if (focus !== 'left') this.#focusWanted = false
          this.#focus.fire(focus)
        },
      }),
    )
    this.#find = this.register(
      new FindSearch(
        () => controller.current?.session.state,
        result => this.#connection.send('find/results', result),
      ),
    )
    this.register(controller.onDidChange(() => this.#pump.headChanged()))
    this.register(controller.onDidChangeQueue(() => this.#pump.headChanged()))
    this.register(options.optionMemory.onDidChange(() => this.#pump.headChanged()))
    this.register(options.accounts.onDidChange(() => this.#pump.headChanged()))
    this.register(options.environments.onDidChange(() => this.#pump.headChanged()))
    this.register(options.installs.onDidChange(() => this.#pump.headChanged()))
    this.register(options.worktrees.onDidChange(() => this.#pump.headChanged()))
    this.register(options.ruleMessages.rules.onDidChange(() => this.#pump.headChanged()))
    this.register(
      options.sessions.onDidChange(() => {
        if (controller.phase === 'empty' || this.#isSwitching) this.#pump.headChanged()
      }),
    )
    const session = this.register(new DisposableStore())
    let following: DisposableStore | undefined
    let previewed: string | undefined
    const follow = () => {
      if (following) session.release(following)
      if (previewed !== undefined && previewed !== controller.key) options.previews.remove(previewed)
      previewed = controller.key
      options.previews.displayed(previewed)
      following = session.add(new DisposableStore())
      const shown = controller.current?.session
      const allowance = controller.current?.allowance
      if (allowance) following.add(allowance.onDidChange(() => this.#pump.headChanged()))
      const editorTools = controller.current?.plan.editorTools
      if (editorTools) following.add(editorTools.onDidChange(() => this.#pump.headChanged()))
      if (shown) {
        following.add(shown.onDidChange(() => options.previews.outdated(controller.key)))
        following.add(shown.onDidChange(changes => this.#pump.add(changes)))
        following.add(shown.onDidChange(changes => this.#find.note(changes)))
        following.add(shown.onDidChange(() => this.#revealMatch()))
        following.add(shown.onDidChangeStatus(() => this.#pump.headChanged()))
        following.add(shown.onDidChangeStatus(() => this.#edits.isDue && this.#pump.reset()))
        following.add(shown.onDidChangeStatus(() => this.#revealMatch()))
      }
      this.#pump.reset()
      this.#find.reset()
      this.#revealMatch()
    }
    follow()
    this.register(controller.onDidSwitch(follow))
    this.#hasHistory = listen !== undefined
    if (listen) this.register(listen(this.#connection))
    this.#listen()
  }

  /** Notes whether the view is visible. A hidden view gets no updates; when it's shown again, it gets the whole state. */
  setVisible(visible: boolean): void {
    this.#pump.setVisible(visible)
    this.#find.setVisible(visible)
  }

  /** Sends a request to the page. Returns false if the page isn't ready. */
  sendToPage: SendToPage = (name, ...params) => this.#ready && this.#sendForShown(name, ...params)

  attach(attachment: bridge.Attachment): void {
    this.#whenReady(() => this.#sendForShown('conversation/attach', attachment))
  }

  /** Sends a changed comment, later if the page is still loading, since the page may already have loaded the draft without the comment. */
  commentChanged(key: string, id: string, item?: bridge.Attachment): boolean {
    this.#whenReady(() => this.#sendForShown('composer/comment', { key, id, ...(item && { item }) }))
    return true
  }

  write(text: string): void {
    this.#whenReady(() => this.#sendForShown('actions/fill', { blocks: [{ type: 'text', text }] }))
  }

  sendTo(): void {
    this.#whenReady(() => this.#sendForShown('composer/sendTo'))
  }

  #whenReady(send: () => void): void {
    if (this.#ready) send()
    else this.#pending.push(send)
  }

  showRequest(requestId: string): void {
    if (this.#ready) this.#sendForShown('conversation/navigate', { to: 'question', requestId })
    else this.#requestWanted = requestId
  }

  showMatch(match: ConversationMatch): void {
    this.#matchWanted = match
    this.#revealMatch()
  }

  /** Reveals the wanted match once the conversation is displayed with the entry, or with all of its entries. */
  #revealMatch(): void {
    const { controller } = this.#options
    const match = this.#matchWanted
    const session = controller.current?.session
    if (!match || !this.#ready || !session || match.key !== controller.key) return
    const position = session.state.index.get(match.entry)
    if (position === undefined && session.phase === 'loading') return
    this.#matchWanted = undefined
    this.#sendForShown('find/show', { match: { query: match.query, from: position ?? 0 } })
  }

  /** Sends the displayed conversation first, and then a message that refers to it. */
  #sendForShown: SendToPage = (name, ...params) => {
    this.#pump.sendNow()
    const connection: WebviewConnection<ConversationHostMessages> = this.#connection
    connection.send(name, ...params)
    return true
  }

  /** Whether the page last reported that it has the focus. */
  get hasFocus(): boolean {
    return this.#options.pageFocus.has(this.#connection)
  }

  /** Shows History instead of the conversation, or the conversation again. `focus`: the page also gets the focus. */
  showPage(page: ViewPage, focus: boolean): void {
    this.#page = page
    this.#options.pageFocus.update()
    // the opened conversation is sent first, so that the page doesn't draw the previous one
    if (this.#ready) this.#sendForShown('view/page', { page, focus })
    else this.#focusWanted ||= focus
  }

  focusComposer(): void {
    if (this.#ready) this.#sendForShown('conversation/focus')
    else this.#focusWanted = true
  }

  #listen(): void {
    const connection = this.#connection
    const options = this.#options
    const { controller } = options
    const mine = (key: string) => key === controller.key
    const entries = (key: string) => (mine(key) && controller.current?.session.state.entries) || []
    const appearance = this.register(connectAppearance(connection, options.workbench))
    const changes = this.register(connectChanges(connection, controller, options.changes))
    const follow = this.register(options.follow.connect(connection))
    const composer = this.register(connectComposer(connection, options.workbench))
    connection.handle(conversationMessages, {
      ...appearance.handlers,
      ...changes.handlers,
      ...follow.handlers,
      ...composerHandlers(options, {
        show: () => this.#pump.sendNow(),
        showAgain: () => this.#pump.reset(),
        edits: this.#edits,
      }),
      ...sessionHandlers(options),
      ...ruleHandlers(controller, options.ruleMessages),
      ...editorHandlers(controller, options.workbench, options.environments),
      ...contextFullHandlers(controller, options.summarize),
      'conversation/ready': ({ isShown }) => {
        this.#ready = true
        this.#isSwitching = false
        if (!isShown) this.#pump.begin()
        for (const one of [composer, changes, follow]) one.tell()
        for (const send of this.#pending.splice(0)) send()
        if (this.#page === 'history')
          connection.send('view/page', { page: this.#page, focus: this.#focusWanted || this.hasFocus })
        else {
          // the page loads History while it's idle, so that History opens without delay later
          if (this.#hasHistory) connection.send('view/page', { page: this.#page, focus: false })
          if (this.#focusWanted) connection.send('conversation/focus')
        }
        this.#focusWanted = false
        if (this.#requestWanted !== undefined) this.showRequest(this.#requestWanted)
        this.#requestWanted = undefined
        this.#revealMatch()
      },
      'conversation/drawn': ({ key }) => {
        if (mine(key)) controller.opener.end?.drawn.resolve()
      },
      'conversation/switcher': ({ isOpen }) => {
        this.#isSwitching = isOpen
        if (isOpen) options.sessions.refresh()
        this.#pump.headChanged()
      },
      'conversation/preview': ({ key, revision, preview }) => {
        if (mine(key) && this.#pump.isUpToDate(revision)) options.previews.save(key, preview)
      },
      'conversation/entries': ({ key, from, to }) => this.#pump.entriesFetched(entries(key).slice(from, to)),
      'conversation/terminals': ({ key, ids }) => {
        if (mine(key)) this.#pump.watchTerminals(ids)
      },
      'conversation/toolCalls': ({ key, ids }) => {
        if (mine(key)) this.#pump.showToolCalls(ids)
      },
      'conversation/findPrompt': async ({ key, from, direction }) => {
        await controller.opener.end?.over.promise
        return nearestPrompt(entries(key), from, direction) ?? null
      },
      'find/start': async ({ key, id, query }) => {
        await controller.opener.end?.over.promise
        if (mine(key)) await this.#find.start(id, query)
      },
      'find/stop': async () => {
        // wait until the conversation is displayed, if a start is still showing its end
        await controller.opener.end?.over.promise
        this.#find.stop()
      },
    })
    connection.listen()
    // the first snapshot is sent at once, so that it's available without a round trip when the page has loaded
    this.#pump.begin()
  }
}

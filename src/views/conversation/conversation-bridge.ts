import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import type { NotificationType } from 'vscode-jsonrpc'
import type { FileChange, Roots } from '../../acp/model.ts'
import type { InstallManager } from '../../agents/registry/install-manager.ts'
import { type Disposable, DisposableStore, Owner } from '../../common/disposable.ts'
import { CancelledError, messageOf } from '../../common/errors.ts'
import { Emitter } from '../../common/event.ts'
import type { Logger } from '../../common/logger.ts'
import { plainMessage } from '../../common/visible.ts'
import type { MentionSearch } from '../../editor/mentions/vscode-search.ts'
import type { ConversationController } from '../../sessions/conversation-controller.ts'
import type { SessionOrganizer } from '../../sessions/listing/session-organizer.ts'
import type { AgentDirectory } from '../../sessions/ports.ts'
import type { Accounts } from '../../sessions/sign-in/accounts.ts'
import * as bridge from '../bridge/conversation.ts'
import { ShowPage, type ViewPage } from '../bridge/history.ts'
import * as incoming from '../bridge/incoming.ts'
import { FindPrompt, Navigate, nearestPrompt } from '../bridge/navigate.ts'
import type { FollowAgent } from '../follow-agent.ts'
import type { DraftStore } from '../storage/draft-store.ts'
import type { OptionMemory } from '../storage/option-memory.ts'
import { waitForAgent } from '../wait-for-agent.ts'
import { WebviewConnection } from '../webview-connection.ts'
import type { WebviewPage } from '../webview-page.ts'
import { listenForActions } from './actions-listener.ts'
import { listenForActiveContext } from './active-context-listener.ts'
import { answerElicitation } from './answer-elicitation.ts'
import { listenForAppearance } from './appearance-listener.ts'
import { type ChangesOptions, listenForChanges } from './changes-listener.ts'
import { type CodeListenerOptions, listenForCode } from './code-listener.ts'
import { listenToComposer } from './composer.ts'
import { listenFind } from './find.ts'
import type { FindSearch } from './find-search.ts'
import { buildHead } from './head.ts'
import { listenForInstalls } from './installs-listener.ts'
import { listenToOptions } from './options.ts'
import { PatchPump } from './patch-pump.ts'
import { listenForRename } from './rename.ts'
import { listenForRules, type RuleMessagesOptions } from './rule-messages.ts'
import { listenFocus, updateFocus } from './view-focus.ts'

/** What a conversation's webview makes happen outside the conversation. */
export interface ConversationActions {
  openLink(href: string, roots: Roots | undefined): Promise<void>
  openFile(place: { path: string; line?: number; column?: number }, roots: Roots | undefined): Promise<void>
  openDiff(
    change: FileChange,
    patch: { format: string; text: string } | undefined,
    roots: Roots | undefined,
  ): Promise<void>
  /** The line, from 1, at which a change's texts begin in its file. */
  findFragment(change: FileChange, roots: Roots): Promise<number | undefined>
  applyCode: CodeListenerOptions['apply']
  card(controller: ConversationController, cardId: string, buttonId: string): Promise<void>
  command(command: string): Promise<void>
}

export interface ConversationBridgeOptions {
  controller: ConversationController
  agents: AgentDirectory
  actions: ConversationActions
  accounts: Accounts
  organizer: SessionOrganizer
  drafts: DraftStore
  mentions: MentionSearch
  optionMemory: OptionMemory
  ruleMessages: RuleMessagesOptions
  changes: ChangesOptions
  follow: Pick<FollowAgent, 'listen'>
  installs: InstallManager
  log: Logger
}

/** Connects one webview with one conversation, for as long as the webview lives. */
export class ConversationBridge extends Owner {
  readonly #options: ConversationBridgeOptions
  readonly #connection: WebviewConnection
  readonly #pump: PatchPump
  readonly #find: FindSearch
  #pendingAttachments: bridge.Attachment[] = []
  #focusWanted = false
  #page: ViewPage = 'conversation'
  #requestWanted: string | undefined
  #tellWork = () => {}
  #ready = false
  readonly #use = this.register(new Emitter<void>())

  /** The person does something in the webview, or turns to it: as its page reports, whatever else it sends. */
  readonly onDidUse = this.#use.event

  /** `listen`: for what else the page shows. */
  constructor(
    page: WebviewPage,
    options: ConversationBridgeOptions,
    listen?: (connection: WebviewConnection) => Disposable,
  ) {
    super()
    this.#options = options
    const { controller } = options
    this.#connection = this.register(new WebviewConnection(page, options.log))
    this.#pump = this.register(
      new PatchPump({
        session: () => controller.current?.session,
        head: () =>
          buildHead(controller, options.agents, options.optionMemory, options.accounts, options.installs),
        draft: () => options.drafts.get(controller.key),
        composerHeight: () => options.drafts.height,
        returned: () => [...controller.queue.returned],
        sendSnapshot: snapshot => this.#connection.trySend(bridge.Snapshot, snapshot),
        sendPatch: patch => this.#connection.trySend(bridge.Patch, patch),
        sendReturned: prompts =>
          this.#connection.send(bridge.ReturnPrompts, { key: controller.key, prompts }),
      }),
    )
    listenForActions(this.#connection)
    this.register(listenFocus(this.#connection, { page: () => this.#page, onFocus: () => this.#use.fire() }))
    this.#find = this.register(listenFind(this.#connection, controller))
    this.register(controller.onDidChange(() => this.#pump.headChanged()))
    this.register(controller.onDidChangeQueue(() => this.#pump.headChanged()))
    this.register(options.optionMemory.onDidChange(() => this.#pump.headChanged()))
    this.register(options.accounts.onDidChange(() => this.#pump.headChanged()))
    this.register(options.installs.onDidChange(() => this.#pump.headChanged()))
    const session = this.register(new DisposableStore())
    let following: DisposableStore | undefined
    const follow = () => {
      if (following) session.release(following)
      following = session.add(new DisposableStore())
      const shown = controller.current?.session
      if (shown) {
        following.add(shown.onDidChange(changes => this.#pump.add(changes)))
        following.add(shown.onDidChange(changes => this.#find.note(changes)))
        following.add(shown.onDidChangeStatus(() => this.#pump.headChanged()))
      }
      this.#pump.reset()
      this.#find.reset()
    }
    follow()
    this.register(controller.onDidSwitch(follow))
    if (listen) this.register(listen(this.#connection))
    this.#listen()
  }

  /** A hidden view is sent nothing; shown again, it gets everything anew. */
  setVisible(visible: boolean): void {
    this.#pump.setVisible(visible)
    this.#find.setVisible(visible)
  }

  /** Tells the webview to do something, when it is there. */
  tell<P>(type: NotificationType<P>, params: P): void {
    if (this.#ready) this.#connection.send(type, params)
  }

  attach(attachment: bridge.Attachment): void {
    if (this.#ready) this.#connection.send(bridge.Attach, attachment)
    else this.#pendingAttachments.push(attachment)
  }

  showRequest(requestId: string): void {
    if (this.#ready) this.#connection.send(Navigate, { to: 'question', requestId })
    else this.#requestWanted = requestId
  }

  /** Shows History in the place of the conversation, or the conversation again. */
  showPage(page: ViewPage, focus: boolean): void {
    this.#page = page
    updateFocus()
    if (this.#ready) this.#connection.send(ShowPage, { page, focus })
    else this.#focusWanted ||= focus
  }

  focusComposer(): void {
    if (this.#ready) this.#connection.send(bridge.FocusComposer, undefined)
    else this.#focusWanted = true
  }

  #listen(): void {
    const { controller, actions } = this.#options
    const connection = this.#connection
    const mine = (key: string) => key === controller.key
    const roots = () => controller.current?.plan.setup

    connection.onNotification(bridge.Ready, incoming.nothing, () => {
      this.#ready = true
      this.#pump.pageReady()
      this.#tellWork()
      for (const attachment of this.#pendingAttachments.splice(0)) connection.send(bridge.Attach, attachment)
      if (this.#page === 'history') connection.send(ShowPage, { page: this.#page, focus: this.#focusWanted })
      else if (this.#focusWanted) connection.send(bridge.FocusComposer, undefined)
      this.#focusWanted = false
      if (this.#requestWanted !== undefined) this.showRequest(this.#requestWanted)
      this.#requestWanted = undefined
    })
    connection.onRequest(bridge.FetchEntries, incoming.fetchEntries, ({ key, from, to }) => {
      const entries = mine(key) ? (controller.current?.session.state.entries.slice(from, to) ?? []) : []
      return this.#pump.entriesFetched(entries)
    })
    connection.onNotification(bridge.WatchTerminals, incoming.watchTerminals, ({ key, ids }) => {
      if (mine(key)) this.#pump.watchTerminals(ids)
    })
    connection.onNotification(bridge.ShowToolCalls, incoming.showToolCalls, ({ key, ids }) => {
      if (mine(key)) this.#pump.showToolCalls(ids)
    })
    connection.onRequest(FindPrompt, incoming.findPrompt, ({ key, from, direction }) => {
      const entries = mine(key) ? (controller.current?.session.state.entries ?? []) : []
      return nearestPrompt(entries, from, direction) ?? null
    })
    connection.onNotification(bridge.CancelTurn, incoming.cancelTurn, ({ key }) => {
      if (mine(key)) controller.cancel()
    })
    connection.onNotification(bridge.CancelWork, incoming.cancelWork, ({ key, work }) => {
      const { current } = controller
      if (!current || !mine(key)) return
      const what = 'terminalId' in work ? l10n.t('Stop Command') : l10n.t('Stop Tool Call')
      return this.#tell(waitForAgent(current.agentName, what, () => current.session.cancelWork(work)))
    })
    connection.onNotification(
      bridge.AnswerPermission,
      incoming.answerPermission,
      ({ key, requestId, optionId }) => {
        if (mine(key)) controller.answerPermission(requestId, optionId)
      },
    )
    connection.onNotification(
      bridge.AnswerElicitation,
      incoming.answerElicitation,
      ({ key, requestId, answer }) => {
        if (mine(key)) return this.#tell(answerElicitation(controller, actions, requestId, answer))
      },
    )
    connection.onNotification(bridge.CardAction, incoming.cardAction, ({ cardId, buttonId }) =>
      actions.card(controller, cardId, buttonId),
    )
    connection.onNotification(bridge.StartSession, incoming.startSession, ({ agentId }) =>
      controller.start(agentId),
    )
    connection.onNotification(bridge.OpenLink, incoming.openLink, ({ href }) =>
      this.#tell(actions.openLink(href, roots())),
    )
    connection.onNotification(bridge.OpenFile, incoming.openFile, place =>
      this.#tell(actions.openFile(place, roots())),
    )
    connection.onNotification(bridge.OpenDiff, incoming.openDiff, params => {
      if (mine(params.key)) return this.#tell(this.#openDiff(params))
    })
    connection.onRequest(bridge.FindFragment, incoming.openDiff, async params => {
      const found = mine(params.key) ? this.#changeOf(params) : undefined
      return (found && (await actions.findFragment(found.file, found.roots))) ?? null
    })
    listenForCode(connection, { apply: actions.applyCode, roots, tell: done => this.#tell(done) })
    connection.onNotification(bridge.Copy, incoming.copy, ({ text }) => vscode.env.clipboard.writeText(text))
    connection.onNotification(bridge.RunCommand, incoming.runCommand, ({ command }) =>
      actions.command(command),
    )
    listenToComposer(connection, this.#options, () => this.#pump.sendNow())
    listenToOptions(connection, this.#options)
    this.register(listenForAppearance(connection))
    const changes = this.register(listenForChanges(connection, controller, this.#options.changes))
    const follow = this.register(this.#options.follow.listen(connection))
    const activeContext = this.register(listenForActiveContext(connection))
    this.#tellWork = () => {
      activeContext.tell()
      changes.tell()
      follow.tell()
    }
    listenForRules(connection, controller, this.#options.ruleMessages)
    listenForInstalls(connection, controller, this.#options.installs)
    listenForRename(connection, controller, this.#options.organizer)
    connection.listen()
  }

  async #openDiff(place: { entryId: string; content: number; change: number }) {
    const found = this.#changeOf(place)
    if (found) await this.#options.actions.openDiff(found.file, found.patch, found.roots)
  }

  #changeOf({ entryId, content, change }: { entryId: string; content: number; change: number }) {
    const open = this.#options.controller.current
    const state = open?.session.state
    const entry = state?.entries[state.index.get(entryId) ?? -1]
    if (!open || entry?.kind !== 'tool_call') return undefined
    const part = entry.content[content]
    const file = part?.type === 'diff' ? part.changes[change] : undefined
    return file && part?.type === 'diff' ? { file, patch: part.patch, roots: open.plan.setup } : undefined
  }

  /** Something a person clicked that did not work is said, not only logged. */
  async #tell(done: Promise<void>): Promise<void> {
    try {
      await done
    } catch (error) {
      if (error instanceof CancelledError) return
      void vscode.window.showWarningMessage(plainMessage(messageOf(error)))
    }
  }
}

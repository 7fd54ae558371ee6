import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import type { NotificationType } from 'vscode-jsonrpc'
import type { FileChange, Roots } from '../../acp/model.ts'
import { DisposableStore, Owner } from '../../common/disposable.ts'
import { CancelledError, messageOf } from '../../common/errors.ts'
import { Emitter } from '../../common/event.ts'
import type { Logger } from '../../common/logger.ts'
import { plainMessage } from '../../common/plain-message.ts'
import type { MentionSearch } from '../../editor/mentions/vscode-search.ts'
import type { ConversationController } from '../../sessions/conversation-controller.ts'
import type { SessionUpkeep } from '../../sessions/listing/session-upkeep.ts'
import type { AgentDirectory } from '../../sessions/ports.ts'
import type { Accounts } from '../../sessions/sign-in/accounts.ts'
import { FillComposer } from '../bridge/actions.ts'
import { ThemeShown } from '../bridge/appearance.ts'
import * as bridge from '../bridge/conversation.ts'
import * as incoming from '../bridge/incoming.ts'
import { FocusChanged } from '../bridge/navigate.ts'
import type { FollowAgent } from '../follow-agent.ts'
import type { KeptDrafts } from '../storage/kept-drafts.ts'
import type { OptionMemory } from '../storage/option-memory.ts'
import { waitForAgent } from '../wait-for-agent.ts'
import { WebviewConnection } from '../webview-connection.ts'
import { listenForActions } from './actions-listener.ts'
import { answerElicitation } from './answer-elicitation.ts'
import { listenForAppearance } from './appearance-listener.ts'
import { type ChangesParts, listenForChanges } from './changes-listener.ts'
import { type CodeListenerParts, listenForCode } from './code-listener.ts'
import { listenToComposer } from './composer.ts'
import { listenFind } from './find.ts'
import type { FindSearch } from './find-search.ts'
import { buildHead } from './head.ts'
import { listenToOptions } from './options.ts'
import { PatchPump } from './patch-pump.ts'
import { listenForRename } from './rename.ts'
import { listenForRules, type RuleMessagesParts } from './rule-messages.ts'
import { listenFocus } from './view-focus.ts'

/** What a conversation's webview makes happen outside the conversation. */
export interface ConversationActions {
  openLink(href: string, roots: Roots | undefined): Promise<void>
  openFile(place: { path: string; line?: number; column?: number }, roots: Roots | undefined): Promise<void>
  openDiff(
    change: FileChange,
    patch: { format: string; text: string } | undefined,
    roots: Roots | undefined,
  ): Promise<void>
  applyCode: CodeListenerParts['apply']
  card(controller: ConversationController, cardId: string, buttonId: string): Promise<void>
  command(command: string): Promise<void>
}

export interface ConversationBridgeParts {
  controller: ConversationController
  agents: AgentDirectory
  actions: ConversationActions
  accounts: Accounts
  upkeep: SessionUpkeep
  drafts: KeptDrafts
  mentions: MentionSearch
  optionMemory: OptionMemory
  ruleMessages: RuleMessagesParts
  changes: ChangesParts
  follow: Pick<FollowAgent, 'listen'>
  log: Logger
}

/** What a webview sends by itself. */
const UNASKED = new Set([
  bridge.Ready.method,
  bridge.FetchEntries.method,
  ThemeShown.method,
  FocusChanged.method,
])

/** Connects one webview with one conversation, for as long as the webview lives. */
export class ConversationBridge extends Owner {
  readonly #parts: ConversationBridgeParts
  readonly #connection: WebviewConnection
  readonly #pump: PatchPump
  readonly #find: FindSearch
  #pendingAttachments: bridge.Attachment[] = []
  #focusWanted = false
  #tellWork = () => {}
  #ready = false
  readonly #use = this.register(new Emitter<void>())

  /** The person does something in the webview. */
  readonly onDidUse = this.#use.event

  constructor(webview: vscode.Webview, parts: ConversationBridgeParts) {
    super()
    this.#parts = parts
    const { controller } = parts
    this.#connection = this.register(
      new WebviewConnection(webview, parts.log, method => {
        if (!UNASKED.has(method)) this.#use.fire()
      }),
    )
    this.#pump = this.register(
      new PatchPump({
        session: () => controller.current?.session,
        head: () => buildHead(controller, parts.agents, parts.optionMemory, parts.accounts),
        draft: () => parts.drafts.get(controller.key),
        composerHeight: () => parts.drafts.height,
        waiting: () => controller.outbox.waiting(controller.key),
        sendSnapshot: snapshot => this.#connection.send(bridge.Snapshot, snapshot),
        sendPatch: patch => this.#connection.send(bridge.Patch, patch),
      }),
    )
    listenForActions(this.#connection)
    this.register(listenFocus(this.#connection, () => this.#use.fire()))
    this.#find = this.register(listenFind(this.#connection, controller))
    this.register(controller.onDidChange(() => this.#pump.headChanged()))
    this.register(
      controller.onDidGiveBack(prompts => {
        for (const blocks of prompts) this.tell(FillComposer, { blocks, quiet: true })
      }),
    )
    this.register(parts.optionMemory.onDidChange(() => this.#pump.headChanged()))
    this.register(parts.accounts.onDidChange(() => this.#pump.headChanged()))
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

  focusComposer(): void {
    if (this.#ready) this.#connection.send(bridge.FocusComposer, undefined)
    else this.#focusWanted = true
  }

  #listen(): void {
    const { controller, actions } = this.#parts
    const connection = this.#connection
    const mine = (key: string) => key === controller.key
    const roots = () => controller.current?.plan.setup

    connection.onNotification(bridge.Ready, incoming.nothing, () => {
      this.#ready = true
      this.#pump.pageReady()
      this.#tellWork()
      for (const attachment of this.#pendingAttachments.splice(0)) connection.send(bridge.Attach, attachment)
      if (this.#focusWanted) connection.send(bridge.FocusComposer, undefined)
      this.#focusWanted = false
    })
    connection.onRequest(bridge.FetchEntries, incoming.fetchEntries, ({ key, from, to }) =>
      mine(key) ? (controller.current?.session.state.entries.slice(from, to) ?? []) : [],
    )
    connection.onNotification(bridge.SendQueued, incoming.sendQueued, ({ key }) => {
      if (mine(key)) controller.current?.session.sendQueued()
    })
    connection.onNotification(bridge.CancelTurn, incoming.cancelTurn, ({ key }) => {
      if (mine(key)) controller.cancel()
    })
    connection.onNotification(bridge.CancelWork, incoming.cancelWork, ({ key, work }) => {
      const { current } = controller
      if (!current || !mine(key)) return
      const what = 'terminalId' in work ? l10n.t('Stop this command') : l10n.t('Stop this tool call')
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
    listenForCode(connection, { apply: actions.applyCode, roots, tell: done => this.#tell(done) })
    connection.onNotification(bridge.Copy, incoming.copy, ({ text }) => vscode.env.clipboard.writeText(text))
    connection.onNotification(bridge.RunCommand, incoming.runCommand, ({ command }) =>
      actions.command(command),
    )
    listenToComposer(connection, this.#parts, () => this.#pump.sendNow())
    listenToOptions(connection, this.#parts)
    this.register(listenForAppearance(connection))
    const changes = this.register(listenForChanges(connection, controller, this.#parts.changes))
    const follow = this.register(this.#parts.follow.listen(connection))
    this.#tellWork = () => {
      changes.tell()
      follow.tell()
    }
    listenForRules(connection, controller, this.#parts.ruleMessages)
    listenForRename(connection, controller, this.#parts.upkeep)
    connection.listen()
  }

  async #openDiff({ entryId, content, change }: { entryId: string; content: number; change: number }) {
    const open = this.#parts.controller.current
    const state = open?.session.state
    const entry = state?.entries[state.index.get(entryId) ?? -1]
    if (!open || entry?.kind !== 'tool_call') return
    const part = entry.content[content]
    const file = part?.type === 'diff' ? part.changes[change] : undefined
    if (file && part?.type === 'diff') {
      await this.#parts.actions.openDiff(file, part.patch, open.plan.setup)
    }
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

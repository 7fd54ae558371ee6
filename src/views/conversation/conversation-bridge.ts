import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import type { FileChange, Roots } from '../../acp/model.ts'
import { DisposableStore, Owner } from '../../common/disposable.ts'
import { messageOf } from '../../common/errors.ts'
import { Emitter } from '../../common/event.ts'
import type { Logger } from '../../common/logger.ts'
import type { ConversationController } from '../../sessions/conversation-controller.ts'
import type { AgentDirectory, Drafts } from '../../sessions/ports.ts'
import * as bridge from '../bridge/conversation.ts'
import * as incoming from '../bridge/incoming.ts'
import { WebviewConnection } from '../webview-connection.ts'
import { answerElicitation } from './answer-elicitation.ts'
import { buildHead } from './head.ts'
import { PatchPump } from './patch-pump.ts'

/** What a conversation's webview makes happen outside the conversation. */
export interface ConversationActions {
  openLink(href: string, roots: Roots | undefined): Promise<void>
  openFile(path: string, line: number | undefined, roots: Roots | undefined): Promise<void>
  openDiff(
    change: FileChange,
    patch: { format: string; text: string } | undefined,
    roots: Roots | undefined,
  ): Promise<void>
  card(controller: ConversationController, cardId: string, buttonId: string): Promise<void>
  command(command: string): Promise<void>
}

export interface ConversationBridgeParts {
  controller: ConversationController
  agents: AgentDirectory
  actions: ConversationActions
  drafts: Drafts
  log: Logger
}

/** What a webview sends by itself. */
const UNASKED = new Set([bridge.Ready.method, bridge.FetchEntries.method])

/** Connects one webview with one conversation, for as long as the webview lives. */
export class ConversationBridge extends Owner {
  readonly #parts: ConversationBridgeParts
  readonly #connection: WebviewConnection
  readonly #pump: PatchPump
  #pendingAttachments: bridge.Attachment[] = []
  #focusWanted = false
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
        head: () => buildHead(controller, parts.agents),
        draft: () => parts.drafts.get(controller.key),
        sendSnapshot: snapshot => this.#connection.send(bridge.Snapshot, snapshot),
        sendPatch: patch => this.#connection.send(bridge.Patch, patch),
      }),
    )
    this.register(controller.onDidChange(() => this.#pump.headChanged()))
    const session = this.register(new DisposableStore())
    let following: DisposableStore | undefined
    const follow = () => {
      if (following) session.release(following)
      following = session.add(new DisposableStore())
      const shown = controller.current?.session
      if (shown) {
        following.add(shown.onDidChange(changes => this.#pump.add(changes)))
        following.add(shown.onDidChangeStatus(() => this.#pump.headChanged()))
      }
      this.#pump.reset()
    }
    follow()
    this.register(controller.onDidSwitch(follow))
    this.#listen()
  }

  /** A hidden view is sent nothing; shown again, it gets everything anew. */
  setVisible(visible: boolean): void {
    this.#pump.setVisible(visible && this.#ready)
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
    const { controller, actions, drafts } = this.#parts
    const connection = this.#connection
    const mine = (key: string) => key === controller.key
    const roots = () => controller.current?.plan.setup

    connection.onNotification(bridge.Ready, incoming.nothing, () => {
      this.#ready = true
      this.#pump.setVisible(true)
      this.#pump.reset()
      for (const attachment of this.#pendingAttachments.splice(0)) connection.send(bridge.Attach, attachment)
      if (this.#focusWanted) connection.send(bridge.FocusComposer, undefined)
      this.#focusWanted = false
    })
    connection.onRequest(bridge.FetchEntries, incoming.fetchEntries, ({ key, from, to }) =>
      mine(key) ? (controller.current?.session.state.entries.slice(from, to) ?? []) : [],
    )
    connection.onRequest(bridge.SendPrompt, incoming.sendPrompt, async ({ key, text, attachments }) => {
      if (!mine(key)) throw new Error(l10n.t('The conversation has changed meanwhile.'))
      await controller.prompt({ text, attachments })
      drafts.set(key, '')
    })
    connection.onRequest(bridge.WithdrawPrompt, incoming.withdrawPrompt, ({ key, id }) =>
      mine(key) ? controller.withdrawPrompt(id) : null,
    )
    connection.onNotification(bridge.SendQueued, incoming.sendQueued, ({ key }) => {
      if (mine(key)) controller.current?.session.sendQueued()
    })
    connection.onNotification(bridge.CancelTurn, incoming.cancelTurn, ({ key }) => {
      if (mine(key)) controller.cancel()
    })
    connection.onNotification(bridge.CancelWork, incoming.cancelWork, ({ key, work }) => {
      const session = controller.current?.session
      if (session && mine(key)) return this.#tell(session.cancelWork(work))
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
    connection.onNotification(
      bridge.SetConfigOption,
      incoming.setConfigOption,
      ({ key, optionId, value }) => mine(key) && controller.setConfigOption(optionId, value),
    )
    connection.onNotification(bridge.CardAction, incoming.cardAction, ({ cardId, buttonId }) =>
      actions.card(controller, cardId, buttonId),
    )
    connection.onNotification(bridge.StartSession, incoming.startSession, ({ agentId }) =>
      controller.start(agentId),
    )
    connection.onNotification(bridge.SaveDraft, incoming.saveDraft, ({ key, text }) => drafts.set(key, text))
    connection.onNotification(bridge.OpenLink, incoming.openLink, ({ href }) =>
      this.#tell(actions.openLink(href, roots())),
    )
    connection.onNotification(bridge.OpenFile, incoming.openFile, ({ path, line }) =>
      this.#tell(actions.openFile(path, line, roots())),
    )
    connection.onNotification(bridge.OpenDiff, incoming.openDiff, params => {
      if (mine(params.key)) return this.#tell(this.#openDiff(params))
    })
    connection.onNotification(bridge.Copy, incoming.copy, ({ text }) => vscode.env.clipboard.writeText(text))
    connection.onNotification(bridge.RunCommand, incoming.runCommand, ({ command }) =>
      actions.command(command),
    )
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
      void vscode.window.showWarningMessage(messageOf(error))
    }
  }
}

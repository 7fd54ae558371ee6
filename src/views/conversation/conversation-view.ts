import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import type { NotificationType } from 'vscode-jsonrpc'
import type { Attachment } from '../bridge/conversation.ts'
import { ViewId } from '../ids.ts'
import { openPage } from '../webview-html.ts'
import { ConversationBridge, type ConversationBridgeParts } from './conversation-bridge.ts'
import type { ConversationSurface } from './conversation-surface.ts'

export interface ConversationViewEvents {
  /** The person sees the view for the first time in this window. */
  onFirstShown: () => void
  /** The person turns to this view. */
  onUse: () => void
  /** It is shown, or hidden. */
  onSeen: () => void
}

/** The Conversation view of the side bar: makes the page when VS Code shows it and ends with it. */
export class ConversationView implements ConversationSurface, vscode.WebviewViewProvider {
  readonly controller: ConversationBridgeParts['controller']
  readonly #extensionUri: vscode.Uri
  readonly #parts: ConversationBridgeParts
  readonly #events: ConversationViewEvents
  #view: vscode.WebviewView | undefined
  #bridge: ConversationBridge | undefined
  #waitingCount = 0
  #waiting: Array<(bridge: ConversationBridge) => void> = []

  constructor(extensionUri: vscode.Uri, parts: ConversationBridgeParts, events: ConversationViewEvents) {
    this.controller = parts.controller
    this.#extensionUri = extensionUri
    this.#parts = parts
    this.#events = events
  }

  register(): vscode.Disposable {
    // kept while hidden: where the person had scrolled to is worth more than the page's memory
    const webviewOptions = { retainContextWhenHidden: true }
    return vscode.window.registerWebviewViewProvider(ViewId.conversation, this, { webviewOptions })
  }

  get isVisible(): boolean {
    return this.#view?.visible ?? false
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    const first = this.#view === undefined
    this.#view = view
    const bridge = new ConversationBridge(view.webview, this.#parts)
    this.#bridge = bridge
    bridge.onDidUse(this.#events.onUse)
    openPage(view.webview, this.#extensionUri, { name: 'conversation', title: 'Parley' })
    const visibility = view.onDidChangeVisibility(() => {
      bridge.setVisible(view.visible)
      this.#events.onSeen()
    })
    view.onDidDispose(() => {
      visibility.dispose()
      bridge.dispose()
      if (this.#bridge === bridge) this.#bridge = undefined
    })
    this.setWaiting(this.#waitingCount)
    for (const task of this.#waiting.splice(0)) task(bridge)
    if (first) this.#events.onFirstShown()
  }

  /** How many sessions wait for the person, as a badge at the view's icon. */
  setWaiting(count: number): void {
    this.#waitingCount = count
    if (!this.#view) return
    this.#view.badge =
      count > 0 ? { value: count, tooltip: l10n.t('{0} waiting for your answer', count) } : undefined
  }

  async reveal(): Promise<void> {
    this.#events.onUse()
    await vscode.commands.executeCommand(`${ViewId.conversation}.focus`)
    this.#withBridge(bridge => bridge.focusComposer())
  }

  tell<P>(type: NotificationType<P>, params: P): void {
    this.#bridge?.tell(type, params)
  }

  attach(attachment: Attachment): void {
    this.#withBridge(bridge => bridge.attach(attachment))
  }

  #withBridge(task: (bridge: ConversationBridge) => void): void {
    if (this.#bridge) task(this.#bridge)
    else this.#waiting.push(task)
  }
}

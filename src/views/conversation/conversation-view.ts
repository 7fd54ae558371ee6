import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import type { NotificationType } from 'vscode-jsonrpc'
import type { Attachment } from '../bridge/conversation.ts'
import { ViewId } from '../ids.ts'
import type { WebviewPage } from '../webview-page.ts'
import { ConversationBridge, type ConversationBridgeOptions } from './conversation-bridge.ts'
import type { ConversationSurface } from './conversation-surface.ts'

export interface ConversationViewEvents {
  /** The person sees the view for the first time in this window. */
  onFirstShown: () => void
  /** The person turns to this view. */
  onUse: () => void
  /** It is shown, or hidden. */
  onSeen: () => void
}

/** The conversation of the side bar: connects the view's page when VS Code shows it and ends with it. */
export class ConversationView implements ConversationSurface {
  readonly controller: ConversationBridgeOptions['controller']
  readonly #options: ConversationBridgeOptions
  readonly #events: ConversationViewEvents
  #view: vscode.WebviewView | undefined
  #bridge: ConversationBridge | undefined
  #waitingCount = 0
  #waiting: Array<(bridge: ConversationBridge) => void> = []

  constructor(options: ConversationBridgeOptions, events: ConversationViewEvents) {
    this.controller = options.controller
    this.#options = options
    this.#events = events
  }

  get isVisible(): boolean {
    return this.#view?.visible ?? false
  }

  /** Connects the page that VS Code shows the view with. */
  show(view: vscode.WebviewView, page: WebviewPage): void {
    const first = this.#view === undefined
    this.#view = view
    const bridge = new ConversationBridge(page, this.#options)
    this.#bridge = bridge
    bridge.onDidUse(this.#events.onUse)
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
    // a tab that was closed just before leaves the next one active
    this.#events.onUse()
    this.#withBridge(bridge => bridge.focusComposer())
  }

  tell<P>(type: NotificationType<P>, params: P): void {
    this.#bridge?.tell(type, params)
  }

  attach(attachment: Attachment): void {
    this.#withBridge(bridge => bridge.attach(attachment))
  }

  showRequest(requestId: string): void {
    this.#withBridge(bridge => bridge.showRequest(requestId))
  }

  #withBridge(task: (bridge: ConversationBridge) => void): void {
    if (this.#bridge) task(this.#bridge)
    else this.#waiting.push(task)
  }
}

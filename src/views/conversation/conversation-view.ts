import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import type { Attachment } from '../bridge/conversation.ts'
import { ViewId } from '../ids.ts'
import { webviewHtml } from '../webview-html.ts'
import { ConversationBridge, type ConversationBridgeParts } from './conversation-bridge.ts'

/** The Conversation view of the side bar: makes the page when VS Code shows it and ends with it. */
export class ConversationView implements vscode.WebviewViewProvider {
  readonly #extensionUri: vscode.Uri
  readonly #parts: ConversationBridgeParts
  readonly #onFirstShown: () => void
  #view: vscode.WebviewView | undefined
  #bridge: ConversationBridge | undefined
  #waitingCount = 0
  #waiting: Array<(bridge: ConversationBridge) => void> = []

  /** `onFirstShown`: the person sees the view for the first time in this window. */
  constructor(extensionUri: vscode.Uri, parts: ConversationBridgeParts, onFirstShown: () => void) {
    this.#extensionUri = extensionUri
    this.#parts = parts
    this.#onFirstShown = onFirstShown
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
    view.webview.options = {
      enableScripts: true,
      localResourceRoots: [vscode.Uri.joinPath(this.#extensionUri, 'dist', 'webview')],
    }
    const bridge = new ConversationBridge(view.webview, this.#parts)
    this.#bridge = bridge
    view.webview.html = webviewHtml(view.webview, this.#extensionUri, {
      name: 'conversation',
      title: 'Parley',
      l10n: stringsOf(vscode.l10n.bundle),
    })
    const visibility = view.onDidChangeVisibility(() => bridge.setVisible(view.visible))
    view.onDidDispose(() => {
      visibility.dispose()
      bridge.dispose()
      if (this.#bridge === bridge) this.#bridge = undefined
    })
    this.setWaiting(this.#waitingCount)
    for (const task of this.#waiting.splice(0)) task(bridge)
    if (first) this.#onFirstShown()
  }

  /** How many sessions wait for the person, as a badge at the view's icon. */
  setWaiting(count: number): void {
    this.#waitingCount = count
    if (!this.#view) return
    this.#view.badge =
      count > 0 ? { value: count, tooltip: l10n.t('{0} waiting for your answer', count) } : undefined
  }

  /** Shows the view, and puts the cursor into the composer. */
  async reveal(): Promise<void> {
    await vscode.commands.executeCommand(`${ViewId.conversation}.focus`)
    this.#withBridge(bridge => bridge.focusComposer())
  }

  attach(attachment: Attachment): void {
    this.#withBridge(bridge => bridge.attach(attachment))
  }

  #withBridge(task: (bridge: ConversationBridge) => void): void {
    if (this.#bridge) task(this.#bridge)
    else this.#waiting.push(task)
  }
}

/** VS Code's bundle may carry comments beside a message. */
export function stringsOf(bundle: Record<string, unknown> | undefined): Record<string, string> {
  const strings: Record<string, string> = {}
  for (const [key, value] of Object.entries(bundle ?? {})) {
    if (typeof value === 'string') strings[key] = value
    else if (typeof value === 'object' && value !== null && 'message' in value)
      strings[key] = String(value.message)
  }
  return strings
}

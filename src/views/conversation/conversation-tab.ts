import * as vscode from 'vscode'
import type { NotificationType } from 'vscode-jsonrpc'
import { Owner } from '../../common/disposable.ts'
import {
  indicatorOf,
  type SessionIndicator,
  type SessionIndicators,
} from '../../sessions/session-indicators.ts'
import { titleOf } from '../../sessions/session-title.ts'
import type { Attachment, TabNote } from '../bridge/conversation.ts'
import type { WebviewPage } from '../webview-page.ts'
import { tabIcon } from '../webview-tab.ts'
import type { FocusReport } from './active-place.ts'
import { ConversationBridge, type ConversationBridgeOptions } from './conversation-bridge.ts'
import type { ConversationSurface } from './conversation-surface.ts'
import { isConversationFocused } from './view-focus.ts'

/** A conversation in an editor tab, with its title as the tab's. */
export class ConversationTab extends Owner implements ConversationSurface {
  readonly controller: ConversationBridgeOptions['controller']
  readonly #panel: vscode.WebviewPanel
  readonly #bridge: ConversationBridge
  readonly #extensionUri: vscode.Uri
  readonly #indicators: SessionIndicators
  #indicator: SessionIndicator | undefined

  /**
   * `onFocus`: as its page reports. `onFront`: it is the active editor now. `onSeen`: it is shown, or hidden. The tab ends, and its controller with it, when the
   * panel is closed.
   */
  constructor(
    panel: vscode.WebviewPanel,
    page: WebviewPage,
    extensionUri: vscode.Uri,
    options: ConversationBridgeOptions,
    indicators: SessionIndicators,
    onFocus: (focus: FocusReport) => void,
    onFront: () => void,
    onSeen: () => void,
  ) {
    super()
    this.#extensionUri = extensionUri
    this.#indicators = indicators
    this.controller = this.register(options.controller)
    this.#panel = panel
    this.#bridge = this.register(new ConversationBridge(page, options))
    this.register(this.#bridge.onDidFocus(onFocus))
    this.register(
      panel.onDidChangeViewState(() => {
        this.#bridge.setVisible(panel.visible)
        onSeen()
        // a tab may come to the front by itself, because another one was closed, while the user writes elsewhere
        if (panel.active && !isConversationFocused()) onFront()
      }),
    )
    this.register(options.controller.onDidChange(() => this.#updateTitle()))
    this.register(indicators.onDidChange(() => this.#updateTitle()))
    this.#updateTitle()
  }

  /** What the list of conversations in tabs says of it; nothing while it is empty. */
  get note(): TabNote | undefined {
    const { current, key, agentName, phase } = this.controller
    if (!current && phase === 'empty') return undefined
    const state = indicatorOf(this.controller, this.#indicators)
    return { key, title: this.#title, ...(agentName !== undefined && { agentName }), state }
  }

  get isVisible(): boolean {
    return this.#panel.visible
  }

  /** It is the active editor. */
  get isActive(): boolean {
    return this.#panel.active
  }

  async reveal(): Promise<void> {
    this.#panel.reveal()
    this.focusComposer()
  }

  /** Puts the cursor into the composer, once the page is there. */
  focusComposer(): void {
    this.#bridge.focusComposer()
  }

  tell<P>(type: NotificationType<P>, params: P): void {
    this.#bridge.tell(type, params)
  }

  /** To the editor group at the side; one is made where there is none. */
  moveBeside(): void {
    this.#panel.reveal(vscode.ViewColumn.Beside)
  }

  /** Closes the tab; its session stays open in this window. */
  close(): void {
    this.#panel.dispose()
  }

  attach(attachment: Attachment): void {
    this.#bridge.attach(attachment)
  }

  showRequest(requestId: string): void {
    this.#bridge.showRequest(requestId)
  }

  get #title(): string {
    const { current, agentName } = this.controller
    return (current && titleOf(current.session)) ?? agentName ?? 'Parley'
  }

  #updateTitle(): void {
    const title = this.#title
    if (this.#panel.title !== title) this.#panel.title = title
    const indicator = indicatorOf(this.controller, this.#indicators)
    if (this.#indicator === indicator) return
    this.#indicator = indicator
    // what the session does, by a different shape for each, beside Parley's own
    this.#panel.iconPath = tabIcon(
      this.#extensionUri,
      indicator === 'idle' ? 'parley' : `parley-${indicator}`,
    )
  }
}

import * as vscode from 'vscode'
import { Owner } from '../../common/disposable.ts'
import { sessionTitle } from '../../sessions/session-title.ts'
import type { Attachment } from '../bridge/conversation.ts'
import { openPage } from '../webview-html.ts'
import { ConversationBridge, type ConversationBridgeParts } from './conversation-bridge.ts'
import type { ConversationSurface } from './conversation-surface.ts'

/** A conversation in an editor tab, with its title as the tab's. */
export class ConversationTab extends Owner implements ConversationSurface {
  readonly controller: ConversationBridgeParts['controller']
  readonly #panel: vscode.WebviewPanel
  readonly #bridge: ConversationBridge

  /** `onUse`: the person turns to this tab. The tab ends, and its controller with it, when the panel is closed. */
  constructor(
    panel: vscode.WebviewPanel,
    extensionUri: vscode.Uri,
    parts: ConversationBridgeParts,
    onUse: () => void,
  ) {
    super()
    this.controller = this.register(parts.controller)
    this.#panel = panel
    this.#bridge = this.register(new ConversationBridge(panel.webview, parts))
    this.register(this.#bridge.onDidUse(onUse))
    this.register(
      panel.onDidChangeViewState(() => {
        this.#bridge.setVisible(panel.visible)
        if (panel.active) onUse()
      }),
    )
    this.register(parts.controller.onDidChange(() => this.#updateTitle()))
    // a tab's icon is drawn as it is, other than the one of the activity bar
    panel.iconPath = {
      light: vscode.Uri.joinPath(extensionUri, 'media', 'parley-light.svg'),
      dark: vscode.Uri.joinPath(extensionUri, 'media', 'parley-dark.svg'),
    }
    openPage(panel.webview, extensionUri, { name: 'conversation', title: 'Parley' })
    this.#updateTitle()
  }

  get isVisible(): boolean {
    return this.#panel.visible
  }

  async reveal(): Promise<void> {
    this.#panel.reveal()
    this.#bridge.focusComposer()
  }

  attach(attachment: Attachment): void {
    this.#bridge.attach(attachment)
  }

  #updateTitle(): void {
    const { current, agentName } = this.controller
    const title = (current && sessionTitle(current.session.state)) ?? agentName ?? 'Parley'
    if (this.#panel.title !== title) this.#panel.title = title
  }
}

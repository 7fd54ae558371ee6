import * as vscode from 'vscode'
import type { NotificationType } from 'vscode-jsonrpc'
import { WebviewConnection } from '../../app/webview-connection.ts'
import { DisposableStore, Owner } from '../../common/disposable.ts'
import type { Logger } from '../../common/logger.ts'
import { WebviewPage, type WebviewPageOptions } from './webview-page.ts'

export interface WebviewTabOptions {
  extensionUri: vscode.Uri
  log: Logger
}

/** An editor tab that exists at most once per window: a command opens it, and a reload restores it. */
export abstract class WebviewTab extends Owner {
  readonly #extensionUri: vscode.Uri
  readonly #log: Logger
  readonly #viewType: string
  readonly #page: WebviewPageOptions
  #panel: vscode.WebviewPanel | undefined
  #connection: WebviewConnection | undefined

  constructor({ extensionUri, log }: WebviewTabOptions, viewType: string, page: WebviewPageOptions) {
    super()
    this.#extensionUri = extensionUri
    this.#log = log
    this.#viewType = viewType
    this.#page = page
    this.register({ dispose: () => this.#panel?.dispose() })
  }

  /** Opens the tab, or shows it. */
  open(): void {
    if (this.#panel) {
      this.#panel.reveal()
      return
    }
    const { Active } = vscode.ViewColumn
    const panel = vscode.window.createWebviewPanel(this.#viewType, this.#page.title, Active)
    this.#show(panel, new WebviewPage(panel, this.#extensionUri, this.#page), true)
  }

  /** Restores the tab after a reload. */
  restore(panel: vscode.WebviewPanel, page: WebviewPage): void {
    // the user has opened it again already
    if (this.#panel) panel.dispose()
    else this.#show(panel, page, false)
  }

  /**
   * Registers the handlers of the page's messages. `own` is disposed with the tab. `isAsked`: the user opened the tab;
   * otherwise a reload restored it.
   */
  protected abstract connect(connection: WebviewConnection, own: DisposableStore, isAsked: boolean): void

  /** The tab became visible. */
  protected abstract shown(): void

  protected get isVisible(): boolean {
    return this.#panel?.visible ?? false
  }

  protected send<P>(type: NotificationType<P>, params: P): void {
    this.#connection?.send(type, params)
  }

  #show(panel: vscode.WebviewPanel, page: WebviewPage, isAsked: boolean): void {
    this.#panel = panel
    panel.iconPath = tabIcon(this.#extensionUri, 'parley')
    const own = new DisposableStore()
    this.#connection = own.add(new WebviewConnection(page, this.#log))
    this.connect(this.#connection, own, isAsked)
    this.#connection.listen()
    panel.onDidChangeViewState(() => {
      if (panel.visible) this.shown()
    })
    panel.onDidDispose(() => {
      own.dispose()
      this.#panel = undefined
      this.#connection = undefined
    })
  }
}

/** Unlike the activity bar's icon, a tab's icon isn't recolored, so there is a file for each kind of theme. */
export function tabIcon(extensionUri: vscode.Uri, name: string): { light: vscode.Uri; dark: vscode.Uri } {
  const file = (theme: string) => vscode.Uri.joinPath(extensionUri, 'media', `${name}-${theme}.svg`)
  return { light: file('light'), dark: file('dark') }
}

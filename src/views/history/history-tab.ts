import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import { DisposableStore, Owner } from '../../common/disposable.ts'
import type { Logger } from '../../common/logger.ts'
import { listenFocus } from '../conversation/view-focus.ts'
import { HISTORY_TAB_TYPE } from '../ids.ts'
import { WebviewConnection } from '../webview-connection.ts'
import { HISTORY_PAGE, WebviewPage } from '../webview-page.ts'
import type { HistoryView } from './history-view.ts'

/** History in an editor tab: one in each window, brought back after a reload. */
export class HistoryTab extends Owner {
  readonly #extensionUri: vscode.Uri
  readonly #history: HistoryView
  readonly #log: Logger
  #panel: vscode.WebviewPanel | undefined

  constructor(extensionUri: vscode.Uri, history: HistoryView, log: Logger) {
    super()
    this.#extensionUri = extensionUri
    this.#history = history
    this.#log = log
    this.register({ dispose: () => this.#panel?.dispose() })
  }

  open(): void {
    if (this.#panel) {
      this.#panel.reveal()
      return
    }
    const panel = vscode.window.createWebviewPanel(
      HISTORY_TAB_TYPE,
      l10n.t('History'),
      vscode.ViewColumn.Active,
    )
    this.#connect(panel, new WebviewPage(panel, this.#extensionUri, HISTORY_PAGE))
  }

  /** Brings the tab back after a reload. */
  restore(panel: vscode.WebviewPanel, page: WebviewPage): void {
    // it was opened anew before
    if (this.#panel) panel.dispose()
    else this.#connect(panel, page)
  }

  #connect(panel: vscode.WebviewPanel, page: WebviewPage): void {
    this.#panel = panel
    const icon = (file: string) => vscode.Uri.joinPath(this.#extensionUri, 'media', file)
    panel.iconPath = { light: icon('parley-light.svg'), dark: icon('parley-dark.svg') }
    const own = new DisposableStore()
    const connection = own.add(new WebviewConnection(page, this.#log))
    own.add(this.#history.listen('tab', connection, () => panel.visible))
    own.add(listenFocus(connection, { page: () => 'history' }))
    connection.listen()
    panel.onDidChangeViewState(() => {
      if (panel.visible) this.#history.looked()
    })
    panel.onDidDispose(() => {
      own.dispose()
      if (this.#panel === panel) this.#panel = undefined
    })
  }
}

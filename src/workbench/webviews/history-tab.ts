import type { HistoryView } from '../../app/history/history-view.ts'
import { HISTORY_TAB_TYPE } from '../../app/ids.ts'
import type { PageFocus } from '../../app/page-focus.ts'
import type { WebviewConnection } from '../../app/webview-connection.ts'
import type { DisposableStore } from '../../common/disposable.ts'
import { HISTORY_PAGE } from './webview-page.ts'
import { WebviewTab, type WebviewTabOptions } from './webview-tab.ts'

/** History in an editor tab. */
export class HistoryTab extends WebviewTab {
  readonly #view: HistoryView
  readonly #pageFocus: PageFocus

  constructor(view: HistoryView, pageFocus: PageFocus, options: WebviewTabOptions) {
    super(options, HISTORY_TAB_TYPE, HISTORY_PAGE())
    this.#view = view
    this.#pageFocus = pageFocus
  }

  protected connect(connection: WebviewConnection, own: DisposableStore): void {
    own.add(this.#view.listen('tab', connection, () => this.isVisible))
    own.add(this.#pageFocus.listen(connection, { page: () => 'history' }))
  }

  protected shown(): void {
    this.#view.looked()
  }
}

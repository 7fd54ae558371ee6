import type { HistoryHostMessages } from '../../bridge/history-messages.ts'
import type { DisposableStore } from '../../common/disposable.ts'
import { HISTORY_TAB_TYPE } from '../ids.ts'
import type { PageFocus } from '../page-focus.ts'
import type { WebviewConnection } from '../webview-connection.ts'
import { WebviewTab, type WebviewTabOptions } from '../webview-tab.ts'
import type { HistoryView } from './history-view.ts'

/** History in an editor tab. */
export class HistoryTab extends WebviewTab<HistoryHostMessages> {
  readonly #view: HistoryView
  readonly #pageFocus: PageFocus

  constructor(view: HistoryView, pageFocus: PageFocus, options: WebviewTabOptions) {
    super(options, { viewType: HISTORY_TAB_TYPE, page: 'history' })
    this.#view = view
    this.#pageFocus = pageFocus
  }

  protected connect(connection: WebviewConnection<HistoryHostMessages>, own: DisposableStore): void {
    own.add(this.#view.listen('tab', connection, () => this.isVisible))
    own.add(this.#pageFocus.listen(connection, { page: () => 'history' }))
  }

  protected shown(): void {
    this.#view.shown()
  }
}

import type { HistoryHostMessages } from '../../bridge/history-messages.ts'
import type { DisposableStore } from '../../common/disposable.ts'
import { HISTORY_TAB_TYPE } from '../ids.ts'
import type { WebviewConnection } from '../webview-connection.ts'
import { WebviewTab, type WebviewTabOptions } from '../webview-tab.ts'
import type { HistoryView } from './history-view.ts'

/** History in an editor tab. */
export class HistoryTab extends WebviewTab<HistoryHostMessages> {
  readonly #view: HistoryView

  constructor(view: HistoryView, options: WebviewTabOptions) {
    super(options, { viewType: HISTORY_TAB_TYPE, page: 'history' })
    this.#view = view
  }

  protected connect(connection: WebviewConnection<HistoryHostMessages>, own: DisposableStore): void {
    own.add(this.#view.listen('tab', connection, () => this.isVisible))
  }

  protected shown(): void {
    this.#view.shown()
  }
}

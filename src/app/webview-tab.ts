import type { HostArguments, HostMessages, PageHostMessages } from '../bridge/contract.ts'
import { DisposableStore, Owner } from '../common/disposable.ts'
import type { Logger } from '../common/logger.ts'
import type { PageFocus } from './page-focus.ts'
import { WebviewConnection } from './webview-connection.ts'
import type { ShownTab, TabOptions, TabPanel } from './webviews.ts'
import type { Workbench } from './workbench.ts'

export interface WebviewTabOptions {
  workbench: Workbench
  pageFocus: PageFocus
  log: Logger
}

/** An editor tab that exists at most once per window: a command opens it, and a reload restores it. */
export abstract class WebviewTab<M extends HostMessages<M>> extends Owner {
  readonly #workbench: Workbench
  readonly #pageFocus: PageFocus
  readonly #log: Logger
  readonly #tab: TabOptions
  #panel: TabPanel | undefined
  #isVisible = false
  #connection: WebviewConnection<M> | undefined

  constructor({ workbench, pageFocus, log }: WebviewTabOptions, tab: TabOptions) {
    super()
    this.#workbench = workbench
    this.#pageFocus = pageFocus
    this.#log = log
    this.#tab = tab
    this.register({ dispose: () => this.#panel?.close() })
  }

  /** Opens the tab, or reveals it if it's open. */
  open(): void {
    if (this.#panel) {
      this.#panel.reveal()
      return
    }
    this.#show(this.#workbench.openTab(this.#tab), true)
  }

  /** Restores the tab after a reload. */
  restore(shown: ShownTab): void {
    // the user has already opened the tab again
    if (this.#panel) shown.panel.close()
    else this.#show(shown, false)
  }

  /**
   * Registers the handlers of the page's messages. `own` is disposed with the tab. `isAsked` is true if the user opened the tab, and false
   * if a reload restored it.
   */
  protected abstract connect(connection: WebviewConnection<M>, own: DisposableStore, isAsked: boolean): void

  /** Called when the tab became visible. */
  protected abstract shown(): void

  protected set title(title: string) {
    this.#panel?.setTitle(title)
  }

  protected get isVisible(): boolean {
    return this.#isVisible
  }

  protected send<N extends keyof M & string>(name: N, ...params: HostArguments<M[N]>): void {
    this.#connection?.send(name, ...params)
  }

  #show({ panel, state, page }: ShownTab, isAsked: boolean): void {
    this.#panel = panel
    this.#isVisible = state.visible
    panel.setIcon('parley')
    const own = new DisposableStore()
    const connection = own.add(new WebviewConnection<M & PageHostMessages>(page, this.#log))
    this.#connection = connection
    const isHistory = this.#tab.page === 'history'
    own.add(this.#pageFocus.listen(connection, { page: () => (isHistory ? 'history' : undefined) }))
    this.connect(connection, own, isAsked)
    connection.listen()
    panel.onDidChangeState(({ visible }) => {
      this.#isVisible = visible
      if (visible) this.shown()
    })
    panel.onDidClose(() => {
      own.dispose()
      this.#panel = undefined
      this.#isVisible = false
      this.#connection = undefined
    })
  }
}

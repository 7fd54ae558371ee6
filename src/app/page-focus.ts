import { pageMessages } from '../bridge/contract.ts'
import type { ViewPage } from '../bridge/history.ts'
import { type Disposable, toDisposable } from '../common/disposable.ts'
import type { FocusReport } from './conversation/active-surface.ts'
import { ContextKey } from './ids.ts'
import type { WebviewConnection } from './webview-connection.ts'
import type { Workbench } from './workbench.ts'

export interface FocusOptions {
  /** the page that the webview shows */
  page: () => ViewPage
  onFocus?: (focus: FocusReport) => void
}

/** Tracks which page has the focus, since VS Code doesn't tell. Updates the context keys for the keybindings of pages. */
export class PageFocus {
  readonly #setContext: Workbench['setContext']
  /** The webviews that last reported the focus, and the page that each of them shows. Reports can arrive out of order. */
  readonly #focused = new Map<WebviewConnection, () => ViewPage>()
  readonly #reported = new Map<string, boolean>()

  constructor({ setContext }: Pick<Workbench, 'setContext'>) {
    this.#setContext = setContext
  }

  /** Handles a webview's focus reports until the result is disposed. */
  listen(connection: WebviewConnection, { page, onFocus = () => {} }: FocusOptions): Disposable {
    connection.handle(pageMessages, {
      'page/focused': change => {
        if (change.focused) this.#focused.set(connection, page)
        else this.#focused.delete(connection)
        this.update()
        onFocus(change.isUsed ? 'used' : change.focused ? 'came' : 'left')
      },
    })
    return toDisposable(() => {
      this.#focused.delete(connection)
      this.update()
      onFocus('left')
    })
  }

  /** Whether the keyboard's focus is in any conversation. */
  get isInConversation(): boolean {
    return this.#isIn('conversation')
  }

  /** Whether a webview last reported that it has the focus. */
  has(connection: WebviewConnection): boolean {
    return this.#focused.has(connection)
  }

  /** Call this when a webview shows another page. */
  update(): void {
    for (const [key, page] of [
      [ContextKey.conversationFocus, 'conversation'],
      [ContextKey.historyFocus, 'history'],
    ] as const) {
      const now = this.#isIn(page)
      if ((this.#reported.get(key) ?? false) === now) continue
      this.#reported.set(key, now)
      this.#setContext(key, now)
    }
  }

  #isIn(wanted: ViewPage): boolean {
    return [...this.#focused.values()].some(page => page() === wanted)
  }
}

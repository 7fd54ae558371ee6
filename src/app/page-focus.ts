import { type PageHostMessages, pageMessages } from '../bridge/contract.ts'
import type { ViewPage } from '../bridge/history.ts'
import { type Disposable, Owner, toDisposable } from '../common/disposable.ts'
import type { FocusReport } from './conversation/active-surface.ts'
import { ContextKey } from './ids.ts'
import type { WebviewConnection } from './webview-connection.ts'
import type { Workbench } from './workbench.ts'

type PageConnection = WebviewConnection<PageHostMessages>

export interface FocusOptions {
  /** returns the page that the webview shows */
  page: () => ViewPage | undefined
  onFocus?: (focus: FocusReport) => void
}

/**
 * Tracks which page has the keyboard focus, which VS Code doesn't report, and gives the focus back after a modal dialog. Updates the
 * context keys for the keybindings of pages.
 */
export class PageFocus extends Owner {
  readonly #setContext: Workbench['setContext']
  /** the webviews that last reported the focus, with the page that each of them shows. Reports can arrive out of order. */
  readonly #focused = new Map<PageConnection, FocusOptions['page']>()
  readonly #reported = new Map<string, boolean>()
  /** the webviews that had the focus before the dialog */
  #before = new Set<PageConnection>()
  #returning: ReturnType<typeof setImmediate> | undefined

  constructor({ setContext, dialogs }: Pick<Workbench, 'setContext' | 'dialogs'>) {
    super()
    this.#setContext = setContext
    this.register(dialogs.onDidAsk(isOpen => this.#asked(isOpen)))
  }

  #asked(isOpen: boolean): void {
    clearImmediate(this.#returning)
    if (isOpen) for (const connection of this.#focused.keys()) this.#before.add(connection)
    // waits, because the answer may lead to another question
    else
      this.#returning = setImmediate(() => {
        for (const connection of this.#before) connection.send('page/returnFocus')
        this.#before.clear()
      })
  }

  /** Handles the focus reports of a webview. Disposing the result stops this. */
  listen(connection: PageConnection, { page, onFocus = () => {} }: FocusOptions): Disposable {
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
      this.#before.delete(connection)
      this.update()
      onFocus('left')
    })
  }

  /** Whether the keyboard focus is in any conversation. */
  get isInConversation(): boolean {
    return this.#isIn('conversation')
  }

  /** Whether a webview last reported that its page has the focus. */
  has(connection: PageConnection): boolean {
    return this.#focused.has(connection)
  }

  /** Updates the context keys. Must be called when a webview shows another page. */
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

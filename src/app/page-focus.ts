import { type PageHostMessages, pageMessages } from '../bridge/contract.ts'
import type { ViewPage } from '../bridge/history.ts'
import { type Disposable, Owner, toDisposable } from '../common/disposable.ts'
import type { FocusReport } from './conversation/active-surface.ts'
import { ContextKey } from './ids.ts'
import type { WebviewConnection } from './webview-connection.ts'
import type { Workbench } from './workbench.ts'

type PageConnection = WebviewConnection<PageHostMessages>

export interface FocusOptions {
  /** the page that the webview shows */
  page: () => ViewPage | undefined
  onFocus?: (focus: FocusReport) => void
}

/**
 * Tracks which page has the focus, since VS Code doesn't tell, and returns it after a modal dialog. Updates the context keys for the
 * keybindings of pages.
 */
export class PageFocus extends Owner {
  readonly #setContext: Workbench['setContext']
  /** The webviews that last reported the focus, and the page that each of them shows. Reports can arrive out of order. */
  readonly #focused = new Map<PageConnection, FocusOptions['page']>()
  readonly #reported = new Map<string, boolean>()
  /** The webviews that had the focus before the dialog. */
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
    // what the answer leads to comes after, and may be another question
    else
      this.#returning = setImmediate(() => {
        for (const connection of this.#before) connection.send('page/returnFocus')
        this.#before.clear()
      })
  }

  /** Handles a webview's focus reports until the result is disposed. */
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

  /** Whether the keyboard's focus is in any conversation. */
  get isInConversation(): boolean {
    return this.#isIn('conversation')
  }

  /** Whether a webview last reported that it has the focus. */
  has(connection: PageConnection): boolean {
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

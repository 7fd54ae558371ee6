/** The context menus of webviews, from `webview/context` in package.json. */
import type { PageEvent, ShownMenu, WindowPage } from './shown.ts'
import { holds } from './when.ts'

interface MenuEntry {
  command: string
  /** instead of a command */
  submenu?: string
  group?: string
  when?: string
}

export interface ContextMenusOptions {
  menus: Record<string, readonly MenuEntry[]>
  titleOf(command: string): string
  /** the `viewType` of a webview */
  viewTypeOf(webview: string): string | undefined
  contextKey(key: string): unknown
  run(command: string, context: object): void
}

type RightClick = Extract<PageEvent, { type: 'contextMenu' }>

export class ContextMenus {
  readonly #options: ContextMenusOptions
  readonly #page: WindowPage
  #open: { shown: ShownMenu; commands: string[]; context: object } | undefined
  #next = 0

  constructor(page: WindowPage, options: ContextMenusOptions) {
    this.#options = options
    this.#page = page
    page.add(() => (this.#open ? { menu: this.#open.shown } : {}))
    page.onEvent(event => {
      if (event.type === 'contextMenu') this.#show(event)
      else if (event.type === 'menu' && event.id === this.#open?.shown.id) this.#close(event.index)
    })
  }

  #show({ webview, context, x, y }: RightClick): void {
    const { menus, titleOf, viewTypeOf, contextKey } = this.#options
    const values: Record<string, unknown> = { ...context, webviewId: viewTypeOf(webview) }
    const offered = menus['webview/context']!.filter(({ when }) =>
      holds(when, key => values[key] ?? contextKey(key)),
    )
      .toSorted((a, b) => (a.group ?? '').localeCompare(b.group ?? ''))
      .flatMap(entry => (entry.submenu === undefined ? entry : menus[entry.submenu]!))
      .map(({ command }) => command)
    if (offered.length === 0) return
    const shown = { id: ++this.#next, webview, x, y, titles: offered.map(titleOf) }
    this.#open = { shown, commands: offered, context: { ...context, webview: values.webviewId } }
    this.#page.update()
  }

  #close(index: number | undefined): void {
    const command = index === undefined ? undefined : this.#open?.commands[index]
    const context = this.#open?.context ?? {}
    this.#open = undefined
    this.#page.update()
    if (command !== undefined) this.#options.run(command, context)
  }
}

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { type ContextOptions, newContext } from '../../host/browser.ts'
import type { IsolatedRoot } from '../../host/isolated-root.ts'
import { projectDirectory } from '../../host/paths.ts'
import { type ThemeKind, themes, VsCodeWindow } from '../../host/vscode-window.ts'
import { waitFor } from '../../host/wait-for.ts'
import { bundleOf, type TestLanguage } from '../longer-texts.ts'
import type { PageWindowOptions } from './editor/options.ts'
import { ExtensionHost } from './extension-host.ts'

/** The titles of the commands in the palette, with their ids. */
const commandIds = readCommands()

function readCommands(): Map<string, string> {
  const read = (name: string) => JSON.parse(readFileSync(join(projectDirectory, name), 'utf8'))
  const { commands } = read('package.json').contributes as {
    commands: Array<{ command: string; category?: string; title: string }>
  }
  const texts = read('package.nls.json') as Record<string, string>
  const ids = new Map([
    ['View: Close All Editors', 'workbench.action.closeAllEditors'],
    ['View: Close Editor', 'workbench.action.closeActiveEditor'],
    ['View: Close Primary Side Bar', 'workbench.action.closeSidebar'],
    ['View: Toggle Primary Side Bar Visibility', 'workbench.action.toggleSidebarVisibility'],
    ['Notifications: Clear All Notifications', 'notifications.clearAll'],
  ])
  // the first one with a title is that of the palette; the others are buttons in title bars
  for (const { command, category, title } of [...commands].reverse()) {
    const text = title.replace(/^%(.*)%$/, (_, key: string) => texts[key] ?? key)
    ids.set(category === undefined ? text : `${category}: ${text}`, command)
  }
  return ids
}

export interface PageWindowSettings extends ContextOptions {
  workspace?: string
  language?: TestLanguage
  /** the extension's folder; by default the project with its build */
  extension?: string
  /** of the extension host and its agents */
  env?: NodeJS.ProcessEnv
}

/**
 * A window without a workbench: a page with Parley's webviews, tabs, notifications and quick inputs, and the extension in
 * plain Node. Everything of Parley is real; only VS Code is ours.
 */
export class PageWindow extends VsCodeWindow {
  readonly root: IsolatedRoot
  readonly #context: BrowserContext
  readonly #settings: PageWindowSettings
  readonly #console: string[] = []
  #host: ExtensionHost
  #page: Page | undefined

  private constructor(
    root: IsolatedRoot,
    context: BrowserContext,
    host: ExtensionHost,
    settings: PageWindowSettings,
  ) {
    super()
    this.root = root
    this.#context = context
    this.#host = host
    this.#settings = settings
  }

  static async open(
    browser: Browser,
    root: IsolatedRoot,
    settings: PageWindowSettings = {},
  ): Promise<PageWindow> {
    const [context, host] = await Promise.all([newContext(browser, settings), startHost(root, settings)])
    const window = new PageWindow(root, context, host, settings)
    await window.#load()
    return window
  }

  async #load(): Promise<void> {
    const page = await this.#context.newPage()
    this.#page = page
    page.on('console', message => this.#console.push(`${message.type()}: ${message.text()}`))
    page.on('pageerror', error => this.#console.push(`uncaught: ${error.stack ?? error.message}`))
    await page.goto(this.#host.origin)
    await page.locator('body[data-drawn]').waitFor({ state: 'attached' })
  }

  get page(): Page {
    if (!this.#page) throw new Error('The window is closed')
    return this.#page
  }

  get isClosed(): boolean {
    return this.#page === undefined
  }

  get consoleMessages(): readonly string[] {
    return this.#console
  }

  /** The workspace that the window shows. */
  get workspace(): string {
    return this.#settings.workspace ?? ''
  }

  /** What the extension host wrote. */
  get hostOutput(): string {
    return this.#host.output
  }

  /** Asks the extension host: see `control` in `editor/main.ts`. */
  get host(): Pick<ExtensionHost, 'call' | 'kill'> {
    return this.#host
  }

  /** Doesn't wait for the command, like the palette. */
  async runCommand(title: string): Promise<void> {
    const id = commandIds.get(title)
    if (id === undefined) throw new Error(`No command is titled "${title}"`)
    const ended = this.#host.call('run', id)
    ended.catch(() => {})
    // so that errors of the call itself aren't missed; a command that asks the person takes longer
    await Promise.race([ended, this.#host.call('tabs')])
  }

  /** Another one than Parley's takes its place. */
  async openViewContainer(name: string): Promise<void> {
    await this.#host.call(name === 'Parley' ? 'openSideBar' : 'hideSideBar')
  }

  async setTheme(theme: ThemeKind): Promise<void> {
    await this.page.evaluate(`setTheme(${JSON.stringify(theme)})`)
    await this.page.locator(`.monaco-workbench.${themes[theme].className}`).waitFor()
  }

  async setSideBarWidth(width: number): Promise<void> {
    await this.page.evaluate(`setSideBarWidth(${width})`)
  }

  /** Closes all editors without saving, and the notifications. */
  async closeEditorsAndPanel(): Promise<void> {
    await this.runCommand('View: Close All Editors')
    await this.runCommand('Notifications: Clear All Notifications')
    await waitFor('end of all editors', async () => (await this.page.locator('.tab').count()) === 0)
  }

  /** Like *Developer: Reload Window*: keeps what the extension stored. */
  async reload(): Promise<void> {
    await this.#restart(() => this.#host.stop())
  }

  /** Another window opens as the one before is closed. */
  reopen(): Promise<void> {
    return this.reload()
  }

  /** The extension host is killed, and the window opens again. */
  async crash(meanwhile?: () => Promise<void>): Promise<void> {
    await this.#restart(async () => {
      await this.#host.kill()
      await meanwhile?.()
    })
  }

  /** The side bar is open again if it was. */
  async #restart(end: () => Promise<void>): Promise<void> {
    const wasOpen = (await this.page.locator('.part.sidebar.open').count()) > 0
    await this.page.close()
    await end()
    this.#host = await startHost(this.root, this.#settings)
    await this.#load()
    if (wasOpen) await this.#host.call('openSideBar')
  }

  async close(): Promise<void> {
    await this.#context.close()
    this.#page = undefined
    await this.#host.stop()
  }
}

function startHost(
  root: IsolatedRoot,
  { workspace, language, env, extension = projectDirectory }: PageWindowSettings,
): Promise<ExtensionHost> {
  const options: PageWindowOptions = {
    extension,
    userData: root.userData,
    extensions: root.extensions,
    ...(workspace !== undefined && { workspace }),
    ...(language && { language, bundle: bundleOf(language) }),
  }
  return ExtensionHost.start(options, root.environment(env))
}

import type { Browser, Frame, Locator, Page } from 'playwright-core'
import { type OpenedPage, type OpenOptions, openPage } from './browser.ts'
import type { Server } from './server.ts'
import type { ThemeKind } from './vscode-versions.ts'
import { waitFor } from './wait-for.ts'
import { touchWorkspaceFile } from './workspace-file.ts'

/** The class that the workbench carries for each kind of theme. */
const themeClasses: Record<ThemeKind, string> = {
  dark: 'vs-dark',
  light: 'vs',
  highContrast: 'hc-black',
  highContrastLight: 'hc-light',
}

/** A VS Code window in a browser, operated as a person does: by keyboard, mouse and what can be seen. */
export class Workbench {
  readonly page: Page
  readonly server: Server
  readonly #opened: OpenedPage

  private constructor(server: Server, opened: OpenedPage) {
    this.server = server
    this.page = opened.page
    this.#opened = opened
  }

  /** Opens a window with no state from others, and resolves when it can be used. */
  static async open(browser: Browser, server: Server, options: OpenOptions = {}): Promise<Workbench> {
    const workbench = new Workbench(server, await openPage(browser, server, options))
    await workbench.#ready()
    if (options.workspace) await workbench.#foldersShown(options.workspace)
    return workbench
  }

  async #foldersShown(workspace: string): Promise<void> {
    const folders = this.page.locator('.explorer-folders-view .monaco-list-row')
    const look = async () => {
      if ((await folders.count()) > 0) return true
      touchWorkspaceFile(workspace)
      return false
    }
    await waitFor('folders of the workspace', look, { interval: 500 })
  }

  async #ready(): Promise<void> {
    await this.page
      .locator('.monaco-workbench .part.statusbar .statusbar-item')
      .first()
      .waitFor({ timeout: 60_000 })
  }

  /** As *Developer: Reload Window*. Window state, and so what the extension kept there, stays. */
  async reload(): Promise<void> {
    await this.page.reload({ waitUntil: 'domcontentloaded' })
    await this.#ready()
  }

  async close(): Promise<void> {
    await this.#opened.context.close()
  }

  /** What the page wrote to its console, one entry each, the oldest first. */
  get console(): readonly string[] {
    return this.#opened.console
  }

  /** Addresses outside this machine that the page asked for. */
  get refused(): readonly string[] {
    return this.#opened.refused
  }

  get palette(): Locator {
    return this.page.locator('.quick-input-widget')
  }

  /**
   * Runs a command by its title, category included, from the command palette.
   * The palette lists what there is when it opens: it is opened anew until the command is there.
   */
  async runCommand(title: string): Promise<void> {
    const row = this.paletteRow(title)
    await waitFor(`"${title}" in the command palette`, async () => {
      await this.page.keyboard.press('F1')
      try {
        await this.palette.locator('input.input').first().fill(`>${title}`, { timeout: 3000 })
        await row.click({ timeout: 2000 })
        return true
      } catch {
        await this.page.keyboard.press('Escape')
        return false
      }
    })
  }

  /** The titles that the command palette lists for a text, as far as they fit on its screen. */
  async commandTitles(text: string): Promise<string[]> {
    await this.page.keyboard.press('F1')
    await this.palette.locator('input.input').first().fill(`>${text}`)
    const labels = this.palette.locator('.monaco-list-row .label-name')
    await labels.first().waitFor()
    const titles = await labels.allInnerTexts()
    await this.page.keyboard.press('Escape')
    return titles
  }

  /** A line of the open palette or pick, by its whole label. */
  paletteRow(label: string): Locator {
    const exactly = new RegExp(`^${label.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`)
    const name = this.page.locator('.label-name', { hasText: exactly })
    return this.palette.locator('.monaco-list-row').filter({ has: name }).first()
  }

  /** A notification that contains a text. */
  notification(text: string | RegExp): Locator {
    return this.page.locator('.notification-toast', { hasText: text }).first()
  }

  /** Opens a view container by its name in the activity bar. */
  async openViewContainer(name: string): Promise<void> {
    await this.page
      .locator(
        `.activitybar .action-item [aria-label="${name}"], .activitybar .action-item[aria-label="${name}"]`,
      )
      .first()
      .click()
  }

  /**
   * The document inside a webview, found by what it contains: with several open, their order says nothing.
   * VS Code nests it in two frames, and makes new ones when a webview is shown again.
   */
  webview(selector: string, { timeout = 30_000 } = {}): Promise<Frame> {
    return waitFor(`webview with ${selector}`, () => this.#frameWith(selector), { timeout })
  }

  async #frameWith(selector: string): Promise<Frame | undefined> {
    for (const frame of this.page.frames()) {
      if (frame.parentFrame() === null) continue
      const found = await frame
        .locator(selector)
        .count()
        .catch(() => 0)
      if (found > 0) return frame
    }
    return undefined
  }

  /** Changes the colour theme by the user settings and resolves when the workbench shows it. */
  async setTheme(kind: ThemeKind): Promise<void> {
    this.server.root.updateSettings({ 'workbench.colorTheme': this.server.vscode.version.themes[kind] })
    await this.page.locator(`.monaco-workbench.${themeClasses[kind]}`).waitFor()
  }
}

import type { Browser, Page } from 'playwright-core'
import { PATIENCE_MS } from '../support/patience.ts'
import { type ContextOptions, newContext, type OpenedPage, type OpenOptions, openPage } from './browser.ts'
import type { Server } from './server.ts'
import { type Theme, type ThemeKind, themes, VsCodeWindow } from './vscode-window.ts'
import { succeeds, waitFor } from './wait-for.ts'
import { placeIn, type WindowPlace, WorkbenchBrowser } from './workbench-browser.ts'
import { touchWorkspaceFile } from './workspace-file.ts'

export interface WindowOptions extends OpenOptions, ContextOptions {}

/** A window of the real workbench in a browser. */
export class Workbench extends VsCodeWindow {
  readonly server: Server
  readonly #place: WindowPlace
  readonly #options: WindowOptions
  #opened: OpenedPage

  private constructor(server: Server, place: WindowPlace, options: WindowOptions, opened: OpenedPage) {
    super()
    this.server = server
    this.#place = place
    this.#options = options
    this.#opened = opened
  }

  /** Opens a window without the state of other windows, and resolves when it's ready. */
  static async open(
    browser: Browser | WorkbenchBrowser,
    server: Server,
    options: WindowOptions = {},
  ): Promise<Workbench> {
    const place =
      browser instanceof WorkbenchBrowser
        ? await browser.place(options)
        : placeIn(await newContext(browser, options), server)
    const opened = await openPage(place.context, place, options)
    const workbench = new Workbench(server, place, options, opened)
    await workbench.#ready()
    if (options.workspace) await workbench.#foldersShown(options.workspace)
    return workbench
  }

  override get page(): Page {
    return this.#opened.page
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
      .waitFor({ timeout: 2 * PATIENCE_MS })
  }

  /**
   * Like *Developer: Reload Window*. Keeps the extension's workspace state, which the browser writes to disk a moment
   * after the extension stored it.
   */
  async reload(): Promise<void> {
    await this.page.reload({ waitUntil: 'domcontentloaded' })
    await this.#ready()
  }

  /** Closes the window, and opens the same workspace with the stored state in a new one. */
  async reopen(): Promise<void> {
    await this.#leave()
    this.#opened = await openPage(this.#place.context, this.#place, this.#options)
    await this.#ready()
  }

  override async close(): Promise<void> {
    if (!this.page.isClosed()) await this.#leave()
    await this.#place.end()
  }

  /** Leaves the page like a user who closes the window: VS Code tells the server, which stops the extension host. */
  async #leave(): Promise<void> {
    const closed = this.page.waitForEvent('close')
    await this.page.close({ runBeforeUnload: true })
    await closed
  }

  /** The messages in the page's console, oldest first. */
  override get consoleMessages(): readonly string[] {
    return this.#opened.console
  }

  /**
   * The warnings and errors of the extension host that involve Parley, in all windows of the server.
   * Node's own warnings don't say where they come from, so all of them count; they are in the window's console.
   */
  extensionHostProblems(): string[] {
    const told = this.consoleMessages.filter(
      entry =>
        /^(warning|error): .*\[Extension Host\]/.test(entry) &&
        (/\(node:\d+\) /.test(entry) || /parley\.parley|\bparley:/i.test(entry)),
    )
    return [...told, ...this.server.extensionHostProblems()]
  }

  /** URLs outside of this machine that the page requested. */
  get blockedUrls(): readonly string[] {
    return this.#opened.refused
  }

  /**
   * Opens the command palette and types a text. A busy window can miss the key, or lose the text while its list fills.
   */
  async #typeInPalette(text: string, from?: () => Promise<void>): Promise<void> {
    await waitFor('command palette', async () => {
      await from?.()
      await this.page.keyboard.press('F1')
      return succeeds(this.paletteInput.fill(text, { timeout: 3000 }))
    })
  }

  /**
   * Runs a command by its title, including the category, from the command palette.
   * The palette lists the commands that exist when it opens, and extensions add theirs late in a new window, so the
   * palette is opened again until the command is listed. `from` moves the focus before each try, since VS Code moves it
   * to the active editor when the palette closes.
   */
  override async runCommand(title: string, { from }: { from?: () => Promise<void> } = {}): Promise<void> {
    const row = this.paletteRow(title)
    let timeout = 250
    await waitFor(`"${title}" in the command palette`, async () => {
      await this.#typeInPalette(`>${title}`, from)
      const listed = await this.highlight(row, timeout)
      timeout = Math.min(2 * timeout, 8000)
      if (!listed) await this.closePalette()
      return listed
    })
    // pressed only once: a retry could run the command twice
    await this.paletteInput.press('Enter')
  }

  /** The visible titles that the command palette lists for a text. */
  async commandTitles(text: string): Promise<string[]> {
    await this.#typeInPalette(`>${text}`)
    const labels = this.palette.locator('.monaco-list-row .label-name')
    await labels.first().waitFor()
    const titles = await labels.allInnerTexts()
    await this.closePalette()
    return titles
  }

  /** Opens a view container by its name in the activity bar. */
  override async openViewContainer(name: string): Promise<void> {
    // with a badge, its text follows the name
    const named = this.page.locator(`[aria-label="${name}"], [aria-label^="${name} - "]`)
    const label = this.page
      .locator('.activitybar .action-item')
      .locator(named)
      .or(this.page.locator('.activitybar .action-item').and(named))
    await label.first().waitFor()
    const open = this.page.locator('.activitybar .action-item.checked').filter({ has: named })
    // clicking the icon of an open container closes it, even while VS Code restores it
    await waitFor(`view container ${name}`, async () => {
      if (await open.isVisible()) return true
      return succeeds(
        label
          .first()
          .click({ timeout: 10_000 })
          .then(() => open.waitFor({ timeout: 10_000 })),
      )
    })
  }

  /** Selects a color theme and resolves when the workbench shows it. */
  override async setTheme(theme: ThemeKind | Theme): Promise<void> {
    const { label, className } = typeof theme === 'string' ? themes[theme] : theme
    const shown = this.page.locator(`.monaco-workbench.${className}`)
    await waitFor(`theme ${label}`, async () => {
      await this.runCommand('Preferences: Color Theme')
      try {
        // The list starts over when more themes are added.
        await this.paletteInput.fill(label, { timeout: 3000 })
        await this.paletteRow(label).click({ timeout: 3000 })
        await shown.waitFor({ timeout: 3000 })
        return true
      } catch {
        await this.closePalette()
        return false
      }
    })
    await this.palette.waitFor({ state: 'hidden' })
  }

  /** Drags the side bar's border until it has this width in pixels. Below 170 pixels VS Code may hide it. */
  async setSideBarWidth(width: number): Promise<void> {
    // an update of the layout can move the border away from the mouse
    await waitFor(`a side bar of ${width} pixels`, async () => {
      const box = await this.page.locator('.part.sidebar').boundingBox()
      if (!box) throw new Error('The side bar is not shown')
      if (Math.abs(box.width - width) <= 2) return true
      const y = box.y + box.height / 2
      await this.page.mouse.move(box.x + box.width, y)
      await this.page.mouse.down()
      await this.page.mouse.move(box.x + width, y, { steps: 5 })
      await this.page.mouse.up()
      return false
    })
  }

  /** Closes all editors without saving, the panel, and the notifications. */
  async closeEditorsAndPanel(): Promise<void> {
    const tabs = this.page.locator('.part.editor .tabs-container .tab')
    if ((await tabs.count()) > 0) {
      await this.runCommand('View: Close All Editors')
      const discard = this.page.locator('.monaco-dialog-box').getByRole('button', { name: "Don't Save" })
      await waitFor('end of all editors', async () => {
        if (await discard.isVisible()) await discard.click()
        return (await tabs.count()) === 0
      })
    }
    const panel = this.page.locator('.part.panel')
    if (await panel.isVisible()) {
      await this.runCommand('View: Hide Panel')
      await panel.waitFor({ state: 'hidden' })
    }
    if (await this.notification('').isVisible())
      await this.runCommand('Notifications: Clear All Notifications')
  }
}

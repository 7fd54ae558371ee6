import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Browser, BrowserContext, Frame, Locator, Page } from 'playwright-core'
import { type ContextOptions, newContext, type OpenedPage, type OpenOptions, openPage } from './browser.ts'
import { outDirectory } from './paths.ts'
import type { Server } from './server.ts'
import { succeeds, waitFor } from './wait-for.ts'
import { touchWorkspaceFile } from './workspace-file.ts'

/** The built-in themes to test by kind: their name, and the class of the workbench. */
export const themes = {
  dark: { label: 'Dark Modern', className: 'vs-dark' },
  light: { label: 'Light Modern', className: 'vs' },
  highContrast: { label: 'Dark High Contrast', className: 'hc-black' },
  highContrastLight: { label: 'Light High Contrast', className: 'hc-light' },
}
export type ThemeKind = keyof typeof themes
export type Theme = (typeof themes)[ThemeKind]

export interface WindowOptions extends OpenOptions, ContextOptions {}

/** A VS Code window in a browser, used as a person would: with keyboard and mouse, by what is visible. */
export class Workbench {
  readonly server: Server
  readonly #context: BrowserContext
  readonly #options: WindowOptions
  #opened: OpenedPage

  private constructor(server: Server, context: BrowserContext, options: WindowOptions, opened: OpenedPage) {
    this.server = server
    this.#context = context
    this.#options = options
    this.#opened = opened
  }

  /** Opens a window without the state of other windows, and resolves when it's ready. */
  static async open(browser: Browser, server: Server, options: WindowOptions = {}): Promise<Workbench> {
    const context = await newContext(browser, options)
    const workbench = new Workbench(server, context, options, await openPage(context, server, options))
    await workbench.#ready()
    if (options.workspace) await workbench.#foldersShown(options.workspace)
    return workbench
  }

  get page(): Page {
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
      .waitFor({ timeout: 60_000 })
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
    this.#opened = await openPage(this.#context, this.server, this.#options)
    await this.#ready()
  }

  async close(): Promise<void> {
    if (!this.page.isClosed()) await this.#leave()
    await this.#context.close()
  }

  /** Leaves the page like a user who closes the window: VS Code tells the server, which stops the extension host. */
  async #leave(): Promise<void> {
    const closed = this.page.waitForEvent('close')
    await this.page.close({ runBeforeUnload: true })
    await closed
  }

  /** The messages in the page's console, oldest first. */
  get consoleMessages(): readonly string[] {
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

  get palette(): Locator {
    return this.page.locator('.quick-input-widget')
  }

  /** The input of the open command palette or another quick input. */
  get paletteInput(): Locator {
    return this.palette.locator('input.input').first()
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

  /** Closes the open quick input, even if something else has the focus. */
  async closePalette(): Promise<void> {
    await waitFor('end of the palette', async () => {
      if (!(await this.palette.isVisible())) return true
      await succeeds(this.paletteInput.press('Escape', { timeout: 3000 }))
      return succeeds(this.palette.waitFor({ state: 'hidden', timeout: 1000 }))
    })
  }

  /**
   * Runs a command by its title, including the category, from the command palette.
   * The palette lists the commands that exist when it opens, and extensions add theirs late in a new window, so the
   * palette is opened again until the command is listed. `from` moves the focus before each try, since VS Code moves it
   * to the active editor when the palette closes.
   */
  async runCommand(title: string, { from }: { from?: () => Promise<void> } = {}): Promise<void> {
    const row = this.paletteRow(title)
    let timeout = 250
    await waitFor(`"${title}" in the command palette`, async () => {
      await this.#typeInPalette(`>${title}`, from)
      const listed = await this.highlight(row, timeout)
      timeout = Math.min(2 * timeout, 2000)
      if (!listed) await this.closePalette()
      return listed
    })
    // pressed only once: a retry could run the command twice
    await this.paletteInput.press('Enter')
  }

  /**
   * Moves to a row of the open list with the keyboard, since the list can move under the pointer. Returns false if
   * there is no such row.
   */
  async highlight(row: Locator, timeout: number): Promise<boolean> {
    if (!(await succeeds(row.waitFor({ timeout })))) return false
    const marked = this.palette.locator('.monaco-list-row.focused').first()
    const indexOf = async (one: Locator) =>
      Number(await one.getAttribute('data-index', { timeout: 500 }).catch(() => Number.NaN))
    const isMarked = async () => {
      const [wanted, at] = [await indexOf(row), await indexOf(marked)]
      if (wanted === at) return true
      await this.paletteInput.press(wanted < at ? 'ArrowUp' : 'ArrowDown', { timeout: 3000 })
      const moved = async () => (await indexOf(marked)) !== at
      await succeeds(waitFor('another marked row', moved, { timeout: 500, interval: 10 }))
      return false
    }
    return succeeds(waitFor('the row to be marked', isMarked, { timeout: 10_000, interval: 0 }))
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

  /**
   * Runs a command with a quick pick and moves to the row that contains a text. The quick pick lists what exists when
   * it opens, so it's opened again until the row is listed.
   */
  async runAndHighlight(title: string, text: string): Promise<void> {
    const row = this.palette.locator('.monaco-list-row', { hasText: text }).first()
    await waitFor(`"${text}" of "${title}"`, async () => {
      await this.runCommand(title)
      const listed = await this.highlight(row, 5000)
      if (!listed) await this.closePalette()
      return listed
    })
  }

  /** Runs a command with a quick pick and accepts the row that contains a text. */
  async runAndPick(title: string, text: string): Promise<void> {
    await this.runAndHighlight(title, text)
    await this.paletteInput.press('Enter')
  }

  /** Accepts the row of the open list that contains a text. */
  async pick(text: string | RegExp): Promise<void> {
    const row = this.palette.locator('.monaco-list-row', { hasText: text }).first()
    await waitFor(`"${text}" in the list`, () => this.highlight(row, 5000))
    await this.paletteInput.press('Enter')
  }

  /** A row of the open quick pick, by its whole label. */
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
    const label = this.page.locator(
      `.activitybar .action-item [aria-label="${name}"], .activitybar .action-item[aria-label="${name}"]`,
    )
    await label.first().waitFor()
    const named = this.page.locator(`[aria-label="${name}"]`)
    const open = this.page.locator('.activitybar .action-item.checked').filter({ has: named })
    // clicking the icon of an open container closes it, even while VS Code restores it
    await waitFor(`view container ${name}`, async () => {
      if (await open.isVisible()) return true
      await label.first().click()
      return succeeds(open.waitFor({ timeout: 10_000 }))
    })
  }

  /**
   * Finds the frame of a webview by its content, since the order of open webviews is undefined. VS Code nests each in two
   * frames, which it creates again when the webview is shown again.
   */
  webview(selector: string, { timeout = 30_000 } = {}): Promise<Frame> {
    return waitFor(`webview with ${selector}`, () => this.#frameWith(selector), { timeout })
  }

  /** Doesn't wait for frames that don't respond because they never load. */
  async #frameWith(selector: string): Promise<Frame | undefined> {
    const inner = this.page.frames().filter(frame => frame.parentFrame() !== null)
    const found = await Promise.all(
      inner.map(frame => {
        const count = frame
          .locator(selector)
          .count()
          .catch(() => 0)
        return Promise.race([count, delay(2000, 0, { ref: false })])
      }),
    )
    return inner.find((_, at) => (found[at] ?? 0) > 0)
  }

  /** Selects a color theme and resolves when the workbench shows it. */
  async setTheme(theme: ThemeKind | Theme): Promise<void> {
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
    const box = await this.page.locator('.part.sidebar').boundingBox()
    if (!box) throw new Error('The side bar is not shown')
    const y = box.y + box.height / 2
    await this.page.mouse.move(box.x + box.width, y)
    await this.page.mouse.down()
    await this.page.mouse.move(box.x + width, y, { steps: 5 })
    await this.page.mouse.up()
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

  /** Saves a screenshot of the window to `out/screenshots/NAME.png` and returns the path. */
  async screenshot(name: string): Promise<string> {
    const path = join(outDirectory, 'screenshots', `${name}.png`)
    await this.page.screenshot({ path })
    return path
  }
}

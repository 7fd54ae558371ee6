import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Browser, BrowserContext, Frame, Locator, Page } from 'playwright-core'
import { type ContextOptions, newContext, type OpenedPage, type OpenOptions, openPage } from './browser.ts'
import { outDirectory } from './paths.ts'
import type { Server } from './server.ts'
import { waitFor } from './wait-for.ts'
import { touchWorkspaceFile } from './workspace-file.ts'

/** The built-in themes to try, by their kind: what they are called, and the class that the workbench carries. */
export const themes = {
  dark: { label: 'Dark Modern', className: 'vs-dark' },
  light: { label: 'Light Modern', className: 'vs' },
  highContrast: { label: 'Dark High Contrast', className: 'hc-black' },
  highContrastLight: { label: 'Light High Contrast', className: 'hc-light' },
}
export type ThemeKind = keyof typeof themes
export type Theme = (typeof themes)[ThemeKind]

export interface WindowOptions extends OpenOptions, ContextOptions {}

/** A VS Code window in a browser, operated as a user does: by keyboard, mouse and what can be seen. */
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

  /** Opens a window with no state from others, and resolves when it can be used. */
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
   * As *Developer: Reload Window*. What the extension kept for the window stays; the browser writes it to its disk a
   * moment after the extension handed it over.
   */
  async reload(): Promise<void> {
    await this.page.reload({ waitUntil: 'domcontentloaded' })
    await this.#ready()
  }

  /** Closes the window and opens the same workspace in a new one, with what was kept for it. */
  async reopen(): Promise<void> {
    await this.#leave()
    this.#opened = await openPage(this.#context, this.server, this.#options)
    await this.#ready()
  }

  async close(): Promise<void> {
    if (!this.page.isClosed()) await this.#leave()
    await this.#context.close()
  }

  /** As a user closes a window: VS Code takes its leave of the server, which then ends the extension host. */
  async #leave(): Promise<void> {
    const closed = this.page.waitForEvent('close')
    await this.page.close({ runBeforeUnload: true })
    await closed
  }

  /** What the page wrote to its console, one entry each, the oldest first. */
  get console(): readonly string[] {
    return this.#opened.console
  }

  /**
   * The warnings and errors that the extension host told of and that Parley has a part in, in all windows of the server.
   * Node's own warnings say nothing of where they come from, so they all count; the window's console has them.
   */
  extensionHostProblems(): string[] {
    const told = this.console.filter(
      entry =>
        /^(warning|error): .*\[Extension Host\]/.test(entry) &&
        (/\(node:\d+\) /.test(entry) || /parley\.parley|\bparley:/i.test(entry)),
    )
    return [...told, ...this.server.extensionHostProblems()]
  }

  /** URLs outside this machine that the page asked for. */
  get refused(): readonly string[] {
    return this.#opened.refused
  }

  get palette(): Locator {
    return this.page.locator('.quick-input-widget')
  }

  /** Where the open palette, or another list or box of its kind, takes text. */
  get paletteInput(): Locator {
    return this.palette.locator('input.input').first()
  }

  /** Opens the command palette and types a text. A busy window may miss the key, or lose the text as its list fills. */
  async #typeInPalette(text: string, from?: () => Promise<void>): Promise<void> {
    await waitFor('command palette', async () => {
      await from?.()
      await this.page.keyboard.press('F1')
      return succeeds(this.paletteInput.fill(text, { timeout: 3000 }))
    })
  }

  /** Closes what is open of the palette and its kind, whatever has the focus: it alone gets the key. */
  async closePalette(): Promise<void> {
    await waitFor('end of the palette', async () => {
      if (!(await this.palette.isVisible())) return true
      await succeeds(this.paletteInput.press('Escape', { timeout: 3000 }))
      return succeeds(this.palette.waitFor({ state: 'hidden', timeout: 1000 }))
    })
  }

  /**
   * Runs a command by its title, category included, from the command palette.
   * The palette lists what there is when it opens: it is opened again until the command is there. `from` takes the focus to
   * where the command is run each time: VS Code gives it to the active editor when the palette closes.
   */
  async runCommand(title: string, { from }: { from?: () => Promise<void> } = {}): Promise<void> {
    const row = this.paletteRow(title)
    await waitFor(`"${title}" in the command palette`, async () => {
      await this.#typeInPalette(`>${title}`, from)
      const listed = await this.mark(row, 2000)
      if (!listed) await this.closePalette()
      return listed
    })
    // once: a key that was pressed and told of late is not to be pressed twice
    await this.paletteInput.press('Enter')
  }

  /** Moves to a line of the open list with the keyboard: under a pointer the list may move. False: it is not there. */
  async mark(row: Locator, timeout: number): Promise<boolean> {
    const marked = row.and(this.page.locator('.focused'))
    const isMarked = async () => {
      if (await marked.isVisible()) return true
      await this.paletteInput.press('ArrowDown', { timeout: 3000 })
      return succeeds(marked.waitFor({ timeout: 500 }))
    }
    if (!(await succeeds(row.waitFor({ timeout })))) return false
    if (await succeeds(marked.waitFor({ timeout: 500 }))) return true
    return succeeds(waitFor('the line to be marked', isMarked, { timeout: 10_000 }))
  }

  /** The titles that the command palette lists for a text, as far as they fit on its screen. */
  async commandTitles(text: string): Promise<string[]> {
    await this.#typeInPalette(`>${text}`)
    const labels = this.palette.locator('.monaco-list-row .label-name')
    await labels.first().waitFor()
    const titles = await labels.allInnerTexts()
    await this.closePalette()
    return titles
  }

  /**
   * Runs a command that asks to choose, and moves to the line that contains a text. It lists what there is when it opens: it
   * is asked for again until the line is there.
   */
  async list(title: string, text: string): Promise<void> {
    const row = this.palette.locator('.monaco-list-row', { hasText: text }).first()
    await waitFor(`"${text}" of "${title}"`, async () => {
      await this.runCommand(title)
      const listed = await this.mark(row, 5000)
      if (!listed) await this.closePalette()
      return listed
    })
  }

  /** Runs a command that asks to choose, and chooses the line that contains a text. */
  async choose(title: string, text: string): Promise<void> {
    await this.list(title, text)
    await this.paletteInput.press('Enter')
  }

  /** Chooses the line of the open list that contains a text. */
  async pick(text: string | RegExp): Promise<void> {
    const row = this.palette.locator('.monaco-list-row', { hasText: text }).first()
    await waitFor(`"${text}" in the list`, () => this.mark(row, 5000))
    await this.paletteInput.press('Enter')
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
    const label = this.page.locator(
      `.activitybar .action-item [aria-label="${name}"], .activitybar .action-item[aria-label="${name}"]`,
    )
    await label.first().waitFor()
    const named = this.page.locator(`[aria-label="${name}"]`)
    const open = this.page.locator('.activitybar .action-item.checked').filter({ has: named })
    // a click on the icon of the one that is open closes it: so does one that comes while VS Code brings it back
    await waitFor(`view container ${name}`, async () => {
      if (await open.isVisible()) return true
      await label.first().click()
      return succeeds(open.waitFor({ timeout: 10_000 }))
    })
  }

  /**
   * The document inside a webview, found by what it contains: with several open, their order says nothing.
   * VS Code nests it in two frames, and makes new ones when a webview is shown again.
   */
  webview(selector: string, { timeout = 30_000 } = {}): Promise<Frame> {
    return waitFor(`webview with ${selector}`, () => this.#frameWith(selector), { timeout })
  }

  /** A frame that is never loaded never answers: the others are not to wait for it. */
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

  /** Picks a color theme and resolves when the workbench shows it. */
  async setTheme(theme: ThemeKind | Theme): Promise<void> {
    const { label, className } = typeof theme === 'string' ? themes[theme] : theme
    const shown = this.page.locator(`.monaco-workbench.${className}`)
    await waitFor(`theme ${label}`, async () => {
      await this.runCommand('Preferences: Color Theme')
      try {
        // The list fills while it is open, and starts over then.
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

  /** Makes the side bar as wide as asked for, in pixels, by dragging its border. Below 170 VS Code may hide it. */
  async setSideBarWidth(width: number): Promise<void> {
    const box = await this.page.locator('.part.sidebar').boundingBox()
    if (!box) throw new Error('The side bar is not shown')
    const y = box.y + box.height / 2
    await this.page.mouse.move(box.x + box.width, y)
    await this.page.mouse.down()
    await this.page.mouse.move(box.x + width, y, { steps: 5 })
    await this.page.mouse.up()
  }

  /** Saves a picture of the window as `out/screenshots/NAME.png` and returns the file's path. */
  async screenshot(name: string): Promise<string> {
    const path = join(outDirectory, 'screenshots', `${name}.png`)
    await this.page.screenshot({ path })
    return path
  }
}

/** Whether something that a user sees came about, or was done, in its time. */
function succeeds(doing: Promise<unknown>): Promise<boolean> {
  return doing.then(
    () => true,
    () => false,
  )
}

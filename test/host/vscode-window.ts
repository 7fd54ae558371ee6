import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Frame, Locator, Page } from 'playwright-core'
import { PATIENCE_MS } from '../support/patience.ts'
import { outDirectory } from './paths.ts'
import { succeeds, waitFor } from './wait-for.ts'

/** The built-in themes to test by kind: their name, and the class of the workbench. */
export const themes = {
  dark: { label: 'Dark Modern', className: 'vs-dark' },
  light: { label: 'Light Modern', className: 'vs' },
  highContrast: { label: 'Dark High Contrast', className: 'hc-black' },
  highContrastLight: { label: 'Light High Contrast', className: 'hc-light' },
}
export type ThemeKind = keyof typeof themes
export type Theme = (typeof themes)[ThemeKind]

/**
 * A window of VS Code, used as a person would: with keyboard and mouse, by what is visible. The workbench in a browser,
 * or a page with Parley's webviews alone.
 */
export abstract class VsCodeWindow {
  abstract get page(): Page

  /** Runs a command by its title, including the category. */
  abstract runCommand(title: string): Promise<void>

  /** Opens a view container by its name in the activity bar. */
  abstract openViewContainer(name: string): Promise<void>

  abstract setTheme(theme: ThemeKind): Promise<void>

  /** The messages in the page's console, oldest first. */
  abstract get consoleMessages(): readonly string[]

  abstract close(): Promise<void>

  get palette(): Locator {
    return this.page.locator('.quick-input-widget')
  }

  /** The input of the open command palette or another quick input. */
  get paletteInput(): Locator {
    return this.palette.locator('input.input').first()
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

  /**
   * Runs a command with a quick pick and moves to the row that contains a text. The quick pick lists what exists when
   * it opens, so it's opened again until the row is listed.
   */
  async runAndHighlight(title: string, text: string): Promise<void> {
    const row = this.palette.locator('.monaco-list-row', { hasText: text }).first()
    await waitFor(`"${text}" of "${title}"`, async () => {
      await this.runCommand(title)
      // run again before that, the command would open it twice
      await succeeds(waitFor('the quick pick', () => this.#isPickOpen(), { timeout: PATIENCE_MS / 2 }))
      const listed = await this.highlight(row, 5000)
      if (!listed) await this.closePalette()
      return listed
    })
  }

  /** Whether a quick input other than the command palette is open. */
  async #isPickOpen(): Promise<boolean> {
    const value = await this.paletteInput.inputValue({ timeout: 500 }).catch(() => '>')
    return (await this.palette.isVisible()) && !value.startsWith('>')
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

  /** Chooses an entry of a context menu of VS Code; `submenu` is where it is, if it's in one. */
  chooseFromContextMenu(target: Locator, entry: string, submenu?: string): Promise<void> {
    return this.chooseFromMenu(() => target.click({ button: 'right' }), entry, submenu)
  }

  /** Chooses an entry of the menu of VS Code that `open` opens. */
  async chooseFromMenu(open: () => Promise<void>, entry: string, submenu?: string): Promise<void> {
    const { keyboard } = this.page
    const menu = this.page.locator('.monaco-menu').first()
    const item = (text: string) => this.page.locator('.monaco-menu .action-item', { hasText: text }).last()
    const choose = async () => {
      if (submenu !== undefined) await item(submenu).hover({ timeout: 3000 })
      await item(entry).hover({ timeout: 3000 })
      // a menu ignores clicks right after it opens, and Enter while it marks no item
      await item(entry).and(this.page.locator('.focused')).waitFor({ timeout: 3000 })
      await keyboard.press('Enter')
    }
    await waitFor(`${entry} in the menu`, async () => {
      await open()
      // The explorer asks the browser for the clipboard first. Until the menu is shown, Escape would clear the selection that
      // it's for, and `open` would open a second one.
      if (!(await succeeds(menu.waitFor({ timeout: PATIENCE_MS / 2 })))) return false
      if (await succeeds(choose())) return true
      await waitFor('end of the menu', async () => {
        if (!(await menu.isVisible())) return true
        await keyboard.press('Escape')
        return false
      })
      return false
    })
  }

  /** A notification that contains a text. VS Code hides it after ten seconds, but not while the pointer is on it. */
  notification(text: string | RegExp): Locator {
    return this.page.locator('.notification-toast', { hasText: text }).first()
  }

  /**
   * Finds the frame of a webview by its content, since the order of open webviews is undefined. VS Code nests each in two
   * frames, which it creates again when the webview is shown again.
   */
  webview(selector: string, { timeout = PATIENCE_MS } = {}): Promise<Frame> {
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

  /** Saves a screenshot of the window to `out/screenshots/NAME.png` and returns the path. */
  async screenshot(name: string): Promise<string> {
    const path = join(outDirectory, 'screenshots', `${name}.png`)
    await this.page.screenshot({ path })
    return path
  }
}

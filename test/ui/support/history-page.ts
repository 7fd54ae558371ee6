import type { Frame, Locator } from 'playwright-core'
import type { VsCodeWindow } from '../../host/vscode-window.ts'

/** History, in the side bar or in an editor tab, as a user reads and uses it. */
export class HistoryPage {
  readonly frame: Frame

  private constructor(frame: Frame) {
    this.frame = frame
  }

  static async open(window: VsCodeWindow): Promise<HistoryPage> {
    await window.runCommand('Parley: Open History')
    return (await HistoryPage.find(window)).#focused()
  }

  /** The one in the side bar that is already displayed. */
  static async find(window: VsCodeWindow): Promise<HistoryPage> {
    return HistoryPage.#in(await window.webview('body[data-view="conversation"] main.history'))
  }

  /** History in an editor tab. */
  static async openTab(window: VsCodeWindow): Promise<HistoryPage> {
    const sideBar = await HistoryPage.open(window)
    await window.page.getByRole('button', { name: /^Open History in Editor Tab/ }).click()
    const tab = await HistoryPage.findTab(window)
    await tab.#focused()
    await sideBar.back()
    await tab.search.click()
    return tab
  }

  /** Finds the editor tab that is already displayed. */
  static async findTab(window: VsCodeWindow): Promise<HistoryPage> {
    return HistoryPage.#in(await window.webview('body[data-view="history"]'))
  }

  static async #in(frame: Frame): Promise<HistoryPage> {
    const page = new HistoryPage(frame)
    await page.search.waitFor()
    return page
  }

  /** Otherwise, it could still take the focus from what the test does next. */
  async #focused(): Promise<this> {
    await this.search.and(this.frame.locator(':focus')).waitFor()
    return this
  }

  /** Returns to the conversation, in the side bar. */
  async back(): Promise<void> {
    await this.frame.getByRole('button', { name: 'Back to Conversation' }).click()
    await this.search.waitFor({ state: 'detached' })
  }

  get search(): Locator {
    return this.frame.getByRole('combobox', { name: 'Search sessions' })
  }

  /** The sessions whose rows are drawn. */
  get rows(): Locator {
    return this.frame.getByRole('option')
  }

  /** Searches for a session, so that its row is visible. */
  async find(title: string): Promise<void> {
    await this.search.fill(title)
    await this.row(title).waitFor()
  }

  /** The row that starts with this title. */
  row(title: string): Locator {
    return this.rows
      .filter({ hasText: new RegExp(`^${title.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}`) })
      .first()
  }

  /** Clicks an action of a session, which is visible while its row is hovered. */
  async clickAction(
    title: string,
    action: 'Load' | 'Resume' | 'Close' | 'Fork' | 'Archive' | 'Unarchive' | 'Delete',
  ): Promise<void> {
    const row = this.row(title)
    await row.hover()
    await row.getByTitle(new RegExp(`^${action}`)).click()
  }

  /** Chooses an entry of the session's context menu, which VS Code shows. */
  async chooseFromMenu(window: VsCodeWindow, title: string, entry: string, submenu?: string): Promise<void> {
    await window.chooseFromContextMenu(this.row(title), entry, submenu)
  }
}

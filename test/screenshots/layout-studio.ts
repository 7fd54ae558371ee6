import type { Frame, Locator } from 'playwright-core'
import type { IsolatedRoot } from '../host/isolated-root.ts'
import { type ThemeKind, themes } from '../host/vscode-window.ts'
import type { Workbench } from '../host/workbench.ts'
import type { PageWindow } from '../support/page/page-window.ts'
import type { HistoryPage } from '../ui/support/history-page.ts'
import { shapeProblems } from '../ui/support/layout.ts'
import { Studio } from './studio.ts'

/** The width of a real activity bar, which counts as a part of the side bar in a page. */
const ACTIVITY_BAR = 48

export interface LayoutSizes {
  themes: readonly ThemeKind[]
  /** in CSS pixels */
  widths: readonly number[]
}

/** A window that looks for overlaps and cut texts, in several widths and themes, where others take a screenshot. */
export class LayoutStudio extends Studio {
  readonly #window: PageWindow
  readonly #sizes: LayoutSizes
  /** What is wrong, one line each, with where it was seen first. */
  readonly problems = new Map<string, string>()
  /** Each look has all widths already. */
  override readonly transcriptWidths = [['', 400]] as const

  constructor(window: PageWindow, sizes: LayoutSizes) {
    // has everything of a workbench that these states use
    super(window as unknown as Workbench, 'layout')
    this.#window = window
    this.#sizes = sizes
  }

  override get root(): IsolatedRoot {
    return this.#window.root
  }

  /** The context menu is VS Code's. */
  override async pin(history: HistoryPage, title: string): Promise<void> {
    const context = await history.row(title).getAttribute('data-vscode-context')
    await this.#window.host.call('run', 'parley.history.pin', JSON.parse(context ?? '{}'))
  }

  override captureSideBar(name: string): Promise<void> {
    return this.#check(name)
  }

  override captureWidths(name: string): Promise<void> {
    return this.#check(name)
  }

  override captureTabWidths(name: string): Promise<void> {
    return this.#check(name)
  }

  override captureEditor(name: string): Promise<void> {
    return this.#check(name)
  }

  override captureWindow(name: string): Promise<void> {
    return this.#check(name)
  }

  /** Not a page of Parley. */
  override async capturePart(_name: string, _part: Locator): Promise<void> {}

  async #check(name: string): Promise<void> {
    const { page } = this.#window
    await page.mouse.move(2, 2)
    const before = page.viewportSize()!
    for (const { frame, isInSideBar } of await this.#frames()) {
      for (const width of this.#sizes.widths) {
        const sideBar = isInSideBar ? width : 0
        await this.#window.setSideBarWidth(sideBar + ACTIVITY_BAR)
        await page.setViewportSize({
          width: ACTIVITY_BAR + (isInSideBar ? Math.max(before.width, width + 300) : width),
          height: before.height,
        })
        for (const theme of this.#sizes.themes) {
          await this.#window.setTheme(theme)
          for (const problem of await shapeProblems(frame))
            if (!this.problems.has(problem)) this.problems.set(problem, `${name}, ${width} pixels, ${theme}`)
        }
      }
      await page.setViewportSize(before)
      await this.resetWidth()
    }
    if (this.#sizes.themes.length > 1) await this.#window.setTheme('dark')
  }

  /** The visible pages of Parley. */
  async #frames(): Promise<Array<{ frame: Frame; isInSideBar: boolean }>> {
    const frames: Array<{ frame: Frame; isInSideBar: boolean }> = []
    for (const element of await this.#window.page.locator('iframe.webview:visible').all()) {
      const isInSideBar = (await element.getAttribute('title'))?.startsWith('sideBar') ?? false
      const frame = await (await element.elementHandle())?.contentFrame()
      if (frame) frames.push({ frame, isInSideBar })
    }
    return frames
  }
}

export const allSizes: LayoutSizes = {
  themes: Object.keys(themes) as ThemeKind[],
  widths: [280, 300, 480, 900, 1900],
}
export const fewSizes: LayoutSizes = { themes: ['dark'], widths: [280, 1900] }

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Locator } from 'playwright-core'
import type { IsolatedRoot } from '../host/isolated-root.ts'
import { outDirectory } from '../host/paths.ts'
import { waitFor } from '../host/wait-for.ts'
import type { Workbench } from '../host/workbench.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'
import type { HistoryPage } from '../ui/support/history-page.ts'

/** A state of the views, for screenshots and for checks of the layout. */
export interface State {
  name: string
  /** Opens editors or other parts of VS Code, so a page without a workbench can't show it. */
  needsWorkbench?: boolean
  /** Takes so long that `npm test` doesn't check its layout. */
  isSlow?: boolean
  take(studio: Studio): Promise<void>
}

/** A state of a new session with an agent. */
export function inSession(
  name: string,
  agent: string,
  take: (conversation: ConversationPage, studio: Studio) => Promise<void>,
  flags: Pick<State, 'needsWorkbench' | 'isSlow'> = {},
): State {
  return { name, ...flags, take: async studio => take(await studio.startReadySession(agent), studio) }
}

const directory = join(outDirectory, 'screenshots')

/** A window in one theme, for screenshots. */
export class Studio {
  readonly workbench: Workbench
  /** the suffix of the screenshots' names */
  readonly #suffix: string
  /** The default width of the side bar in CSS pixels. */
  readonly width: number

  /** The widths of the side bar in screenshots of whole conversations, with the prefix of their names. */
  readonly transcriptWidths: ReadonlyArray<readonly [prefix: string, width: number]> = [
    ['narrow-', 280],
    ['', 400],
    ['wide-', 1200],
  ]

  constructor(workbench: Workbench, suffix: string, width = 400) {
    this.workbench = workbench
    this.#suffix = suffix
    this.width = width
  }

  /** The folder of settings and data of the window. */
  get root(): IsolatedRoot {
    return this.workbench.server.root
  }

  /** Resets the side bar to its default width. */
  async resetWidth(): Promise<void> {
    await this.workbench.setSideBarWidth(this.width)
  }

  /** The displayed conversation. */
  conversation(): Promise<ConversationPage> {
    return ConversationPage.find(this.workbench)
  }

  /** Finds the conversation in an editor tab, even if the side bar contains one too. */
  async conversationTab(): Promise<ConversationPage> {
    const frame = await waitFor('conversation in a tab', async () => {
      for (const frame of this.workbench.page.frames()) {
        const width = 'document.body.dataset.view === "conversation" ? innerWidth : 0'
        if (Number(await frame.evaluate(width).catch(() => 0)) > 600) return frame
      }
    })
    return ConversationPage.inFrame(frame)
  }

  /** Starts a session with an agent that may not become ready. */
  async startSession(agent: string): Promise<ConversationPage> {
    await this.workbench.runCommand('Parley: New Session with Agent…')
    // the list doesn't draw all agents at once
    const filter = this.workbench.palette.getByPlaceholder('Select an agent')
    // a text that is filled in is translated; of the names, only that of Parley's own agent is
    if (agent === 'Demo Agent') await filter.fill(agent)
    else await filter.pressSequentially(agent)
    await this.workbench.palette.locator('.monaco-list-row', { hasText: agent }).first().click()
    return this.conversation()
  }

  /** Starts a session with an agent, and waits until it's displayed and ready for a prompt. */
  async startReadySession(agent: string): Promise<ConversationPage> {
    const before = await ConversationPage.shownKeys(this.workbench)
    const conversation = await this.startSession(agent)
    await conversation.waitForOther(before)
    await conversation.frame.getByRole('heading', { name: 'New session' }).waitFor()
    await conversation.waitForAgent(agent)
    await conversation.frame.locator('body[data-phase="ready"]').waitFor()
    return conversation
  }

  /** Pins a session, with the context menu. */
  async pin(history: HistoryPage, title: string): Promise<void> {
    await history.chooseFromMenu(this.workbench, title, 'Pin')
  }

  /** Resolves when the running turn has ended. */
  async waitForTurnEnd(conversation: ConversationPage): Promise<void> {
    await conversation.button(/^Stop \(/).waitFor({ state: 'detached' })
  }

  /** Stops the running turn. */
  async stopTurn(conversation: ConversationPage): Promise<void> {
    await conversation.button(/^Stop \(/).click()
    await this.waitForTurnEnd(conversation)
  }

  /** Captures the side bar. */
  async captureSideBar(name: string): Promise<void> {
    await this.#picture(name, this.workbench.page.locator('.part.sidebar'))
  }

  /** Captures the side bar, and again with 280 pixels, as `narrow-…`. */
  async captureWidths(name: string): Promise<void> {
    await this.captureSideBar(name)
    if (this.width <= 280) return
    await this.workbench.setSideBarWidth(280)
    await this.captureSideBar(`narrow-${name}`)
    await this.resetWidth()
  }

  /** Captures the editor area. */
  async captureEditor(name: string): Promise<void> {
    await this.#picture(name, this.workbench.page.locator('.part.editor'))
  }

  /** Captures the whole window, and its editor tab with 280 pixels next to the activity bar, as `narrow-…`. */
  async captureTabWidths(name: string): Promise<void> {
    const { page } = this.workbench
    await this.captureWindow(name)
    const before = page.viewportSize()!
    await this.workbench.runCommand('View: Toggle Primary Side Bar Visibility')
    await page.setViewportSize({ ...before, width: 340 })
    await this.captureEditor(`narrow-${name}`)
    await page.setViewportSize(before)
    await this.workbench.runCommand('View: Toggle Primary Side Bar Visibility')
  }

  /** Captures the whole window, to show where things are. */
  async captureWindow(name: string): Promise<void> {
    await this.#picture(name, this.workbench.page.locator('.monaco-workbench'))
  }

  /** Captures only a part of the view. */
  async capturePart(name: string, part: Locator): Promise<void> {
    await this.#picture(name, part)
  }

  async #picture(name: string, part: Locator): Promise<void> {
    mkdirSync(directory, { recursive: true })
    // moves the mouse away, so that nothing is hovered
    await this.workbench.page.mouse.move(2, 2)
    await this.workbench.page.locator('.workbench-hover-container').first().waitFor({ state: 'hidden' })
    await part.screenshot({
      path: join(directory, `${name}-${this.#suffix}.png`),
      caret: 'hide',
    })
  }
}

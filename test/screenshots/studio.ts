import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Locator } from 'playwright-core'
import { outDirectory } from '../host/paths.ts'
import { waitFor } from '../host/wait-for.ts'
import type { ThemeKind, Workbench } from '../host/workbench.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'

const directory = join(outDirectory, 'screenshots')

/** A window in one theme, of which pictures are taken. */
export class Studio {
  readonly workbench: Workbench
  readonly theme: ThemeKind

  constructor(workbench: Workbench, theme: ThemeKind) {
    this.workbench = workbench
    this.theme = theme
  }

  /** The conversation that is shown. */
  conversation(): Promise<ConversationPage> {
    return ConversationPage.find(this.workbench)
  }

  /** The conversation in an editor tab; that of the side bar may be there, too. */
  async tab(): Promise<ConversationPage> {
    const frame = await waitFor('conversation in a tab', async () => {
      for (const frame of this.workbench.page.frames()) {
        const width = 'document.body.dataset.view === "conversation" ? innerWidth : 0'
        if (Number(await frame.evaluate(width).catch(() => 0)) > 600) return frame
      }
    })
    return ConversationPage.of(frame)
  }

  /** A new session with an agent, as far as it comes. */
  async begin(agent: string): Promise<ConversationPage> {
    await this.workbench.runCommand('Parley: New Session with Agent…')
    await this.workbench.palette.locator('.monaco-list-row', { hasText: agent }).first().click()
    return this.conversation()
  }

  /** A new session with an agent that is ready for a prompt. */
  async ready(agent: string): Promise<ConversationPage> {
    const conversation = await this.begin(agent)
    await conversation.frame.getByRole('heading', { name: 'New session' }).waitFor()
    await conversation.frame.locator('body[data-phase="ready"]').waitFor()
    return conversation
  }

  /** Resolves when the turn that runs has ended. */
  async ended(conversation: ConversationPage): Promise<void> {
    await conversation.button(/^Stop/).waitFor({ state: 'detached' })
  }

  /** The side bar as it is. */
  async sideBar(name: string): Promise<void> {
    await this.#picture(name, this.workbench.page.locator('.part.sidebar'))
  }

  /** What is in the editor area. */
  async editor(name: string): Promise<void> {
    await this.#picture(name, this.workbench.page.locator('.part.editor'))
  }

  /** The whole window, for the place of things. */
  async window(name: string): Promise<void> {
    await this.#picture(name, this.workbench.page.locator('.monaco-workbench'))
  }

  async #picture(name: string, part: Locator): Promise<void> {
    mkdirSync(directory, { recursive: true })
    // nothing hovered: a picture of what is there without the mouse
    await this.workbench.page.mouse.move(2, 2)
    await part.screenshot({
      path: join(directory, `${name}-${this.theme}.png`),
      animations: 'disabled',
      caret: 'hide',
    })
  }
}

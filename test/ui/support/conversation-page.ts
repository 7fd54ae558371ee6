import type { Frame, Locator } from 'playwright-core'
import type { ConversationHead } from '../../../src/views/bridge/conversation.ts'
import type { Workbench } from '../../host/workbench.ts'

/** The conversation view in the side bar, as a person reads and uses it. */
export class ConversationPage {
  readonly frame: Frame

  private constructor(frame: Frame) {
    this.frame = frame
  }

  /** Shows the view and resolves when it has drawn something. */
  static async open(workbench: Workbench): Promise<ConversationPage> {
    await workbench.openViewContainer('Parley')
    return ConversationPage.find(workbench)
  }

  /** The view that is shown already. */
  static async find(workbench: Workbench): Promise<ConversationPage> {
    return ConversationPage.of(await workbench.webview('body[data-view="conversation"]'))
  }

  /** One of several views that are there. */
  static async of(frame: Frame): Promise<ConversationPage> {
    await frame.locator('#root > *').first().waitFor()
    return new ConversationPage(frame)
  }

  /** A new session with an agent, in a view that may show another one. */
  static async begin(workbench: Workbench, agent: string): Promise<ConversationPage> {
    await workbench.runCommand('Parley: New Session with Agent…')
    await workbench.palette.locator('.monaco-list-row', { hasText: agent }).first().click()
    const page = await ConversationPage.find(workbench)
    await page.frame.getByRole('heading', { name: 'New session' }).waitFor()
    await page.phase('ready')
    return page
  }

  get composer(): Locator {
    return this.frame.getByRole('textbox', { name: 'Message' })
  }

  /** Resolves when the session is there and the agent has told its commands. */
  async ready(): Promise<void> {
    await this.frame.getByPlaceholder(/\/ for commands/).waitFor()
  }

  /** Resolves when the conversation is at that point: starting, loading, ready, ended, or empty. */
  async phase(phase: ConversationHead['phase']): Promise<void> {
    await this.frame.locator(`body[data-phase="${phase}"]`).waitFor()
  }

  button(name: string | RegExp): Locator {
    return this.frame.getByRole('button', { name })
  }

  /** A question that the agent waits for an answer to. */
  get permission(): Locator {
    return this.frame.getByRole('group', { name: /^Permission needed/ })
  }

  /** What there is to know of the session, opened from its header. */
  async details(): Promise<Locator> {
    await this.frame.getByTitle('Session details').click()
    const details = this.frame.getByRole('dialog', { name: 'Session details' })
    await details.waitFor()
    return details
  }

  /** One clear message with a way on, by its title. */
  card(title: string | RegExp): Locator {
    return this.frame.getByRole('region', { name: title })
  }

  /** Text that stands somewhere in the conversation. */
  text(text: string | RegExp): Locator {
    return this.frame.getByText(text).first()
  }

  /** Resolves when something has the keyboard's focus. */
  async focused(element: Locator): Promise<void> {
    await element.and(this.frame.locator(':focus')).waitFor()
  }

  async send(prompt: string): Promise<void> {
    await this.composer.fill(prompt)
    await this.composer.press('Enter')
  }
}

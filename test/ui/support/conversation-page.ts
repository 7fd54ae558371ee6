import type { Frame, Locator } from 'playwright-core'
import type { ConversationHead } from '../../../src/views/bridge/conversation.ts'
import { waitFor } from '../../host/wait-for.ts'
import type { Workbench } from '../../host/workbench.ts'

/** The conversation view in the side bar, as a user reads and uses it. */
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

  /** A new session with an agent, in a view that may show another one: that one may look the same. */
  static async begin(workbench: Workbench, agent: string): Promise<ConversationPage> {
    const before = await ConversationPage.#shownKeys(workbench)
    await workbench.choose('Parley: New Session with Agent…', agent)
    const page = await ConversationPage.find(workbench)
    await waitFor(`a new session of ${agent}`, async () => {
      const key = await page.#key()
      return key !== undefined && !before.includes(key)
    })
    await page.frame.getByRole('heading', { name: 'New session' }).waitFor()
    await page.agent(agent)
    await page.phase('ready')
    return page
  }

  /** What the conversations are known by that are shown. */
  static async #shownKeys(workbench: Workbench): Promise<Array<string | undefined>> {
    const keys = workbench.page.frames().map(frame => new ConversationPage(frame).#key())
    return Promise.all(keys)
  }

  /** What the conversation on the screen is known by; nothing while there is none, or no session in it. */
  async #key(): Promise<string | undefined> {
    const reported = await this.frame
      .evaluate<string | null>("document.querySelector('.conversation')?.dataset.vscodeContext ?? null")
      .catch(() => null)
    if (reported === null) return undefined
    const { conversation } = JSON.parse(reported) as { conversation: string }
    return conversation === '' || /^new( \d+)?$/.test(conversation) ? undefined : conversation
  }

  get composer(): Locator {
    return this.frame.getByRole('textbox', { name: 'Message' })
  }

  /** What stands in the composer. */
  async written(): Promise<string> {
    const lines = this.composer.locator('.cm-line:not(:has(.cm-placeholder))')
    return (await lines.allTextContents()).join('\n')
  }

  /** Resolves when the session is there and the agent has told its commands. */
  async ready(): Promise<void> {
    await this.composer.getByText(/\/ for commands/).waitFor()
  }

  /** Resolves when the session that is shown is this agent's. */
  async agent(name: string): Promise<void> {
    await this.frame.locator('.header-agent-name', { hasText: name }).waitFor()
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
    await this.frame.getByTitle('Session Details').click()
    const details = this.frame.getByRole('dialog', { name: 'Session Details' })
    await details.waitFor()
    return details
  }

  /** One clear message with a way on, by its title. */
  card(title: string | RegExp): Locator {
    return this.frame.getByRole('region', { name: title })
  }

  /** A message of the agent that contains a text: `text` finds that of the prompt as well, while it is on its way. */
  said(text: string | RegExp): Locator {
    return this.frame.locator('.row-markdown', { hasText: text }).first()
  }

  /** Text that stands somewhere in the view. */
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

  /** Sends a prompt, and resolves when its turn has ended: before it has started, nothing tells it from one that is over. */
  async ask(prompt: string): Promise<void> {
    await this.send(prompt)
    await this.frame.locator('.row-prompt', { hasText: prompt }).last().waitFor()
    await this.button(/^Stop \(/).waitFor({ state: 'detached' })
  }
}

import { setTimeout as delay } from 'node:timers/promises'
import type { Frame, Locator } from 'playwright-core'
import type { ConversationHead } from '../../../src/bridge/conversation.ts'
import type { VsCodeWindow } from '../../host/vscode-window.ts'
import { waitFor } from '../../host/wait-for.ts'

/** The conversation view in the side bar, as a user reads and uses it. */
export class ConversationPage {
  readonly frame: Frame

  private constructor(frame: Frame) {
    this.frame = frame
  }

  /** Shows the view and resolves when it has content. */
  static async open(window: VsCodeWindow): Promise<ConversationPage> {
    await window.openViewContainer('Parley')
    return ConversationPage.find(window)
  }

  /** Finds the view that is already displayed. */
  static async find(window: VsCodeWindow): Promise<ConversationPage> {
    return ConversationPage.inFrame(await window.webview('body[data-view="conversation"]'))
  }

  /** The view in this frame, if there are several. */
  static async inFrame(frame: Frame): Promise<ConversationPage> {
    await frame.locator('#root > *').first().waitFor()
    // the preview, which is shown until the page's script has loaded
    await frame.locator('#preview').waitFor({ state: 'detached' })
    return new ConversationPage(frame)
  }

  /** Starts a session with an agent. Recognizes it by its key, since an already displayed one can look the same. */
  static async startSession(window: VsCodeWindow, agent: string): Promise<ConversationPage> {
    const before = await ConversationPage.shownKeys(window)
    await window.runAndPick('Parley: New Session with Agent…', agent)
    const page = await ConversationPage.find(window)
    await page.waitForOther(before)
    await page.frame.getByRole('heading', { name: 'New session' }).waitFor()
    await page.waitForAgent(agent)
    await page.waitForPhase('ready')
    return page
  }

  /** The keys of the displayed conversations. */
  static async shownKeys({ page }: Pick<VsCodeWindow, 'page'>): Promise<Array<string | undefined>> {
    const keys = page.frames().map(frame => new ConversationPage(frame).#key())
    return Promise.all(keys)
  }

  /** Resolves when a session with none of these keys is displayed. */
  async waitForOther(keys: ReadonlyArray<string | undefined>): Promise<void> {
    await waitFor('another session', async () => {
      const key = await this.#key()
      return key !== undefined && !keys.includes(key)
    })
  }

  /** The key of the displayed conversation; empty without one, or without a session in it. */
  async #key(): Promise<string | undefined> {
    const asked = this.frame
      .evaluate<string | null>("document.querySelector('.conversation')?.dataset.vscodeContext ?? null")
      .catch(() => null)
    // a frame that never loads doesn't answer
    const reported = await Promise.race([asked, delay(2000, null, { ref: false })])
    if (reported === null) return undefined
    const { conversation } = JSON.parse(reported) as { conversation: string }
    return conversation === '' || /^new( \d+)?$/.test(conversation) ? undefined : conversation
  }

  get composer(): Locator {
    return this.frame.getByRole('textbox', { name: 'Message' })
  }

  /** The text in the composer. */
  async composerText(): Promise<string> {
    const lines = this.composer.locator('.cm-line:not(:has(.cm-placeholder))')
    return (await lines.allTextContents()).join('\n')
  }

  /** Resolves when the session is ready and the agent has reported its commands. */
  async waitUntilReady(): Promise<void> {
    // in any language
    await this.frame.locator('.cm-content[aria-placeholder*="@"][aria-placeholder*=" / "]').waitFor()
  }

  /** Resolves when the displayed session belongs to this agent. */
  async waitForAgent(name: string): Promise<void> {
    await this.frame.locator('.header-agent-name', { hasText: name }).waitFor()
  }

  /** Resolves when the conversation is in this phase: starting, loading, ready, ended, or empty. */
  async waitForPhase(phase: ConversationHead['phase']): Promise<void> {
    await this.frame.locator(`body[data-phase="${phase}"]`).waitFor()
  }

  button(name: string | RegExp): Locator {
    return this.frame.getByRole('button', { name })
  }

  /** A pending request of the agent. */
  get permission(): Locator {
    return this.frame.getByRole('group', { name: /^Permission needed/ })
  }

  /** Opens the session's details from its header. */
  async openDetails(): Promise<Locator> {
    await this.frame.getByTitle('Session Details').click()
    const details = this.frame.getByRole('dialog', { name: 'Session Details' })
    await details.waitFor()
    return details
  }

  /** Selects an entry of the agent's menu in the header. */
  async chooseFromAgentMenu(name: string): Promise<void> {
    await this.frame.locator('.header-agent').click()
    await this.frame
      .getByRole('listbox', { name: 'Switch Agent' })
      .getByRole('option', { name })
      .first()
      .click()
  }

  /** A card, by its title. */
  card(title: string | RegExp): Locator {
    return this.frame.getByRole('region', { name: title })
  }

  /** A message of the agent that contains a text. `text` would also find a prompt that is being sent. */
  agentMessage(text: string | RegExp): Locator {
    return this.frame.locator('.row-markdown', { hasText: text }).first()
  }

  /** Text anywhere in the view but the composer, where a prompt is until Parley has it. */
  text(text: string | RegExp): Locator {
    return this.frame.getByText(text).and(this.frame.locator(':not(.cm-content, .cm-content *)')).first()
  }

  /** Resolves when the element has the focus. */
  async waitForFocus(element: Locator): Promise<void> {
    await element.and(this.frame.locator(':focus')).waitFor()
  }

  async send(prompt: string): Promise<void> {
    await this.composer.fill(prompt)
    await this.composer.press('Enter')
  }

  /**
   * Sends a prompt and waits for its turn to start and end. Its row may never be drawn: the view follows the end, which
   * can be far below it by the time the page gets both.
   */
  async runTurn(prompt: string): Promise<void> {
    const arrival = await this.frame.evaluateHandle<{ isSeen: boolean }>(`(() => {
      const isPrompt = ({ blocks = [] }) => blocks.some(({ text }) => text?.includes(${JSON.stringify(prompt.trim())}))
      const arrival = { isSeen: false }
      addEventListener('message', function hear({ data }) {
        const [{ entries = [], ops = [] } = {}] = [data?.params].flat()
        if (![...entries, ...ops.flatMap(({ entry }) => entry ?? [])].some(isPrompt)) return
        removeEventListener('message', hear)
        arrival.isSeen = true
      })
      return arrival
    })()`)
    await this.send(prompt)
    await waitFor(`the prompt ${prompt}`, () => arrival.evaluate(({ isSeen }) => isSeen))
    await this.button(/^Stop \(/).waitFor({ state: 'detached' })
  }
}

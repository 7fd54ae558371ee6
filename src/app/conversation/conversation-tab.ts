import type { Attachment } from '../../bridge/conversation.ts'
import { Owner } from '../../common/disposable.ts'
import {
  indicatorOf,
  type SessionIndicator,
  type SessionIndicators,
} from '../../sessions/session-indicators.ts'
import { titleOf } from '../../sessions/session-title.ts'
import type { ShownTab, TabPanel, TabState } from '../webviews.ts'
import type { FocusReport } from './active-surface.ts'
import { ConversationPage, type ConversationPageOptions } from './conversation-page.ts'
import type { ConversationMatch, ConversationSurface, SendToPage } from './conversation-surface.ts'
import type { TitledTab } from './tab-titles.ts'

/** A conversation in an editor tab, with the session's title as the tab's title. */
export class ConversationTab extends Owner implements ConversationSurface {
  readonly controller: ConversationPageOptions['controller']
  readonly #panel: TabPanel
  #state: TabState
  #title: string | undefined
  readonly #conversation: ConversationPage
  readonly #indicators: SessionIndicators
  readonly #worktrees: ConversationPageOptions['worktrees']
  #indicator: SessionIndicator | undefined

  /**
   * `onFocus` is called when the page reports the focus, `onFront` when the tab becomes the active editor, `onSeen` when the tab is shown
   * or hidden, and `onTitle` when its title may have changed. Closing the panel disposes the tab and its controller.
   */
  constructor(
    { panel, state, page }: ShownTab,
    options: ConversationPageOptions,
    indicators: SessionIndicators,
    onFocus: (focus: FocusReport) => void,
    onFront: () => void,
    onSeen: () => void,
    onTitle: () => void,
  ) {
    super()
    this.#indicators = indicators
    this.#worktrees = options.worktrees
    this.controller = this.register(options.controller)
    this.#panel = panel
    this.#state = state
    this.#conversation = this.register(new ConversationPage(page, options))
    this.register(this.#conversation.onDidFocus(onFocus))
    this.register(
      panel.onDidChangeState(now => {
        this.#state = now
        this.#conversation.setVisible(now.visible)
        onSeen()
        // a tab also becomes active because another tab was closed, while the user may be typing elsewhere
        if (now.active && !options.pageFocus.isInConversation) onFront()
      }),
    )
    this.register(options.controller.onDidChange(onTitle))
    this.register(options.controller.onDidChange(() => this.#updateIcon()))
    this.register(indicators.onDidChange(onTitle))
    this.register(indicators.onDidChange(() => this.#updateIcon()))
    this.register(options.worktrees.onDidChange(onTitle))
    this.#updateIcon()
  }

  get isVisible(): boolean {
    return this.#state.visible
  }

  /** Whether the tab is the active editor. */
  get isActive(): boolean {
    return this.#state.active
  }

  async reveal(): Promise<void> {
    this.#panel.reveal()
    this.focusComposer()
  }

  /** Focuses the composer once the page has loaded. */
  focusComposer(): void {
    this.#conversation.focusComposer()
  }

  readonly sendToPage: SendToPage = (name, ...params) => this.#conversation.sendToPage(name, ...params)

  /** Moves the tab to the editor group beside. Creates the group if necessary. */
  moveBeside(): void {
    this.#panel.moveBeside()
  }

  /** Closes the tab. Its session stays open in this window. */
  close(): void {
    this.#panel.close()
  }

  attach(attachment: Attachment): void {
    this.#conversation.attach(attachment)
  }

  commentChanged(...change: Parameters<ConversationSurface['commentChanged']>): boolean {
    return this.#conversation.commentChanged(...change)
  }

  write(text: string): void {
    this.#conversation.write(text)
  }

  sendTo(): boolean {
    this.#conversation.sendTo()
    return true
  }

  showRequest(requestId: string): void {
    this.#conversation.showRequest(requestId)
  }

  showMatch(match: ConversationMatch): void {
    this.#conversation.showMatch(match)
  }

  /** The tab's title: the session's title, or else the agent's name. */
  get titled(): TitledTab {
    const { current, agentName } = this.controller
    const title = (current && titleOf(current.session)) ?? agentName ?? 'Parley'
    const worktree = current && this.#worktrees.of(current.plan.setup.cwd)
    return { title: worktree ? `${title} (${worktree.name})` : title, agent: agentName }
  }

  set title(title: string) {
    if (this.#title === title) return
    this.#title = title
    this.#panel.setTitle(title)
  }

  #updateIcon(): void {
    const indicator = indicatorOf(this.controller, this.#indicators)
    if (this.#indicator === indicator) return
    this.#indicator = indicator
    // Parley's icon with a mark of a different shape for each state of the session
    this.#panel.setIcon(indicator === 'idle' ? 'parley' : `parley-${indicator}`)
  }
}

import type { HostArguments } from '../../bridge/contract.ts'
import type { Attachment } from '../../bridge/conversation.ts'
import type { ConversationHostMessages } from '../../bridge/conversation-messages.ts'
import { type Disposable, DisposableStore, Owner } from '../../common/disposable.ts'
import { Emitter } from '../../common/event.ts'
import type { FindQuery } from '../../common/find-pattern.ts'
import { sessionKey } from '../../common/session-key.ts'
import type { Session } from '../../conversation/session.ts'
import type { ConversationController } from '../../sessions/conversation-controller.ts'
import type { OpenSession, SessionReference } from '../../sessions/open-session.ts'
import type { SessionViews } from '../../sessions/open-sessions.ts'
import type { SessionOpener } from '../../sessions/session-opener.ts'
import { ActiveSurface, type FocusReport } from './active-surface.ts'

/** Sends a message to a conversation's page. Returns false if no page is ready. */
export type SendToPage = <N extends keyof ConversationHostMessages>(
  name: N,
  ...params: HostArguments<ConversationHostMessages[N]>
) => boolean

/** A match to show in a conversation, and what to search for. */
export interface ConversationMatch {
  /** the conversation's key */
  key: string
  query: FindQuery
  /** the id of the entry to search from */
  entry: string
}

/** A surface that shows a conversation: the view in the side bar, or an editor tab. */
export interface ConversationSurface {
  readonly controller: ConversationController
  readonly isVisible: boolean
  /** Shows the surface and focuses its composer. */
  reveal(): Promise<void>
  /** Adds context to the composer of the surface. */
  attach(attachment: Attachment): void
  /**
   * Tells the surface's page that a comment of its draft was added, changed or, without `item`, deleted elsewhere. Returns whether the page
   * is notified; it then stores the draft with the comment. A page that doesn't exist yet starts with the stored draft.
   */
  commentChanged(key: string, id: string, item?: Attachment): boolean
  /** Adds text to the composer, after the draft. */
  write(text: string): void
  /** Asks the page to complete and store the draft, and then for the agents to which to send it. Returns false if there is no page. */
  sendTo(): boolean
  /** Reveals and focuses a pending request. */
  showRequest(requestId: string): void
  /** Reveals a match in its conversation as soon as the conversation is displayed, and searches for the match there. */
  showMatch(match: ConversationMatch): void
  /** Sends a message to the surface's page, if the page exists. */
  sendToPage: SendToPage
}

/** The surfaces that show conversations, and the active surface, which commands apply to. */
export class ConversationSurfaces extends Owner implements SessionViews {
  readonly #surfaces = new Map<ConversationSurface, Disposable>()
  readonly #change = this.register(new Emitter<void>())
  readonly #visibility = this.register(new Emitter<void>())
  readonly #active = this.register(new ActiveSurface<ConversationSurface>())

  /** Fires when a surface was shown or hidden, or shows another conversation: see `isVisible`. */
  readonly onDidChangeVisibility = this.#visibility.event
  /** Fires when another surface becomes active, or when the active surface shows another conversation. */
  readonly onDidChange = this.#change.event

  constructor() {
    super()
    this.register(this.#active.onDidChange(() => this.#change.fire()))
  }

  get active(): ConversationSurface {
    return this.#active.current
  }

  /** Must be called by a surface that was shown or hidden. */
  visibilityChanged(): void {
    this.#visibility.fire()
  }

  /** Activates a surface that a command, or VS Code itself, revealed. */
  activate(surface: ConversationSurface): void {
    this.#active.set(surface)
  }

  /** Must be called by a surface when its page reports the focus. */
  focused(surface: ConversationSurface, focus: FocusReport): void {
    this.#active.report(surface, focus)
  }

  /** Runs a command for the surface in which the user invoked it: see {@link ActiveSurface}. */
  run<T>(command: () => T): Promise<Awaited<T>> {
    return this.#active.run(command)
  }

  /** Adds a surface. The first one must be the side bar. */
  add(surface: ConversationSurface): void {
    const following = new DisposableStore()
    following.add(surface.controller.onDidChange(() => this.#change.fire()))
    following.add(surface.controller.onDidSwitch(() => this.#visibility.fire()))
    this.#surfaces.set(surface, following)
    this.activate(surface)
  }

  remove(tab: ConversationSurface): void {
    this.#surfaces.get(tab)?.dispose()
    this.#surfaces.delete(tab)
    this.#visibility.fire()
    this.#active.remove(tab, this.list()[0]!)
  }

  /** Returns the agent's session in the visible conversation that was used last, if any. */
  sessionOf(agentId: string): Session | undefined {
    const { controller, isVisible } = this.active
    const { current } = controller
    return isVisible && current?.agentId === agentId ? current.session : undefined
  }

  /** Whether the surface still exists. */
  has(surface: ConversationSurface): boolean {
    return this.list().includes(surface)
  }

  /** Returns the surface that shows the session, if any. */
  showing(open: OpenSession): ConversationSurface | undefined {
    return this.list().find(surface => surface.controller.current === open)
  }

  /** Whether the user sees the session in a surface now. */
  isVisible(open: OpenSession): boolean {
    return this.showing(open)?.isVisible ?? false
  }

  /** Returns the surface that shows the conversation with this key. */
  withKey(key: string): ConversationSurface | undefined {
    return this.list().find(surface => surface.controller.key === key)
  }

  /**
   * Returns a function that reveals the surface, other than that of `controller`, that shows the session; `undefined` if there is none. A
   * session is never in two surfaces.
   */
  elsewhere(
    reference: SessionReference,
    controller: ConversationController,
  ): (() => Promise<void>) | undefined {
    const key = sessionKey(reference.agentId, reference.sessionId)
    const surface = this.list().find(one => one.controller !== controller && one.controller.key === key)
    return surface && (() => surface.reveal())
  }

  /**
   * Opens a session in the surface, and reveals the surface only then, so that what the user types at once goes to the new session. Then
   * shows a match in the session, if one is given.
   */
  async open(
    surface: ConversationSurface,
    begin: (opener: SessionOpener) => Promise<void>,
    match?: ConversationMatch,
  ): Promise<void> {
    const reveal = async () => {
      await surface.reveal()
      if (match) surface.showMatch(match)
    }
    await Promise.all([begin(surface.controller.opener), reveal()])
  }

  /** Reveals the session in the surface that shows it, or else in `instead`, by default the side bar. Then reveals the request. */
  async reveal(open: OpenSession, requestId?: string, instead = this.list()[0]!): Promise<void> {
    const surface = this.showing(open) ?? instead
    if (surface.controller.current !== open) surface.controller.show(open)
    await surface.reveal()
    if (requestId !== undefined) surface.showRequest(requestId)
  }

  override dispose(): void {
    for (const following of this.#surfaces.values()) following.dispose()
    this.#surfaces.clear()
    super.dispose()
  }

  /** Returns all surfaces. */
  list(): ConversationSurface[] {
    return [...this.#surfaces.keys()]
  }
}

import type { Handlers } from '../../bridge/contract.ts'
import type { ConversationHostMessages, ConversationMessages } from '../../bridge/conversation-messages.ts'
import { type Disposable, DisposableStore, Owner } from '../../common/disposable.ts'
import { Emitter } from '../../common/event.ts'
import type { KeyValueStore } from '../../common/key-value-store.ts'
import { onAgentLocation } from '../../editor/agent-location.ts'
import type { SessionManager } from '../../sessions/session-manager.ts'
import { watchSessions } from '../../sessions/watch-sessions.ts'
import { ContextKey } from '../ids.ts'
import type { WebviewConnection } from '../webview-connection.ts'
import type { Workbench } from '../workbench.ts'
import type { ConversationSurfaces } from './conversation-surface.ts'

const FOLLOW_AGENT = 'parley.followAgent'

/** The switch that makes the editor follow the agent of the active conversation. */
export class FollowAgent extends Owner {
  readonly #store: KeyValueStore
  readonly #workbench: Workbench
  readonly #change = this.register(new Emitter<void>())
  #following: DisposableStore | undefined
  #shown: Disposable | undefined

  constructor(store: KeyValueStore, workbench: Workbench) {
    super()
    this.#store = store
    this.#workbench = workbench
    this.#tellContext()
  }

  get on(): boolean {
    return this.#store.get<boolean>(FOLLOW_AGENT) === true
  }

  set(on: boolean): void {
    if (on === this.on) return
    this.#store.set(FOLLOW_AGENT, on)
    this.#tellContext()
    this.#change.fire()
  }

  /** Starts to follow the agent of the active conversation whenever the switch is on. */
  follow(manager: SessionManager, surfaces: ConversationSurfaces): this {
    const follow = () => {
      if (this.#following) this.owned.release(this.#following)
      this.#following = this.register(new DisposableStore())
      if (!this.on) return
      const { editors } = this.#workbench
      this.#shown ??= this.register(editors.followLocations())
      this.#following.add(
        watchSessions(manager, open =>
          onAgentLocation(open.session, location => {
            if (surfaces.active.controller.current === open) editors.showLocation(location, open.plan.setup)
          }),
        ),
      )
    }
    follow()
    this.register(this.#change.event(follow))
    return this
  }

  /** Returns the handlers that turn following on and off, and sends the page the state. */
  connect(connection: WebviewConnection<ConversationHostMessages>) {
    const tell = () => connection.send('follow/shown', { on: this.on })
    const handlers = {
      'follow/set': ({ on }) => this.set(on),
    } satisfies Partial<Handlers<ConversationMessages>>
    const following = this.#change.event(tell)
    return { handlers, tell, dispose: () => following.dispose() }
  }

  #tellContext(): void {
    this.#workbench.setContext(ContextKey.followingAgent, this.on)
  }
}

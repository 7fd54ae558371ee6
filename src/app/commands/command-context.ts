import { canUndo } from '../../bridge/conversation.ts'
import { type Disposable, Owner } from '../../common/disposable.ts'
import { rewindsOf } from '../../conversation/rewinds.ts'
import type { OpenSession } from '../../sessions/open-session.ts'
import type { ConversationSurfaces } from '../conversation/conversation-surface.ts'
import { ContextKey } from '../ids.ts'
import type { Workbench } from '../workbench.ts'
import { selectOption } from './option-commands.ts'

/** Updates the context keys that enable commands for the active conversation. */
export class CommandContext extends Owner {
  readonly #surfaces: ConversationSurfaces
  readonly #setContext: Workbench['setContext']
  readonly #values = new Map<string, boolean>()
  #followed: OpenSession | undefined
  #following: Disposable | undefined
  #isTelling = false

  constructor(surfaces: ConversationSurfaces, { setContext }: Pick<Workbench, 'setContext'>) {
    super()
    this.#setContext = setContext
    this.#surfaces = surfaces
    this.register(surfaces.onDidChange(() => this.#update()))
    this.register(surfaces.onDidChangeVisibility(() => this.#update()))
    this.#update()
  }

  override dispose(): void {
    this.#following?.dispose()
    super.dispose()
  }

  #update(): void {
    const { current } = this.#surfaces.active.controller
    if (current !== this.#followed) {
      this.#following?.dispose()
      this.#followed = current
      this.#following = current?.session.onDidChange(() => this.#tellSoon())
    }
    this.#tell(current)
  }

  /** Updates the context keys once for all chunks of a stream that arrive together. */
  #tellSoon(): void {
    if (this.#isTelling) return
    this.#isTelling = true
    queueMicrotask(() => {
      this.#isTelling = false
      this.#tell(this.#followed)
    })
  }

  /** Sets the context keys whose values changed. */
  #tell(open: OpenSession | undefined): void {
    const agent = open?.session.agent
    const can = agent?.capabilities
    const { phase } = this.#surfaces.active.controller
    const isIdle = (open?.session.state.activity ?? 'idle') === 'idle'
    this.#set(ContextKey.turnRunning, phase === 'ready' && !isIdle)
    this.#set(ContextKey.hasSession, open !== undefined)
    this.#set(ContextKey.hasPrompts, open !== undefined && open.session.state.turn > 0)
    const rewinds = open ? rewindsOf(open.session.state) : []
    const hasRestore = rewinds.some(({ rewind }) => canUndo(rewind))
    this.#set(ContextKey.canUndoRestore, hasRestore)
    this.#set(ContextKey.canChangeMode, open !== undefined && selectOption(open, 'mode') !== undefined)
    this.#set(ContextKey.canChangeModel, open !== undefined && selectOption(open, 'model') !== undefined)
    // signing out also removes the entered values of variables, even if the agent doesn't support `logout`
    const hasVariables = agent?.authMethods.some(({ vars }) => vars !== undefined && vars.length > 0)
    this.#set(ContextKey.cannotSignOut, can !== undefined && !can.logout && !hasVariables)
    this.#set(ContextKey.cannotConfigureProviders, can !== undefined && !can.providers)
  }

  #set(key: string, value: boolean): void {
    if ((this.#values.get(key) ?? false) === value) return
    this.#values.set(key, value)
    void this.#setContext(key, value)
  }
}

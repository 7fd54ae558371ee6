import { DisposableStore, Owner } from '../../common/disposable.ts'
import { Emitter } from '../../common/event.ts'
import type { OpenSession, SessionManager } from '../session-manager.ts'

/** Hears what every open session of the window does: begins to work, waits for the person, rests. */
export class Activities extends Owner {
  readonly #manager: SessionManager
  readonly #change = this.register(new Emitter<void>())
  #following = new DisposableStore()

  /** Some session's activity or title changed, or one was opened or closed. */
  readonly onDidChange = this.#change.event

  constructor(manager: SessionManager) {
    super()
    this.#manager = manager
    this.register(manager.onDidChange(() => this.#follow()))
  }

  /** The sessions that wait for the person. */
  waiting(): OpenSession[] {
    return this.#manager.list().filter(open => open.session.state.activity === 'requires_action')
  }

  count(activity: 'running' | 'requires_action'): number {
    return this.#manager.list().filter(open => open.session.state.activity === activity).length
  }

  override dispose(): void {
    this.#following.dispose()
    super.dispose()
  }

  #follow(): void {
    this.#following.dispose()
    this.#following = new DisposableStore()
    for (const open of this.#manager.list()) {
      this.#following.add(
        open.session.onDidChange(changes => {
          const told = changes.some(
            change => change.type === 'head' && (change.key === 'activity' || change.key === 'title'),
          )
          if (told) this.#change.fire()
        }),
      )
    }
    this.#change.fire()
  }
}

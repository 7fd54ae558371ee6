import { DisposableStore, Owner } from '../common/disposable.ts'
import { Emitter } from '../common/event.ts'
import type { OpenSession, SessionManager } from './session-manager.ts'

/** Hears what every open session of the window does: begins to work, waits for the person, rests. */
export class Activities extends Owner {
  readonly #manager: SessionManager
  readonly #change = this.register(new Emitter<void>())
  readonly #question = this.register(new Emitter<OpenSession>())
  #following = new DisposableStore()

  /** Some session's activity or title changed, or one was opened or closed. */
  readonly onDidChange = this.#change.event
  /** A session began to wait for the person. */
  readonly onDidAsk = this.#question.event

  constructor(manager: SessionManager) {
    super()
    this.#manager = manager
    this.register(manager.onDidChange(() => this.#follow()))
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
      let before = open.session.state.activity
      this.#following.add(
        open.session.onDidChange(changes => {
          const told = changes.some(
            change => change.type === 'head' && (change.key === 'activity' || change.key === 'title'),
          )
          if (!told) return
          const { activity } = open.session.state
          if (activity === 'requires_action' && before !== activity) this.#question.fire(open)
          before = activity
          this.#change.fire()
        }),
      )
    }
    this.#change.fire()
  }
}

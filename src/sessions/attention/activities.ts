import { Owner } from '../../common/disposable.ts'
import { Emitter } from '../../common/event.ts'
import type { OpenSession } from '../open-session.ts'
import type { SessionManager } from '../session-manager.ts'
import { watchSessions } from '../watch-sessions.ts'

/** Hears what every open session of the window does: begins to work, waits for the person, rests. */
export class Activities extends Owner {
  readonly #manager: SessionManager
  readonly #change = this.register(new Emitter<void>())

  /** Some session's activity or title changed, or one was opened or closed. */
  readonly onDidChange = this.#change.event

  constructor(manager: SessionManager) {
    super()
    this.#manager = manager
    this.register(
      watchSessions(manager, ({ session }) =>
        session.onDidChange(changes => {
          const told = changes.some(
            change => change.type === 'head' && (change.key === 'activity' || change.key === 'title'),
          )
          if (told) this.#change.fire()
        }),
      ),
    )
    this.register(manager.onDidChange(() => this.#change.fire()))
  }

  /** The sessions that wait for the person. */
  waiting(): OpenSession[] {
    return this.#manager.list().filter(open => open.session.state.activity === 'requires_action')
  }

  count(activity: 'running' | 'requires_action'): number {
    return this.#manager.list().filter(open => open.session.state.activity === activity).length
  }
}

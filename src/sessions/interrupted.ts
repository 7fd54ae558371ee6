import { Owner } from '../common/disposable.ts'
import type { Event } from '../common/event.ts'
import type { OpenSession } from './open-session.ts'
import type { Keep } from './ports.ts'
import type { SessionManager } from './session-manager.ts'

const AT_WORK = 'parley.atWork'

type Named = [agentId: string, sessionId: string]

/**
 * The sessions that were at work when the window went: their agents went with it, and nothing goes on by itself. Each is
 * remembered until it is open again.
 */
export class Interrupted extends Owner {
  readonly #manager: Pick<SessionManager, 'list' | 'find'>
  readonly #keep: Keep
  /** of before this window */
  #before: Named[]
  #written: string

  /** `onDidChange`: some session began or ended work, or was opened or closed. */
  constructor(manager: Pick<SessionManager, 'list' | 'find'>, onDidChange: Event<void>, keep: Keep) {
    super()
    this.#manager = manager
    this.#keep = keep
    const kept = keep.get<unknown>(AT_WORK)
    this.#before = Array.isArray(kept) ? kept.filter(isNamed) : []
    this.#written = JSON.stringify(this.#before)
    this.register(onDidChange(() => this.#look()))
  }

  has(agentId: string, sessionId: string): boolean {
    return this.#before.some(([agent, session]) => agent === agentId && session === sessionId)
  }

  #look(): void {
    this.#before = this.#before.filter(([agentId, sessionId]) => !this.#manager.find(agentId, sessionId))
    const working = this.#manager.list().filter(isAtWork)
    const all = [
      ...this.#before,
      ...working.map(({ agentId, session }): Named => [agentId, session.sessionId]),
    ]
    const written = JSON.stringify(all)
    if (written === this.#written) return
    this.#written = written
    this.#keep.set(AT_WORK, all)
  }
}

function isAtWork({ session }: OpenSession): boolean {
  // a replay works, too, but nothing is lost with it
  return session.phase === 'ready' && session.state.activity !== 'idle'
}

function isNamed(kept: unknown): kept is Named {
  return Array.isArray(kept) && kept.length === 2 && kept.every(part => typeof part === 'string')
}

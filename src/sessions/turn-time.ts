import { type Disposable, Owner } from '../common/disposable.ts'
import type { Session } from '../conversation/session.ts'

/** Maximum time of a turn without a window that is counted, in milliseconds: more may mean that the clock was changed. */
const MAX_UNATTENDED_MS = 24 * 60 * 60 * 1000

/**
 * Total running time of a session's turns. `at`: present while a turn runs: when the time was stored, on a clock that outlives the window.
 */
export interface StoredTime {
  ms: number
  at?: number
}

export interface TurnTimeOptions {
  session: Pick<Session, 'phase' | 'state' | 'requests' | 'onDidChange'>
  stored: StoredTime | undefined
  /** Called when counting began or stopped. */
  onChange: () => void
  /** milliseconds, from a clock that is never adjusted */
  now?: () => number
  /** milliseconds since the epoch */
  clock?: () => number
}

/**
 * Counts how long the turns of a session run, without the time spent waiting for the user. Time during which the agent ran without a window
 * counts if its turn still runs when the next window opens; otherwise, the length of the turn isn't known.
 */
export class TurnTime extends Owner implements Disposable {
  readonly #options: TurnTimeOptions
  readonly #now: () => number
  readonly #clock: () => number
  #ms: number
  #began: { now: number; clock: number } | undefined

  constructor(options: TurnTimeOptions) {
    super()
    this.#options = options
    this.#now = options.now ?? (() => performance.now())
    this.#clock = options.clock ?? Date.now
    const { ms, at } = options.stored ?? { ms: 0 }
    this.#ms = ms
    if (at !== undefined && this.#counts)
      this.#ms += Math.min(MAX_UNATTENDED_MS, Math.max(0, this.#clock() - at))
    this.#follow(false)
    this.register(options.session.onDidChange(() => this.#follow(true)))
  }

  get ms(): number {
    return this.#ms + (this.#began ? Math.max(0, this.#now() - this.#began.now) : 0)
  }

  /** While time is counted: the start in milliseconds since the epoch, and the time counted `before` that; otherwise `undefined`. */
  get counting(): { since: number; before: number } | undefined {
    return this.#began && { since: this.#began.clock, before: this.#ms }
  }

  get stored(): StoredTime {
    return { ms: this.ms, ...(this.#began && { at: this.#clock() }) }
  }

  get #counts(): boolean {
    const { phase, requests, state } = this.#options.session
    if (phase !== 'ready' || state.turnStartedAt === undefined) return false
    if (state.activity !== 'requires_action') return state.activity === 'running'
    // while only Parley's own question waits for an answer, the turn continues
    const { open } = requests
    return open.length > 0 && open.every(entry => entry.kind === 'permission' && entry.outlastsTurn)
  }

  #follow(tells: boolean): void {
    const counts = this.#counts
    if (counts === (this.#began !== undefined)) return
    this.#ms = this.ms
    this.#began = counts ? { now: this.#now(), clock: this.#clock() } : undefined
    if (tells) this.#options.onChange()
  }
}

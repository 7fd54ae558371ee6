import * as l10n from '@vscode/l10n'
import type { SessionSetup, SessionUpdate } from '../acp/model.ts'
import { createSessionState, type ReducingState } from './reducer/books.ts'
import { reduce } from './reducer/reduce.ts'
import type { Change } from './state.ts'

/** A conversation and what its session was given. */
export interface Loaded {
  state: ReducingState
  setup: SessionSetup
}

/**
 * What becomes of a session's conversation when its agent loads it. A load that fails costs nothing. One that replays
 * nothing does not either: what was known before stands in its place, and what is said from then on follows it. Some
 * agents replay only after their answer: the replay then takes that place, unless the person has gone on meanwhile.
 */
export class Load {
  readonly #kept: () => ReducingState | undefined
  /** as it was before a load began, until the load is over */
  #before: Loaded | undefined
  #standsIn = false

  /** `kept`: what is known of the conversation besides. */
  constructor(kept: () => ReducingState | undefined = () => undefined) {
    this.#kept = kept
  }

  begin(before: Loaded): void {
    this.#before = before
    this.#standsIn = false
  }

  /** The load came to nothing: what was there before, if anything was. */
  undo(): Loaded | undefined {
    const before = this.#before
    this.#before = undefined
    return before
  }

  /** The agent answered. Answers the conversation to go on with: what it replayed, or what stands in its place. */
  finish(replayed: ReducingState): ReducingState {
    const before = this.undo()?.state
    if (replayed.entries.length > 0) return replayed
    const known = before && before.entries.length > 0 ? before : this.#kept()
    if (!known || known.entries.length === 0) return replayed
    this.#standsIn = true
    takeHead(known, replayed)
    return known
  }

  /** The state for a replay that begins late with this update; `undefined`: none does. */
  replaysLate(update: SessionUpdate, state: ReducingState): ReducingState | undefined {
    const isPrompt = (update.type === 'message_chunk' || update.type === 'message') && update.role === 'user'
    // a replay begins with what the person said; anything else may be a word of the agent's own
    if (!this.#standsIn || !isPrompt) return undefined
    this.#standsIn = false
    const fresh = createSessionState()
    takeHead(fresh, state)
    return fresh
  }

  /** Says below what stands in for a replay where it comes from. `goesOn`: a prompt follows, and it stays for good. */
  mark(state: ReducingState, goesOn: boolean): Change[] {
    if (!this.#standsIn) return []
    if (goesOn) this.#standsIn = false
    const title = l10n.t('What stands above is what Parley kept.')
    const last = state.entries.at(-1)
    if (last?.kind === 'notice' && last.title === title) return []
    const description = l10n.t(
      'The agent took the session up and replayed nothing of it. It may remember less than you see.',
    )
    return reduce(state, { type: 'notice', severity: 'info', title, description })
  }
}

/** What was told of the session as a whole. */
function takeHead(state: ReducingState, told: ReducingState): void {
  state.configOptions = told.configOptions
  state.commands = told.commands
  if (told.plans.length > 0) state.plans = told.plans
  if (told.title !== undefined) state.title = told.title
  if (told.usage !== undefined) state.usage = told.usage
  if (told.updatedAt !== undefined) state.updatedAt = told.updatedAt
  if (told.unconfirmed !== undefined) state.unconfirmed = told.unconfirmed
  if (told.background !== undefined) state.background = told.background
  const { running, toldAction, background } = told.books
  Object.assign(state.books, { running, toldAction, background })
}

import * as l10n from '@vscode/l10n'
import type { SessionSetup, SessionUpdate } from '../../acp/model.ts'
import { ENTRY_REDUCERS } from '../entries/entry-kinds.ts'
import { reduce } from '../reducer/reduce.ts'
import { reduceLocalWithin, reduceWithin } from '../reducer/reduce-within.ts'
import { createSessionState, type ReducingState } from '../reducer/reducing-state.ts'
import type { Change, NoticeEntry } from '../state.ts'
import { positionsOf, type ReducerState } from '../step.ts'
import { isOfPrompt } from '../user-prompts.ts'
import { isSubstance, mergeInSteps } from './merge-entries.ts'
import { stateWithEntries } from './restore-state.ts'
import type { SteppedWork } from './stepped-work.ts'

/** A conversation and the setup of its session. */
export interface Loaded {
  state: ReducingState
  setup: SessionSetup
}

/** Number of entries above which a state is built in a separate step. */
const LONG = 1000

/** Whether updates of this type are part of a replay: updates of entries and of their terminals. */
function isReplayed(type: SessionUpdate['type']): boolean {
  return type === 'terminal' || type === 'terminal_output' || Object.hasOwn(ENTRY_REDUCERS, type)
}

/**
 * The conversation of a session while its agent loads or resumes the session. A failed load loses nothing. The replay is merged with the
 * known conversation, since it may contain less than the user has seen. Some agents replay after their response, or although the session
 * was only resumed: such updates are merged, too, until the user continues.
 */
export class Load {
  readonly #saved: () => ReducingState | undefined
  /** the state before the load, until the load is over */
  #before: Loaded | undefined
  /** the state to merge the replay with, until the user continues */
  #known: ReducingState | undefined
  /** the part of the replay that has arrived */
  #replay: ReducingState | undefined
  /** The agent responded without a replay. */
  #isEmpty = false

  /** `saved`: returns the saved conversation, if there is one. */
  constructor(saved: () => ReducingState | undefined = () => undefined) {
    this.#saved = saved
  }

  /** Starts a load. Returns the state to show during the replay: it has no entries, but the session's title, options and commands. */
  start(before: Loaded): ReducingState {
    this.#before = before
    const fresh = createSessionState()
    const { title, commands, configOptions } = before.state
    if (title !== undefined) fresh.title = title
    return Object.assign(fresh, { commands, configOptions })
  }

  /** Starts with the conversation of a session that is resumed. If the agent replays the conversation anyway, nothing is duplicated. */
  resume(known: ReducingState): void {
    this.#known = known.entries.length > 0 ? known : undefined
  }

  /** Ends a failed load. Returns the state from before the load, if any. */
  undo(): Loaded | undefined {
    const before = this.#before
    this.#before = undefined
    return before
  }

  /**
   * Merges the replay when the agent has responded. Returns the merged state, in steps: until the last step, the load isn't over and can be
   * undone or finished again.
   */
  *finish(replayed: ReducingState): SteppedWork<ReducingState> {
    // a resumed session keeps its conversation
    if (this.#known) return replayed
    const before = this.#before?.state
    const known = before && before.entries.length > 0 ? before : this.#saved()
    const isEmpty = !replayed.entries.some(isSubstance)
    const merged =
      known && known.entries.length > 0 && replayed.entries.length > 0
        ? yield* mergeStates(known, replayed, replayed, !isEmpty)
        : undefined
    this.undo()
    keepTitle(replayed, known)
    if (!known || known.entries.length === 0) return replayed
    this.#known = known
    this.#isEmpty = isEmpty && known.entries.some(isSubstance)
    if (merged) {
      if (isEmpty) this.#known = merged
      else this.#replay = replayed
      return merged
    }
    takeHead(known, replayed)
    return known
  }

  /** Whether a part of a late replay has arrived; more parts may follow. */
  get isReplayed(): boolean {
    return this.#known !== undefined && this.#replay !== undefined
  }

  /** Whether the update belongs to a late replay. If so, the update is held until `merge`. */
  takes(update: SessionUpdate, within?: string): boolean {
    if (!this.#known || !isReplayed(update.type)) return false
    // a replay starts with a prompt; anything else may be a new message of the agent
    if (!this.#replay && !isOfPrompt(update, within)) return false
    this.#replay ??= createSessionState()
    reduceWithin(this.#replay, within, update)
    return true
  }

  /** Merges the `shown` conversation with the late replay, in steps. */
  *merge(shown: ReducingState): SteppedWork<ReducingState> {
    if (!this.#known || !this.#replay) return shown
    const merged = yield* mergeStates(this.#known, this.#replay, shown)
    this.#isEmpty = false
    return merged
  }

  /** Ends the wait for a late replay, since the user continues or the agent works: later updates aren't part of a replay. */
  end(): void {
    this.#known = undefined
    this.#replay = undefined
  }

  /** Adds a note below a saved conversation about its source. `promptFollows`: a prompt follows, so the note stays there. */
  addSavedCopyNote(state: ReducingState, promptFollows: boolean): Change[] {
    if (!this.#isEmpty) return []
    if (promptFollows) this.#isEmpty = false
    const last = state.entries.at(-1)
    if (last?.kind === 'notice' && last.savedCopy) return []
    const title = l10n.t("The messages above come from Parley's saved copy.")
    const description = l10n.t(
      'Session resumed without its history. The agent may not remember everything shown here.',
    )
    const changes = reduce(state, { type: 'notice', severity: 'info', title, description })
    const notice = state.entries.at(-1)
    if (notice?.kind === 'notice') notice.savedCopy = true
    return changes
  }
}

/**
 * Merges two states, in steps. `reported`: the state with the agent's reports about the session as a whole. `isCompared`: a note says which
 * part is missing in the replay.
 */
function* mergeStates(
  known: ReducingState,
  replay: ReducingState,
  reported: ReducingState,
  isCompared = true,
): SteppedWork<ReducingState> {
  const note = isCompared ? savedCopyNote : undefined
  const { entries, positions } = yield* mergeInSteps(known.entries, replay.entries, note)
  if (entries.length > LONG) yield
  const state = stateWithEntries(entries)
  for (const [terminalId, terminal] of known.terminals) state.terminals.set(terminalId, { ...terminal })
  for (const [terminalId, terminal] of replay.terminals) {
    const own = state.terminals.get(terminalId)
    if (!own || terminal.output.length > own.output.length) state.terminals.set(terminalId, { ...terminal })
  }
  state.plans = known.plans
  if (known.usage !== undefined) state.usage = known.usage
  takeHead(state, reported)
  keepTitle(state, known)
  keepNames(state, replay, positions)
  for (const [sessionId, subagent] of replay.memory.subagentStates) {
    const own = state.memory.subagentStates.get(sessionId)
    if (own) keepNames(own, subagent, positions)
  }
  if (!state.memory.running) reduceLocalWithin(state, { type: 'load_finished' })
  else if (replay.memory.openMessage !== undefined) {
    const position = positions[replay.memory.openMessage]
    if (position === state.entries.length - 1) state.memory.openMessage = position
  }
  state.activity = reported.activity
  return state
}

/** Maps the ids of the replay to the merged entries, so that later updates find the entries. */
function keepNames(state: ReducerState, replay: ReducerState, positions: readonly number[]): void {
  const { memory } = state
  const copy = (from: ReadonlyMap<string, number>, to: Map<string, number>) => {
    for (const [name, at] of from) {
      const position = positions[at]
      if (position !== undefined && position >= 0) to.set(name, position)
    }
  }
  copy(replay.memory.messages, memory.messages)
  for (const [kind, positionsOfKind] of replay.memory.positions)
    copy(positionsOfKind, positionsOf(memory, { kind }))
  for (const [messageId, role] of replay.memory.roles) memory.roles.set(messageId, role)
}

function savedCopyNote(turn: number): NoticeEntry {
  const title = l10n.t("Some of the messages above come from Parley's saved copy.")
  const description = l10n.t("The agent's history doesn't include them. The agent may not remember them.")
  return { kind: 'notice', id: '', turn, severity: 'info', title, description, savedCopy: true }
}

function keepTitle(state: ReducingState, known: ReducingState | undefined): void {
  if (state.title === undefined && known?.title !== undefined) state.title = known.title
}

/** Takes over the agent's reports about the session as a whole. */
function takeHead(state: ReducingState, reported: ReducingState): void {
  state.configOptions = reported.configOptions
  state.commands = reported.commands
  if (reported.plans.length > 0) state.plans = reported.plans
  if (reported.title !== undefined) state.title = reported.title
  if (reported.usage !== undefined) state.usage = reported.usage
  if (reported.updatedAt !== undefined) state.updatedAt = reported.updatedAt
  if (reported.unconfirmed !== undefined) state.unconfirmed = reported.unconfirmed
  if (reported.background !== undefined) state.background = reported.background
  if (reported.turnStartedAt !== undefined) state.turnStartedAt = reported.turnStartedAt
  const { running, actionReported, background } = reported.memory
  Object.assign(state.memory, { running, actionReported, background })
}

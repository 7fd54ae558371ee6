import * as l10n from '@vscode/l10n'
import type { SessionSetup, SessionUpdate } from '../acp/model.ts'
import type { Steps } from './align-turns.ts'
import { mergeInSteps } from './merge-entries.ts'
import { reduce } from './reducer/reduce.ts'
import { reduceLocalWithin, reduceWithin } from './reducer/reduce-within.ts'
import { createSessionState, type ReducingState } from './reducer/reducing-state.ts'
import { stateOf } from './restore-state.ts'
import type { Change, NoticeEntry } from './state.ts'

/** A conversation and what its session was given. */
export interface Loaded {
  state: ReducingState
  setup: SessionSetup
}

/** A state of more entries is made in a step of its own. */
const LONG = 1000

/** Updates that belong to the conversation, and so to a replay of it. */
const REPLAYED: ReadonlySet<SessionUpdate['type']> = new Set([
  'message_chunk',
  'message_end',
  'message',
  'tool_call',
  'tool_call_content',
  'terminal',
  'terminal_output',
  'notice',
  'compaction',
  'compaction_chunk',
  'subagent',
  'session_message',
  'session_message_chunk',
  'unknown',
])

/**
 * What becomes of a session's conversation when its agent loads or resumes it. A load that fails costs nothing. What
 * the agent replays is merged with what was known before: a replay may hold less than the user has seen. Some agents
 * replay only after their answer, or when they resume: what comes before the user goes on is merged, too.
 */
export class Load {
  readonly #kept: () => ReducingState | undefined
  /** as it was before a load began, until the load is over */
  #before: Loaded | undefined
  /** what the replay is merged with, until the user goes on */
  #known: ReducingState | undefined
  /** what was replayed so far */
  #replay: ReducingState | undefined
  /** The agent has replayed nothing. */
  #isEmpty = false

  /** `kept`: what is known of the conversation besides. */
  constructor(kept: () => ReducingState | undefined = () => undefined) {
    this.#kept = kept
  }

  /** Answers the conversation to show while the agent replays: nothing, with what is known of the session. */
  begin(before: Loaded): ReducingState {
    this.#before = before
    const fresh = createSessionState()
    const { title, commands, configOptions } = before.state
    if (title !== undefined) fresh.title = title
    return Object.assign(fresh, { commands, configOptions })
  }

  /** The session is resumed with this conversation: an agent that replays it all the same doubles nothing. */
  resume(known: ReducingState): void {
    this.#known = known.entries.length > 0 ? known : undefined
  }

  /** The load came to nothing: what was there before, if anything was. */
  undo(): Loaded | undefined {
    const before = this.#before
    this.#before = undefined
    return before
  }

  /**
   * The agent answered. Answers the conversation to go on with, in steps: until the last, the load isn't over, and can
   * be undone or finished anew.
   */
  *finish(replayed: ReducingState): Steps<ReducingState> {
    // a session that was resumed has its conversation
    if (this.#known) return replayed
    const before = this.#before?.state
    const known = before && before.entries.length > 0 ? before : this.#kept()
    const isEmpty = replayed.entries.length === 0
    const merged =
      known && known.entries.length > 0 && !isEmpty
        ? yield* mergeStates(known, replayed, replayed)
        : undefined
    this.undo()
    keepTitle(replayed, known)
    if (!known || known.entries.length === 0) return replayed
    this.#known = known
    this.#isEmpty = isEmpty
    if (merged) {
      this.#replay = replayed
      return merged
    }
    takeHead(known, replayed)
    return known
  }

  /** Part of a replay has come, and more of it may. */
  get isReplayed(): boolean {
    return this.#known !== undefined && this.#replay !== undefined
  }

  /** Whether the update belongs to a replay that comes late. It was taken in then; `merge` shows it. */
  takes(update: SessionUpdate, within?: string): boolean {
    if (!this.#known || !REPLAYED.has(update.type)) return false
    const isPrompt = (update.type === 'message_chunk' || update.type === 'message') && update.role === 'user'
    // a replay begins with a prompt; anything else may be a word of the agent's own
    if (!this.#replay && (!isPrompt || within !== undefined)) return false
    this.#replay ??= createSessionState()
    reduceWithin(this.#replay, within, update)
    return true
  }

  /** The conversation that is `shown`, merged with what was replayed late; in steps, too. */
  *merge(shown: ReducingState): Steps<ReducingState> {
    if (!this.#known || !this.#replay) return shown
    const merged = yield* mergeStates(this.#known, this.#replay, shown)
    this.#isEmpty = false
    return merged
  }

  /** The user goes on, or the agent works: what comes from now on is no replay. */
  end(): void {
    this.#known = undefined
    this.#replay = undefined
  }

  /** Says below what stands in for a replay where it comes from. `goesOn`: a prompt follows, and it stays for good. */
  mark(state: ReducingState, goesOn: boolean): Change[] {
    if (!this.#isEmpty) return []
    if (goesOn) this.#isEmpty = false
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

/** `told`: the state that the agent told what it says of the session as a whole. */
function* mergeStates(
  known: ReducingState,
  replay: ReducingState,
  reported: ReducingState,
): Steps<ReducingState> {
  const { entries, positions } = yield* mergeInSteps(known.entries, replay.entries, savedCopy)
  if (entries.length > LONG) yield
  const state = stateOf(entries)
  for (const [terminalId, terminal] of known.terminals) state.terminals.set(terminalId, { ...terminal })
  for (const [terminalId, terminal] of replay.terminals) {
    const own = state.terminals.get(terminalId)
    if (!own || terminal.output.length > own.output.length) state.terminals.set(terminalId, terminal)
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

/** What the agent tells next finds what it replayed, by the names that the replay has for it. */
function keepNames(state: ReducingState, replay: ReducingState, positions: readonly number[]): void {
  const { memory } = state
  const copy = (from: ReadonlyMap<string, number>, to: Map<string, number>) => {
    for (const [name, at] of from) {
      const position = positions[at]
      if (position !== undefined && position >= 0) to.set(name, position)
    }
  }
  copy(replay.memory.messages, memory.messages)
  copy(replay.memory.tools, memory.tools)
  copy(replay.memory.compactions, memory.compactions)
  copy(replay.memory.subagents, memory.subagents)
  copy(replay.memory.sessionMessages, memory.sessionMessages)
  for (const [messageId, role] of replay.memory.roles) memory.roles.set(messageId, role)
}

function savedCopy(turn: number): NoticeEntry {
  const title = l10n.t("Some of the messages above come from Parley's saved copy.")
  const description = l10n.t("The agent's history doesn't include them. The agent may not remember them.")
  return { kind: 'notice', id: '', turn, severity: 'info', title, description, savedCopy: true }
}

function keepTitle(state: ReducingState, known: ReducingState | undefined): void {
  if (state.title === undefined && known?.title !== undefined) state.title = known.title
}

/** What was told of the session as a whole. */
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

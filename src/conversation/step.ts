import type { ContentBlock, MessageRole, ReportedBackground, SessionUpdate } from '../acp/model.ts'
import { appendBlock, isBlank } from './blocks.ts'
import type { AnswerText } from './entries/tagged-thoughts.ts'
import type { BaseSessionState, Change, EntryBase, SessionActivity, TerminalState } from './state-base.ts'

/** Work that continues after the turn: the ids of the tool calls, terminals and subagents that do the work. */
export interface Background {
  readonly toolCalls: ReadonlySet<string>
  readonly terminals: ReadonlySet<string>
  /** ids of the subagents' sessions */
  readonly subagents: ReadonlySet<string>
  /** the number of tasks of kinds that no entry shows */
  readonly others: number
}

export const NO_BACKGROUND: Background = {
  toolCalls: new Set(),
  terminals: new Set(),
  subagents: new Set(),
  others: 0,
}

/** A prompt from Parley that the agent hasn't echoed yet. */
export interface Echo {
  /** position of the prompt's entry */
  position: number
  /** the prompt's text that has not been echoed yet, without white space */
  rest: string
  /** types of the prompt's other blocks that have not been echoed yet */
  others: string[]
}

/** A prompt that the agent was asked to add to the running turn. */
export interface Steered extends Echo {
  content: readonly ContentBlock[]
  /** Set if the agent reported the prompt as a message of the user. */
  isEchoed?: true
}

/** The text of an answer so far, which may contain thoughts in tags. */
export interface Answer {
  text: AnswerText
  messageId: string | undefined
  /** `openMessage` after the answer's last piece, for an answer without a message id */
  openMessage?: number | undefined
  /** Set if the message has contained a thought. */
  isSplit?: true
  /** position of the unfinished thought */
  thought?: number | undefined
}

/**
 * The reducer's indexes, so that no update needs a search: the positions of entries by the agent's ids, and the open entries. Positions are
 * indexes into `entries`, which only grows.
 */
export interface ReducerMemory {
  /** positions of entries by kind and by the agent's id of the entry; see `positionsOf` */
  positions: Map<string, Map<string, number>>
  /** position of the latest message by role and message id; of a message that continues below other work, the position of its last part */
  messages: Map<string, number>
  /** positions of the parts of messages that continue below other work, by role and message id */
  messageParts: Map<string, number[]>
  /** the role with which a message id was last used */
  roles: Map<string, MessageRole>
  /** positions of opened URLs whose completion the agent may still report, by elicitation id */
  visits: Map<string, number>
  openTools: Set<number>
  /** members of `openTools` whose status was never reported */
  toolsWithoutStatus: Set<number>
  /** position of the last entry that is neither the agent's text nor unknown: later text is added below this entry */
  lastWork: number
  /** answers by message id; the answer without a message id is under '' */
  answers: Map<string, Answer>
  /** the answer whose last characters may begin a tag and aren't shown yet */
  holding?: Answer
  /** position of the message that a chunk without an id may continue */
  openMessage?: number
  /** a tool call ended since the last chunk of `openMessage` */
  toolEndedSince?: boolean
  /** position of the thought whose duration is being measured */
  openThought?: number
  /** background work, as the agent last reported it */
  background: Background
  /** foreground work is running: the agent last reported so, or a prompt from Parley started it */
  running: boolean
  /** the running work was started by a prompt from Parley */
  ownTurn: boolean
  /** the session's cost when the running work began */
  costBefore?: number | undefined
  /** the agent reported that the session is waiting for the user */
  actionReported: boolean
  /** the prompt from Parley that the agent hasn't echoed yet */
  echo?: Echo
  /** the prompts for the running turn that the agent hasn't echoed, by their ids in the queue */
  steering: Map<string, Steered>
  /** ids that the agent gave to prompts from Parley */
  ownMessages: Set<string>
  /**
   * positions of pending requests by id, of the session and of all its subagents; answered requests are removed, so that a reused id can't
   * lead to an old request
   */
  openRequests: Map<string, number>
  /** the states of subagents' sessions by session id, at any depth, in one map */
  subagentStates: Map<string, ReducerState>
}

/** The state of a session, or of a subagent in it, with the reducer's indexes. This type doesn't depend on the kinds of entries. */
export interface ReducerState extends BaseSessionState<EntryBase> {
  readonly memory: ReducerMemory
  /**
   * The id of a subagent's session; absent for a state of a whole session. The entries and terminals of the subagent belong to the session
   * that started it.
   */
  readonly within?: string
}

/** Creates the state of a subagent's session when the subagent is announced. */
export function createSubagentState(parent: ReducerState, sessionId: string): ReducerState {
  const { entries, index, terminals, turn, memory } = parent
  const own = { plans: [], configOptions: [], commands: [], activity: 'idle' as const }
  return {
    ...own,
    entries,
    index,
    terminals,
    turn,
    within: sessionId,
    memory: createMemory(memory),
  }
}

export function createMemory({
  openRequests,
  subagentStates,
}: Pick<ReducerMemory, 'openRequests' | 'subagentStates'>): ReducerMemory {
  return {
    positions: new Map(),
    messages: new Map(),
    messageParts: new Map(),
    answers: new Map(),
    lastWork: -1,
    roles: new Map(),
    visits: new Map(),
    openTools: new Set(),
    toolsWithoutStatus: new Set(),
    background: NO_BACKGROUND,
    running: false,
    ownTurn: false,
    actionReported: false,
    steering: new Map(),
    ownMessages: new Set(),
    openRequests,
    subagentStates,
  }
}

/** The reduction of one update. `now` (milliseconds since the epoch) is `undefined` in a replay. */
export interface Step {
  readonly state: ReducerState
  readonly now: number | undefined
  readonly changes: Change[]
}

/** The properties of a kind of entry that the reducer needs. */
export interface ReducedKind<E extends EntryBase> {
  readonly kind: E['kind']
  /**
   * Whether later text of the agent belongs below the entry. Returns false for text that is streamed in parallel, and for entries that may
   * come in great numbers.
   */
  isWork(entry: E): boolean
  /** Whether the entry may arrive in the middle of a word: the message before the entry continues. */
  readonly splitsNothing?: boolean
}

/** Appends a new entry and returns its position. Ends the open message and the running thought. */
export function append<E extends EntryBase>(
  step: Step,
  kind: ReducedKind<E>,
  fields: Omit<E, 'kind' | 'id' | 'turn' | 'within' | 'startedAt'>,
): number {
  const { state, now, changes } = step
  if (!kind.splitsNothing) {
    endThought(step)
    state.memory.openMessage = undefined
    state.memory.toolEndedSince = false
  }
  const position = state.entries.length
  const id = `e${position}`
  const entry: EntryBase = { id, turn: state.turn, kind: kind.kind, ...fields }
  if (kind.isWork(entry as E)) state.memory.lastWork = position
  if (state.within !== undefined) entry.within = state.within
  if (now !== undefined) entry.startedAt = now
  state.entries.push(entry)
  state.index.set(id, position)
  changes.push({ type: 'entry', id })
  return position
}

/** Returns the entry at a position, if the entry is of this kind. */
export function entryAt<E extends EntryBase>(
  { entries }: Pick<ReducerState, 'entries'>,
  position: number | undefined,
  kind: ReducedKind<E>,
): E | undefined {
  const entry = position === undefined ? undefined : entries[position]
  return entry?.kind === kind.kind ? (entry as E) : undefined
}

/** Returns the positions of entries of one kind, by the agent's ids, such as ids of tool calls. */
export function positionsOf<E extends EntryBase>(
  { positions }: ReducerMemory,
  { kind }: Pick<ReducedKind<E>, 'kind'>,
): Map<string, number> {
  let ofKind = positions.get(kind)
  if (!ofKind) {
    ofKind = new Map()
    positions.set(kind, ofKind)
  }
  return ofKind
}

/** The reducers for updates of these types. */
export type Reducers<T extends SessionUpdate['type']> = {
  readonly [K in T]: (step: Step, update: Extract<SessionUpdate, { type: K }>) => void
}

/** Reports that the entry at `position` was changed as a whole. */
export function touch(step: Step, position: number): void {
  step.changes.push({ type: 'entry', id: `e${position}` })
}

/**
 * Appends content to the entry at `position`, which was reported before this step. Reports only the text if it extends the last text block,
 * so that the cost of a chunk doesn't depend on the message's length.
 */
export function appendContent(
  step: Step,
  position: number,
  blocks: ContentBlock[],
  content: ContentBlock,
): void {
  if (isBlank(content)) return
  const block = appendBlock(blocks, content)
  if (block === -1) touch(step, position)
  else if (content.type === 'text') {
    step.changes.push({ type: 'text', id: `e${position}`, block, text: content.text })
  }
}

/** Removes changes of appended text for entries that are also reported as a whole. */
export function withoutRepeated({ changes }: Step): void {
  const whole = new Set(changes.flatMap(change => (change.type === 'entry' ? [change.id] : [])))
  const needed = changes.filter(change => change.type !== 'text' || !whole.has(change.id))
  changes.splice(0, changes.length, ...needed)
}

/** Sets one field of an entry or a terminal; `undefined` leaves the field unchanged, `null` clears it. */
export function patchField<T extends EntryBase | TerminalState, K extends keyof T>(
  target: T,
  key: K,
  value: T[K] | null | undefined,
): void {
  if (value === null) delete target[key]
  else if (value !== undefined) target[key] = value
}

/** Ends the running thought, if there is one. */
export function endThought(step: Step): void {
  const { memory, entries } = step.state
  const position = memory.openThought
  if (position === undefined) return
  memory.openThought = undefined
  const thought = entries[position]
  if (!stopTime(step, thought)) return
  backdateThought(thought!, entries[position - 1])
  touch(step, position)
}

/** Sets the start of a thought that arrived complete to the end of the entry before it. */
function backdateThought(thought: EntryBase, before: EntryBase | undefined): void {
  if (before === undefined || before.turn !== thought.turn || before.within !== thought.within) return
  const { startedAt, endedAt } = thought
  if (startedAt === undefined || endedAt === undefined || endedAt - startedAt >= 1000) return
  const isPrompt = 'role' in before && before.role === 'user'
  const since = isPrompt ? before.startedAt : before.endedAt
  if (since !== undefined && since < startedAt) thought.startedAt = since
}

/** Sets the end time of an entry whose start time is known. Returns whether the end time was set. */
export function stopTime(step: Step, entry: EntryBase | undefined): boolean {
  if (step.now === undefined || entry?.startedAt === undefined || entry.endedAt !== undefined) return false
  entry.endedAt = step.now
  return true
}

/** Derives the activity of the session from the work and the requests, and reports a change. */
export function updateActivity(step: Step): void {
  const { state, changes } = step
  const { running, actionReported, openRequests } = state.memory
  const waits = actionReported || openRequests.size > 0
  const activity: SessionActivity = waits ? 'requires_action' : running ? 'running' : 'idle'
  if (activity === state.activity) return
  state.activity = activity
  changes.push({ type: 'head', key: 'activity' })
}

/** Returns the reported background work, as a complete list; `undefined` if the agent reported none. */
export function reportedBackground(reported: ReportedBackground): Background | undefined {
  if (!reported.background) return undefined
  return {
    toolCalls: new Set(reported.background),
    terminals: new Set(reported.backgroundTerminals),
    subagents: new Set(reported.backgroundSubagents),
    others: reported.backgroundOthers ?? 0,
  }
}

/** Whether two lists are equal. {@link NO_BACKGROUND} and an empty list differ: only an agent that lists its work sends an empty list. */
export function isSameBackground(a: Background, b: Background): boolean {
  const isSame = (one: ReadonlySet<string>, other: ReadonlySet<string>) =>
    one.size === other.size && [...one].every(id => other.has(id))
  if (a === b) return true
  return (
    (a === NO_BACKGROUND) === (b === NO_BACKGROUND) &&
    isSame(a.toolCalls, b.toolCalls) &&
    isSame(a.terminals, b.terminals) &&
    isSame(a.subagents, b.subagents) &&
    a.others === b.others
  )
}

export function backgroundCount({ toolCalls, terminals, subagents, others }: Background): number {
  return toolCalls.size + terminals.size + subagents.size + others
}

import type { ContentBlock, MessageRole, ReportedBackground, SessionUpdate } from '../acp/model.ts'
import { appendBlock, isBlank } from './blocks.ts'
import type { AnswerText } from './entries/tagged-thoughts.ts'
import type { BaseSessionState, Change, EntryBase, SessionActivity, TerminalState } from './state-base.ts'

/** Work that continues after the turn, by the ids of the entries that show it. */
export interface Background {
  readonly toolCalls: ReadonlySet<string>
  readonly terminals: ReadonlySet<string>
  /** ids of their sessions */
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
  /** where the prompt's entry is */
  position: number
  /** the prompt's text that has not been echoed yet, without white space */
  rest: string
  /** types of the prompt's other blocks that have not been echoed yet */
  others: string[]
}

/** A prompt that the agent was asked to add to the running turn. */
export interface Steered extends Echo {
  content: readonly ContentBlock[]
  /** The agent reported it as a message of the user. */
  isEchoed?: true
}

/** The text of an answer so far, which may contain thoughts in tags. */
export interface Answer {
  text: AnswerText
  messageId: string | undefined
  /** without a message id: `openMessage` after its last piece */
  openMessage?: number | undefined
  /** Whether the message has contained a thought. */
  isSplit?: true
  /** position of the unfinished thought */
  thought?: number | undefined
}

/**
 * The reducer's indexes, so that no update needs a search: the position of each entity's entry, and the open entries. Positions are indexes
 * into `entries`, which only grows.
 */
export interface ReducerMemory {
  /** positions of entries by kind and by the agent's id; see `positionsOf` */
  positions: Map<string, Map<string, number>>
  /** position of the latest message by role and message id; of a message that continues below other work, its last part */
  messages: Map<string, number>
  /** by role and message id: the parts of messages that continue below other work */
  messageParts: Map<string, number[]>
  /** the role a message id was last used with */
  roles: Map<string, MessageRole>
  /** opened URLs whose completion the agent may still report, by elicitation id */
  visits: Map<string, number>
  openTools: Set<number>
  /** members of `openTools` whose status was never reported */
  toolsWithoutStatus: Set<number>
  /** the last entry that is neither the agent's text nor unknown: later text is added below it */
  lastWork: number
  /** by message id; '' for the message without an id */
  answers: Map<string, Answer>
  /** the answer whose last characters may be the beginning of a tag, and aren't shown yet */
  holding?: Answer
  /** the message that a chunk without an id may continue */
  openMessage?: number
  /** a tool call ended since that message's last chunk */
  toolEndedSince?: boolean
  /** the thought that is being timed */
  openThought?: number
  /** background work, as last reported */
  background: Background
  /** foreground work runs, as last reported by the agent or started by a prompt from Parley */
  running: boolean
  /** the running work was started by a prompt from Parley */
  ownTurn: boolean
  /** the session's cost when the running work began */
  costBefore?: number | undefined
  /** the agent reported that it's waiting for the user */
  actionReported: boolean
  /** the prompt from Parley that the agent hasn't echoed yet */
  echo?: Echo
  /** the prompts for the running turn that the agent hasn't echoed, by their ids in the queue */
  steering: Map<string, Steered>
  /** ids that the agent gave to prompts from Parley */
  ownMessages: Set<string>
  /**
   * pending requests by id, of the session and of all its subagents; answered requests are removed, so that a reused id can't lead to an
   * old request
   */
  openRequests: Map<string, number>
  /** the subagents' own sessions by id, at any depth, in one map */
  subagentStates: Map<string, ReducerState>
}

/** The state of a session, or of a subagent in it, with the reducer's indexes. It knows no kinds of entries. */
export interface ReducerState extends BaseSessionState<EntryBase> {
  readonly memory: ReducerMemory
  /** The id of a subagent's session. Its entries and terminals belong to the session that started it. */
  readonly within?: string
}

/** The state of a subagent's session, made when the subagent is announced. */
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

/** An update that is being reduced. `now` is absent in a replay. */
export interface Step {
  readonly state: ReducerState
  readonly now: number | undefined
  readonly changes: Change[]
}

/** The properties of a kind of entry that the reducer needs. */
export interface ReducedKind<E extends EntryBase> {
  readonly kind: E['kind']
  /** Whether text that comes later belongs below the entry: it isn't text streamed in parallel, and not one of many. */
  isWork(entry: E): boolean
  /** The entry may arrive in the middle of a word: the message before it continues. */
  readonly splitsNothing?: boolean
}

/** Puts a new entry at the end and returns its position. It ends the open message and the running thought. */
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

/** The entry at a position, if it's of that kind. */
export function entryAt<E extends EntryBase>(
  { entries }: Pick<ReducerState, 'entries'>,
  position: number | undefined,
  kind: ReducedKind<E>,
): E | undefined {
  const entry = position === undefined ? undefined : entries[position]
  return entry?.kind === kind.kind ? (entry as E) : undefined
}

/** The positions of entries of one kind, by the agent's ids, such as ids of tool calls. */
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

/** The reducers of these types of updates. */
export type Reducers<T extends SessionUpdate['type']> = {
  readonly [K in T]: (step: Step, update: Extract<SessionUpdate, { type: K }>) => void
}

/** Reports that the entry at `position` was changed as a whole. */
export function touch(step: Step, position: number): void {
  step.changes.push({ type: 'entry', id: `e${position}` })
}

/**
 * Appends content to the entry at `position`, which was reported before this step. Text that extends the last text block is reported alone,
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

/** An entry is reported as a whole, or by its appended text. */
export function withoutRepeated({ changes }: Step): void {
  const whole = new Set(changes.flatMap(change => (change.type === 'entry' ? [change.id] : [])))
  const needed = changes.filter(change => change.type !== 'text' || !whole.has(change.id))
  changes.splice(0, changes.length, ...needed)
}

/** Sets one field of an entry or a terminal: absent leaves it unchanged, `null` clears it. */
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

/** A thought that arrived complete began when the entry before it ended. */
function backdateThought(thought: EntryBase, before: EntryBase | undefined): void {
  if (before === undefined || before.turn !== thought.turn || before.within !== thought.within) return
  const { startedAt, endedAt } = thought
  if (startedAt === undefined || endedAt === undefined || endedAt - startedAt >= 1000) return
  const isPrompt = 'role' in before && before.role === 'user'
  const since = isPrompt ? before.startedAt : before.endedAt
  if (since !== undefined && since < startedAt) thought.startedAt = since
}

/** Sets the end of an entry whose beginning is known. */
export function stopTime(step: Step, entry: EntryBase | undefined): boolean {
  if (step.now === undefined || entry?.startedAt === undefined || entry.endedAt !== undefined) return false
  entry.endedAt = step.now
  return true
}

/** Derives the activity of the session and reports when it changed. */
export function updateActivity(step: Step): void {
  const { state, changes } = step
  const { running, actionReported, openRequests } = state.memory
  const waits = actionReported || openRequests.size > 0
  const activity: SessionActivity = waits ? 'requires_action' : running ? 'running' : 'idle'
  if (activity === state.activity) return
  state.activity = activity
  changes.push({ type: 'head', key: 'activity' })
}

/** `undefined` if not reported; otherwise the list is complete. */
export function reportedBackground(reported: ReportedBackground): Background | undefined {
  if (!reported.background) return undefined
  return {
    toolCalls: new Set(reported.background),
    terminals: new Set(reported.backgroundTerminals),
    subagents: new Set(reported.backgroundSubagents),
    others: reported.backgroundOthers ?? 0,
  }
}

/** {@link NO_BACKGROUND} and an empty list differ: only an agent that lists its work sends an empty list. */
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

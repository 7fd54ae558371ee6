import type { ContentBlock, MessageRole } from '../../acp/model.ts'
import { appendBlock, isBlank } from '../blocks.ts'
import type { Change, Entry, SessionActivity, SessionState, TerminalState } from '../state.ts'
import { type Background, NO_BACKGROUND } from './background.ts'
import type { Echo } from './echo.ts'

/**
 * What the reducer remembers besides what is shown, so that no update makes it search: where each entity's entry is,
 * and which are open. Positions are indexes into `entries`, which only ever grows.
 */
interface Books {
  tools: Map<string, number>
  /** by role and message id, the latest */
  messages: Map<string, number>
  /** the role a message id was last used with */
  roles: Map<string, MessageRole>
  permissions: Map<string, number>
  elicitations: Map<string, number>
  /** visits to an address that the agent may still tell to be done, by its id of them */
  visits: Map<string, number>
  compactions: Map<string, number>
  subagents: Map<string, number>
  /** messages between sessions */
  sessionMessages: Map<string, number>
  openTools: Set<number>
  /** those of `openTools` whose status no agent ever told */
  untoldTools: Set<number>
  openPermissions: Set<number>
  openElicitations: Set<number>
  openCompactions: Set<number>
  /** the message that a chunk without an id may go on with */
  openMessage?: number
  /** the thought whose time runs */
  openThought?: number
  /** what goes on apart from the turn, as last told */
  background: Background
  /** foreground work goes on, as last told by the agent or by a prompt of ours */
  running: boolean
  /** the work that goes on was begun by a prompt of ours */
  ownTurn: boolean
  /** the agent said itself that it waits for the person */
  toldAction: boolean
  /** the prompt of ours that the agent has not echoed yet */
  echo?: Echo
  /** ids that the agent gave to prompts of ours */
  ownMessages: Set<string>
  /** the subagents' own sessions by id, however deep: one map for all of them */
  subagentStates: Map<string, ReducingState>
}

/** A session's state together with its reducer's books; made by {@link createSessionState} alone. */
export interface ReducingState extends SessionState {
  readonly books: Books
  /** Of a subagent's session: its id. Its entries and terminals are those of the session it was begun in. */
  readonly within?: string
}

export function createSessionState(): ReducingState {
  return {
    entries: [],
    index: new Map(),
    terminals: new Map(),
    plans: [],
    configOptions: [],
    commands: [],
    activity: 'idle',
    turn: 0,
    books: createBooks(new Map()),
  }
}

/** The state of a subagent's session, made when the subagent is announced. */
export function createSubagentState(parent: ReducingState, sessionId: string): ReducingState {
  const { entries, index, terminals, turn, books } = parent
  const own = { plans: [], configOptions: [], commands: [], activity: 'idle' as const }
  return {
    ...own,
    entries,
    index,
    terminals,
    turn,
    within: sessionId,
    books: createBooks(books.subagentStates),
  }
}

function createBooks(subagentStates: Books['subagentStates']): Books {
  return {
    tools: new Map(),
    messages: new Map(),
    roles: new Map(),
    permissions: new Map(),
    elicitations: new Map(),
    visits: new Map(),
    compactions: new Map(),
    subagents: new Map(),
    sessionMessages: new Map(),
    openTools: new Set(),
    untoldTools: new Set(),
    openPermissions: new Set(),
    openElicitations: new Set(),
    openCompactions: new Set(),
    background: NO_BACKGROUND,
    running: false,
    ownTurn: false,
    toldAction: false,
    ownMessages: new Set(),
    subagentStates,
  }
}

/** One update on its way through the reducer. `now` is absent in a replay. */
export interface Step {
  readonly state: ReducingState
  readonly now: number | undefined
  readonly changes: Change[]
}

type OwnFields<T> = T extends Entry ? Omit<T, 'id' | 'turn' | 'startedAt'> : never

/**
 * Puts a new entry at the end and returns its position. It ends the open message and the running thought, except for
 * an entry of an unknown kind: such may come in floods and in the middle of a word.
 */
export function append(step: Step, fields: OwnFields<Entry>): number {
  const { state, now, changes } = step
  if (fields.kind !== 'unknown') {
    endThought(step)
    state.books.openMessage = undefined
  }
  const position = state.entries.length
  const id = `e${position}`
  const entry = { id, turn: state.turn, ...fields } as Entry
  if (state.within !== undefined) entry.within = state.within
  if (now !== undefined) entry.startedAt = now
  state.entries.push(entry)
  state.index.set(id, position)
  changes.push({ type: 'entry', id })
  return position
}

/** Tells that the entry at `position` was changed as a whole. */
export function touch(step: Step, position: number): void {
  step.changes.push({ type: 'entry', id: `e${position}` })
}

/**
 * Appends content to the blocks of the entry at `position`, which was told of before this step. Text that went on with
 * the text before it is told alone, so that a chunk costs the same however long its message is.
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

/** Sets what was told of one field of an entry or a terminal: absent keeps it, `null` clears it. */
export function patchField<T extends Entry | TerminalState, K extends keyof T>(
  target: T,
  key: K,
  value: T[K] | null | undefined,
): void {
  if (value === null) delete target[key]
  else if (value !== undefined) target[key] = value
}

/** Stops the time of the thought that runs, if one does. */
export function endThought(step: Step): void {
  const { books, entries } = step.state
  const position = books.openThought
  if (position === undefined) return
  books.openThought = undefined
  const thought = entries[position]
  if (!stopTime(step, thought)) return
  toldAtOnce(thought!, entries[position - 1])
  touch(step, position)
}

/** A thought that came all at once, when it was over, began when what stands before it ended. */
function toldAtOnce(thought: Entry, before: Entry | undefined): void {
  if (before === undefined || before.turn !== thought.turn || before.within !== thought.within) return
  const { startedAt, endedAt } = thought
  if (startedAt === undefined || endedAt === undefined || endedAt - startedAt >= 1000) return
  const since = before.kind === 'message' && before.role === 'user' ? before.startedAt : before.endedAt
  if (since !== undefined && since < startedAt) thought.startedAt = since
}

/** Sets the end of an entry whose beginning is known. */
export function stopTime(step: Step, entry: Entry | undefined): boolean {
  if (step.now === undefined || entry?.startedAt === undefined || entry.endedAt !== undefined) return false
  entry.endedAt = step.now
  return true
}

/** Works out what the session is doing from the books, and tells when that changed. */
export function updateActivity(step: Step): void {
  const { state, changes } = step
  const { running, toldAction } = state.books
  const waits = toldAction || hasQuestions(state)
  const activity: SessionActivity = waits ? 'requires_action' : running ? 'running' : 'idle'
  if (activity === state.activity) return
  state.activity = activity
  changes.push({ type: 'head', key: 'activity' })
}

/** Whether the person is asked, by the session itself or by one of its subagents. */
function hasQuestions({ books, within }: ReducingState): boolean {
  if (books.openPermissions.size > 0 || books.openElicitations.size > 0) return true
  if (within !== undefined) return false
  for (const subagent of books.subagentStates.values()) if (hasQuestions(subagent)) return true
  return false
}

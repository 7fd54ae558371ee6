import type { MessageRole } from '../acp/model.ts'
import type { Echo } from './echo.ts'
import type { Change, Entry, SessionActivity, SessionState } from './state.ts'

/**
 * What the reducer remembers besides what is shown, so that no update makes it search: where each entity's entry is,
 * and which are open. Positions are indexes into `entries`, which only ever grows.
 */
export interface Books {
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
}

/** A session's state together with its reducer's books; made by {@link createSessionState} alone. */
export interface ReducingState extends SessionState {
  readonly books: Books
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
    books: {
      tools: new Map(),
      messages: new Map(),
      roles: new Map(),
      permissions: new Map(),
      elicitations: new Map(),
      visits: new Map(),
      compactions: new Map(),
      openTools: new Set(),
      untoldTools: new Set(),
      openPermissions: new Set(),
      openElicitations: new Set(),
      openCompactions: new Set(),
      running: false,
      ownTurn: false,
      toldAction: false,
      ownMessages: new Set(),
    },
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

/** Stops the time of the thought that runs, if one does. */
export function endThought(step: Step): void {
  const { books, entries } = step.state
  const position = books.openThought
  if (position === undefined) return
  books.openThought = undefined
  if (stopTime(step, entries[position])) touch(step, position)
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
  const { running, toldAction, openPermissions, openElicitations } = state.books
  const waits = toldAction || openPermissions.size > 0 || openElicitations.size > 0
  const activity: SessionActivity = waits ? 'requires_action' : running ? 'running' : 'idle'
  if (activity === state.activity) return
  state.activity = activity
  changes.push({ type: 'head', key: 'activity' })
}

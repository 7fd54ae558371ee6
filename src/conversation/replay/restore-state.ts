import * as l10n from '@vscode/l10n'
import { TOO_DEEP } from '../../common/bound-depth.ts'
import { MAX_DEPTH } from '../../common/limits.ts'
import { entryKind } from '../entries/entry-kinds.ts'
import { dropSteering, reopenMessage } from '../entries/message.ts'
import { addSubagentState } from '../entries/subagent.ts'
import { reduce } from '../reducer/reduce.ts'
import { setBackground } from '../reducer/reduce-turn.ts'
import { reduceLocalWithin } from '../reducer/reduce-within.ts'
import { createSessionState, type ReducingState } from '../reducer/reducing-state.ts'
import type { Change, Entry, SessionState, TerminalState } from '../state.ts'
import { NO_BACKGROUND, type ReducerState, updateActivity } from '../step.ts'
import { isPrompt } from '../user-prompts.ts'

/** A saved conversation: its entries, without the reducer's indexes. */
export interface SavedConversation {
  /** in their order, from the first entry on */
  entries: Entry[]
  terminals: TerminalState[]
  /** the agent's reports about the session as a whole */
  head: Partial<Pick<SessionState, 'title' | 'plans' | 'usage'>> & {
    /** Set if a turn was running. */
    working?: boolean | undefined
    /** background work, for a window that continues with the same agent process */
    background?: SavedBackground[] | undefined
  }
  /** The agent process in the host, and the number of its last frame that the saved conversation includes. */
  said?: LastSavedFrame
}

/** Background work as last listed by the session, or by the subagent `within`. */
interface SavedBackground {
  within?: string | undefined
  toolCalls: string[]
  terminals: string[]
  subagents: string[]
  others: number
}

/** The last frame of a hosted agent's output that a saved conversation includes. */
export interface LastSavedFrame {
  hostedId: string
  frame: number
}

/**
 * Creates the state of a saved conversation, so that the conversation can be shown and continued: later updates find its messages and tool
 * calls. Closes unfinished entries, since no update will close them.
 */
export function restoreState(conversation: SavedConversation): ReducingState {
  const state = savedState(conversation)
  // no update has ended the last turn, and none will
  reduceLocalWithin(state, { type: 'agent_gone' })
  return state
}

/** The last entries of a saved conversation, shown until the whole conversation is read. */
export interface ConversationEnd
  extends Pick<SessionState, 'entries' | 'terminals' | 'plans' | 'title' | 'usage'> {
  /** the position of the first of these entries in the whole conversation */
  first: number
}

/** Returns the last entries of a saved conversation, from position `first` on, in the state in which `restoreState` returns them. */
export function restoreEnd(conversation: SavedConversation, first: number): ConversationEnd {
  const { entries, ...state } = restoreState(conversation)
  return { ...state, first, entries: entries.map((entry, i) => ({ ...entry, id: `e${first + i}` })) }
}

/** Creates the state of a saved conversation whose agent is still running: open entries stay open. */
export function continueState(conversation: SavedConversation): ReducingState {
  const state = savedState(conversation)
  const { memory, entries } = state
  const began = entries.findLast(entry => isPrompt(entry) && entry.turn === state.turn)
  if (memory.running && began?.startedAt !== undefined) state.turnStartedAt = began.startedAt
  memory.ownTurn = memory.running
  restoreBackground(state, conversation.head.background ?? [])
  const step = { state, now: undefined, changes: [] }
  dropSteering(step)
  reopenMessage(state)
  updateActivity(step)
  return state
}

/** Maximum length of a saved list of background work: it's written with each change of the session's title, usage and so on. Characters. */
const MAX_BACKGROUND = 64 * 1024

/** Returns the background work to save; `undefined` if the agent lists no background work, or too much of it. */
export function savedBackground(state: ReducingState): SavedBackground[] | undefined {
  const sessions: ReducerState[] = [state, ...state.memory.subagentStates.values()]
  const listing = sessions.filter(({ memory }) => memory.background !== NO_BACKGROUND)
  if (listing.length === 0) return undefined
  const saved = listing.map(({ within, memory: { background } }: ReducerState) => ({
    ...(within !== undefined && { within }),
    toolCalls: [...background.toolCalls],
    terminals: [...background.terminals],
    subagents: [...background.subagents],
    others: background.others,
  }))
  return JSON.stringify(saved).length > MAX_BACKGROUND ? undefined : saved
}

function restoreBackground(state: ReducingState, saved: readonly SavedBackground[]): void {
  for (const { within, toolCalls, terminals, subagents, others } of saved) {
    const listing = within === undefined ? state : state.memory.subagentStates.get(within)
    if (!listing) continue
    const background = {
      toolCalls: new Set(toolCalls),
      terminals: new Set(terminals),
      subagents: new Set(subagents),
      others,
    }
    setBackground({ state: listing, now: undefined, changes: [] }, background)
  }
}

function savedState({ entries, terminals, head }: SavedConversation): ReducingState {
  const state = stateWithEntries(entries)
  for (const terminal of terminals) state.terminals.set(terminal.terminalId, { ...terminal })
  if (head.title !== undefined) state.title = head.title
  if (head.usage !== undefined) state.usage = head.usage
  if (head.plans !== undefined) state.plans = [...head.plans]
  state.memory.running = head.working === true && state.entries.at(-1)?.kind !== 'turn_end'
  return state
}

/**
 * Updates a conversation that continues in another window from the conversation's saved copy, and returns the changes. Entries that are
 * unfinished in the copy stay unfinished.
 */
export function followState(state: ReducingState, { entries, terminals, head }: SavedConversation): Change[] {
  const changes: Change[] = []
  if (entries.length < state.entries.length) {
    // tool calls that were closed in this window still run in the other one
    for (const { id } of state.entries.splice(entries.length)) state.index.delete(id)
    changes.push({ type: 'reset' })
  }
  for (const [position, saved] of entries.entries()) {
    const next: Entry = { ...saved, id: `e${position}` }
    const known = state.entries[position]
    if (known && JSON.stringify(known) === JSON.stringify(next)) continue
    state.entries[position] = next
    state.index.set(next.id, position)
    changes.push({ type: 'entry', id: next.id })
  }
  for (const terminal of terminals) {
    const known = state.terminals.get(terminal.terminalId)
    if (known && JSON.stringify(known) === JSON.stringify(terminal)) continue
    state.terminals.set(terminal.terminalId, terminal)
    changes.push({ type: 'terminal', terminalId: terminal.terminalId })
  }
  if (head.title !== undefined && head.title !== state.title) {
    state.title = head.title
    changes.push({ type: 'head', key: 'title' })
  }
  if (head.plans !== undefined && JSON.stringify(head.plans) !== JSON.stringify(state.plans)) {
    state.plans = [...head.plans]
    changes.push({ type: 'head', key: 'plans' })
  }
  return changes
}

/** Returns a state with these entries; open tool calls and requests stay open. */
export function stateWithEntries(entries: readonly Entry[]): ReducingState {
  const state = createSessionState()
  for (const entry of entries) {
    const position = state.entries.length
    // the reducer relies on an entry's id being its position
    const copied: Entry = { ...entry, id: `e${position}` }
    state.entries.push(copied)
    state.index.set(copied.id, position)
    state.turn = Math.max(state.turn, copied.turn)
    const reporting = copied.within === undefined ? state : addSubagentState(state, copied.within)
    const kind = entryKind(copied)
    if (kind.isWork(copied)) reporting.memory.lastWork = position
    kind.restore?.(reporting, copied, position)
  }
  return state
}

/**
 * Returns a copy of a conversation for a fork, with a note that separates the two. Running work isn't part of the copy. `session`: the key
 * of the original session. `before`: the first turn that isn't part of the fork.
 */
export function forkState(state: ReducingState, session: string, before?: number): ReducingState {
  const copy = before === undefined ? structuredClone(state) : stateBefore(state, before)
  const forkedFrom = { session, turn: copy.turn }
  reduceLocalWithin(copy, { type: 'agent_gone' })
  // the agent echoes prompts of the original session only in that session
  delete copy.memory.echo
  const title = l10n.t('Forked session. New messages stay in this session.')
  reduce(copy, { type: 'notice', severity: 'info', title })
  const note = copy.entries.at(-1)
  if (note?.kind === 'notice') note.forkedFrom = forkedFrom
  return copy
}

/** Returns a copy of a conversation with the turns before this one. */
function stateBefore(state: ReducingState, turn: number): ReducingState {
  const later = state.entries.findIndex(entry => entry.turn >= turn)
  const entries = state.entries.slice(0, later < 0 ? undefined : later)
  const terminals = [...state.terminals.values()]
  const copy = restoreState(structuredClone({ entries, terminals, head: {} }))
  if (state.title !== undefined) copy.title = state.title
  if (state.usage !== undefined) copy.usage = state.usage
  copy.configOptions = structuredClone(state.configOptions)
  copy.commands = structuredClone(state.commands)
  return copy
}

/**
 * Returns the value in a form that JSON can represent: the value itself, or a copy without values nested deeper than {@link MAX_DEPTH};
 * `undefined` if the copy can't be represented either. Values from agents are bounded on arrival, but values stored by an earlier version
 * aren't.
 */
export function serializable<T>(value: T): T | undefined {
  for (const candidate of [() => value, () => boundedCopy(value, MAX_DEPTH) as T]) {
    try {
      const result = candidate()
      JSON.stringify(result)
      return result
    } catch {}
  }
  return undefined
}

/** Returns an entry that can be serialized; an entry that can't becomes a placeholder at its position. */
export function serializableEntry(entry: Entry): Entry {
  const { id, turn } = entry
  return serializable(entry) ?? { kind: 'unknown', id, turn, updateKind: 'damaged', raw: '' }
}

function boundedCopy(value: unknown, levels: number): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (levels === 0) return TOO_DEEP
  if (Array.isArray(value)) return value.map(item => boundedCopy(item, levels - 1))
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, boundedCopy(member, levels - 1)]),
  )
}

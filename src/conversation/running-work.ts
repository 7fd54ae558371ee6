import { beginning } from '../common/visible.ts'
import { SUBAGENT } from './entries/subagent.ts'
import { isFinalStatus, SHOWN_TERMINAL, TOOL_CALL, type ToolCallEntry } from './entries/tool-call.ts'
import type { EntryBase, EntryId, TerminalState } from './state-base.ts'
import { entryAt, NO_BACKGROUND, positionsOf, type ReducerState } from './step.ts'
import { withoutEscapes } from './tool-output.ts'

/**
 * Identifies work of a session that can run besides the turn. `within`: the subagent that owns the tool call, since subagents may use equal
 * ids.
 */
export type WorkId =
  | { terminalId: string }
  | { toolCallId: string; within?: string | undefined }
  | { subagentId: string }

/** Work that runs besides the turn, such as a background command. */
export interface RunningWork {
  id: WorkId
  /** the command, or the agent's name for the work; may be empty */
  title: string
  /** when the work started, in milliseconds since the epoch; absent if unknown */
  since?: number
  canCancel: boolean
  /** the entry of the work, and its index */
  entry?: { id: EntryId; index: number }
}

/**
 * The running work of a session. `others`: the number of tasks that `work` doesn't contain, since there are too many or no entry shows
 * their kind.
 */
export interface Running {
  work: RunningWork[]
  others: number
}

/** Maximum number of tasks in the list. */
const MAX_LISTED = 200
/** Maximum length of the tasks' titles and last lines. Characters. */
const MAX_TITLE = 300

/**
 * Returns the work that runs besides the turn. A terminal of the client counts while its command runs. Other work counts if the agent lists
 * it as background work; if the agent lists no background work, work counts if the agent reports that it runs or can be stopped.
 * `commands`: start times of the client's terminals with a running command.
 */
export function runningWork(state: ReducerState, commands: ReadonlyMap<string, number | undefined>): Running {
  const sessions = [state, ...state.memory.subagentStates.values()]
  const shown = new Set<string>()
  const work = [...terminalWork(state, sessions, commands, shown)]
  let others = 0
  for (const session of sessions) {
    const { within } = session
    const { background } = session.memory
    others += background.others
    for (const id of background.terminals) if (!state.terminals.has(id)) others++
    for (const toolCallId of background.toolCalls) {
      const index = positionsOf(session.memory, TOOL_CALL).get(toolCallId)
      const entry = entryAt(state, index, TOOL_CALL)
      if (index === undefined || !entry) others++
      else if (!isFinalStatus(entry.status) && !shown.has(entry.id))
        work.push(
          workOf(entry, index, { toolCallId, within }, entry.title || entry.toolName, entry.canCancel),
        )
    }
    for (const id of background.subagents) if (!state.memory.subagentStates.has(id)) others++
    for (const [subagentId, index] of positionsOf(session.memory, SUBAGENT)) {
      const entry = entryAt(state, index, SUBAGENT)
      if (entry && subagentRuns(state, session, subagentId, entry))
        work.push(workOf(entry, index, { subagentId }, entry.title, entry.canCancel))
    }
  }
  const listed = work.sort((a, b) => (a.since ?? 0) - (b.since ?? 0)).slice(0, MAX_LISTED)
  return { work: listed, others: others + work.length - listed.length }
}

function workOf(
  { id, startedAt }: EntryBase,
  index: number,
  work: WorkId,
  title: string | undefined,
  canCancel: boolean,
): RunningWork {
  const since = startedAt === undefined ? {} : { since: startedAt }
  return { id: work, title: titleOf(title), canCancel, entry: { id, index }, ...since }
}

/** Yields the running terminals. `shown`: a set to which the entries of their tool calls are added, so that these aren't listed as well. */
function* terminalWork(
  state: ReducerState,
  sessions: readonly ReducerState[],
  commands: ReadonlyMap<string, number | undefined>,
  shown: Set<EntryId>,
): Generator<RunningWork> {
  const listed = new Set(sessions.flatMap(({ memory }) => [...memory.background.terminals]))
  const found: TerminalState[] = []
  for (const terminal of state.terminals.values()) {
    if (terminal.exit) continue
    const { terminalId, canCancel, within = '' } = terminal
    const { memory } = state.memory.subagentStates.get(within) ?? state
    const isStoppable = canCancel && memory.background === NO_BACKGROUND
    if (isStoppable || commands.has(terminalId) || listed.has(terminalId)) found.push(terminal)
  }
  for (const { terminalId, command, canCancel } of found) {
    const index = sessions
      .map(({ memory }) => positionsOf(memory, SHOWN_TERMINAL).get(terminalId))
      .find(one => one !== undefined)
    const entry = entryAt(state, index, TOOL_CALL)
    const startedAt = commands.get(terminalId) ?? entry?.startedAt
    if (!listed.has(terminalId) && isForeground(state, entry, startedAt)) continue
    if (entry) shown.add(entry.id)
    yield {
      id: { terminalId },
      title: titleOf(command ?? entry?.title),
      canCancel: canCancel === true || commands.has(terminalId),
      ...(startedAt !== undefined && { since: startedAt }),
      ...(entry && index !== undefined && { entry: { id: entry.id, index } }),
    }
  }
}

/** Whether the running turn waits for the work, as far as the agent's reports show. */
function isForeground(
  { memory, turn, turnStartedAt = 0 }: ReducerState,
  entry: ToolCallEntry | undefined,
  startedAt = turnStartedAt,
): boolean {
  if (!memory.running) return false
  return entry ? entry.turn === turn && !isFinalStatus(entry.status) : startedAt >= turnStartedAt
}

/** Whether a subagent runs. `session`: the session in which the subagent was announced. */
function subagentRuns(
  { memory, turn }: ReducerState,
  session: ReducerState,
  subagentId: string,
  entry: { state?: { activity: string }; turn: number },
): boolean {
  const isAtRest = entry.state === undefined || entry.state.activity === 'idle'
  const { background } = session.memory
  // An idle subagent is listed because of its own work, which is already in the list if it's known.
  const own = memory.subagentStates.get(subagentId)?.memory.background ?? NO_BACKGROUND
  if (background.subagents.has(subagentId)) return !isAtRest || own === NO_BACKGROUND
  if (isAtRest || background !== NO_BACKGROUND) return false
  return !memory.running || entry.turn < turn
}

function titleOf(title = ''): string {
  return beginning(title.trim().split('\n', 1)[0] ?? '', MAX_TITLE)
}

/** How many characters at the end of a text are searched for its last line. */
const TAIL = 4000
/** How many entries are searched for a subagent's last action. */
const MAX_SEARCHED = 500

/** Returns the last line of the work's output so far; empty if there is no output. */
export function lastLine(state: ReducerState, work: WorkId): string {
  if ('terminalId' in work) return lastLineOf(state.terminals.get(work.terminalId)?.output ?? '')
  if ('subagentId' in work) {
    const { entries } = state
    for (let i = entries.length - 1; i >= Math.max(0, entries.length - MAX_SEARCHED); i--) {
      const entry = entries[i]!
      const line = entry.within === work.subagentId ? lineOf(entry) : ''
      if (line !== '') return line
    }
    return ''
  }
  const entry = entryAt(state, toolCallPosition(state, work), TOOL_CALL)
  return entry ? contentLine(entry) : ''
}

/** Returns the position of a tool call's entry. */
export function toolCallPosition(
  state: ReducerState,
  { toolCallId, within }: { toolCallId: string; within?: string | undefined },
): number | undefined {
  const of = within === undefined ? state : state.memory.subagentStates.get(within)
  return of && positionsOf(of.memory, TOOL_CALL).get(toolCallId)
}

function lineOf(entry: EntryBase & { title?: unknown; blocks?: unknown }): string {
  const { title, blocks } = entry
  if (typeof title === 'string') return titleOf(title)
  const block: unknown = Array.isArray(blocks) ? blocks.at(-1) : undefined
  return typeof block === 'object' && block && 'text' in block && typeof block.text === 'string'
    ? lastLineOf(block.text)
    : ''
}

function contentLine({ content }: ToolCallEntry): string {
  const part = content.at(-1)
  return part?.type === 'content' && part.content.type === 'text' ? lastLineOf(part.content.text) : ''
}

/** Returns the last line of an output. Of a line that a program rewrites, only the last version counts. */
function lastLineOf(text: string): string {
  const lines = withoutEscapes(text.slice(-TAIL)).split(/[\r\n]+/)
  return beginning(lines.findLast(line => line.trim() !== '')?.trim() ?? '', MAX_TITLE)
}

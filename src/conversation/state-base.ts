import type { Command, ConfigOption, Cost, Plan, TerminalExit, Usage } from '../acp/model.ts'

/** The id of an entry: unique within a session and stable as long as the window shows the session. */
export type EntryId = string

/** Properties of all kinds of entries. */
export interface EntryBase {
  kind: string
  id: EntryId
  /** The turn that the entry belongs to: 0 before the first prompt, then 1, 2, … */
  turn: number
  /** The id of the subagent's session that the entry belongs to; absent for the session itself. */
  within?: string
  /** Set if the agent sent the entry while no turn was running, such as a banner, which isn't part of the conversation. */
  outOfTurn?: true
  /** time of the entry's first update, in milliseconds since the epoch; absent in a replay, where the time is unknown */
  startedAt?: number
  /** When a thought, tool call, question, compaction or subagent ended; other entries have no end. */
  endedAt?: number
  /** In the last entry of a finished turn: a summary of the turn. */
  turnSummary?: TurnSummary
}

/** A summary of a finished turn in numbers. */
export interface TurnSummary {
  /** duration in milliseconds */
  took?: number
  /** the number of tool calls, including those of subagents */
  tools: number
  /** the number of tool calls that failed */
  failed: number
  files?: TurnFiles
  cost?: Cost
}

/** The number of files that a turn changed, and of added and removed lines; a replay doesn't contain these numbers. */
export interface TurnFiles {
  count: number
  added?: number
  removed?: number
}

export interface TerminalState {
  terminalId: string
  command?: string
  cwd?: string
  /** The output with ANSI codes. Only the last part is kept (see `TERMINAL_KEEP`); `truncated` tells whether a part is missing. */
  output: string
  truncated: boolean
  exit?: TerminalExit
  /** size of the terminal's screen */
  size?: { cols: number; rows: number }
  canCancel?: boolean
  /** the id of the subagent's session that reported the terminal as cancelable */
  within?: string
}

/** The current activity of a session. */
export type SessionActivity = 'idle' | 'running' | 'requires_action'

/** The entries and properties of a session, as reported: plain data that the reducers change in place. */
export interface BaseSessionState<E extends EntryBase> {
  entries: E[]
  /** position in `entries` by id */
  index: Map<EntryId, number>
  terminals: Map<string, TerminalState>
  plans: Plan[]
  configOptions: ConfigOption[]
  commands: Command[]
  usage?: Usage
  /** a suggestion for the next prompt, from the agent */
  suggestion?: string
  title?: string
  /** milliseconds since the epoch */
  updatedAt?: number
  activity: SessionActivity
  /** The agent reported an unknown state; `activity` is the last known activity. */
  unconfirmed?: true
  /** the number of background tasks; absent if the agent reports none */
  background?: number
  turn: number
  /** when the running turn began, milliseconds since the epoch */
  turnStartedAt?: number
}

/** The parts of the state other than entries and terminals. A part is sent whole when it changes. */
export type HeadKey =
  | 'plans'
  | 'configOptions'
  | 'commands'
  | 'usage'
  | 'suggestion'
  | 'title'
  | 'updatedAt'
  | 'activity'
  | 'turn'

/** The effect of one update, precise enough that readers don't have to compare states. */
export type Change =
  /** The entry is new, or was changed in another way than by appended text. */
  | { type: 'entry'; id: EntryId }
  /** `text` was appended to the text block at `block` of a message (or a message between sessions, or a compaction's summary). */
  | { type: 'text'; id: EntryId; block: number; text: string }
  | { type: 'terminal'; terminalId: string }
  | { type: 'terminal_output'; terminalId: string; text: string }
  | { type: 'head'; key: HeadKey }
  /** The whole state was replaced (a load started over). */
  | { type: 'reset' }

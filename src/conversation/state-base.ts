import type { Command, ConfigOption, Cost, Plan, TerminalExit, Usage } from '../acp/model.ts'

/** Ids of entries are unique within a session and stable for its life in this window. */
export type EntryId = string

/** Properties of all kinds of entries. */
export interface EntryBase {
  kind: string
  id: EntryId
  /** The turn it belongs to: 0 before the first prompt, then 1, 2, … */
  turn: number
  /** The id of the subagent's session that the entry belongs to; absent for the session itself. */
  within?: string
  /** The agent sent the entry while no turn was running, such as a banner, which isn't part of the conversation. */
  outOfTurn?: true
  /** milliseconds since the epoch, of its first update; absent in a replay, where it's unknown */
  startedAt?: number
  /** Of a thought, a tool call, a question, a compaction and a subagent, once it is over; other entries have none. */
  endedAt?: number
  /** Of the last entry of a finished turn: what the turn did. */
  turnSummary?: TurnSummary
}

/** Numbers about a finished turn. */
export interface TurnSummary {
  /** milliseconds */
  took?: number
  /** the number of tool calls, including those of subagents */
  tools: number
  /** the tool calls that failed */
  failed: number
  files?: TurnFiles
  cost?: Cost
}

/** The files that a turn changed, with added and removed lines, which a replay doesn't contain. */
export interface TurnFiles {
  count: number
  added?: number
  removed?: number
}

export interface TerminalState {
  terminalId: string
  command?: string
  cwd?: string
  /** ANSI codes included; only the last part is kept (see `TERMINAL_KEEP`), `truncated` says when */
  output: string
  truncated: boolean
  exit?: TerminalExit
  /** the size of the screen for the command */
  size?: { cols: number; rows: number }
  canCancel?: boolean
  /** the id of the subagent's session that the change belongs to */
  within?: string
}

/** The current activity of a session. */
export type SessionActivity = 'idle' | 'running' | 'requires_action'

/** The entries and properties of a session, as reported; plain data. Changed only by `reduce`. */
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
  /** The agent reported an unknown state. `activity` is the last known one. */
  unconfirmed?: true
  /** the number of background tasks, if the agent reports them; absent: none */
  background?: number
  turn: number
  /** when the running turn began, milliseconds since the epoch */
  turnStartedAt?: number
}

/** The parts of the state that are not entries or terminals; sent whole when one changes. */
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

/** The effect of one update, precise enough that no reader has to look at anything else. */
export type Change =
  /** The entry is new or was changed as a whole. */
  | { type: 'entry'; id: EntryId }
  /** `text` was appended to the text block at `block` of a message (or a message between sessions, or a compaction's summary). */
  | { type: 'text'; id: EntryId; block: number; text: string }
  | { type: 'terminal'; terminalId: string }
  | { type: 'terminal_output'; terminalId: string; text: string }
  | { type: 'head'; key: HeadKey }
  /** Everything was replaced (a load started over). */
  | { type: 'reset' }

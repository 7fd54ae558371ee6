import type {
  AgentErrorInfo,
  Command,
  ConfigOption,
  ContentBlock,
  ElicitationField,
  ElicitationOutcome,
  MessageRole,
  Open,
  PermissionOption,
  PermissionOutcome,
  PermissionRequest,
  Plan,
  StopReason,
  SubagentState,
  TerminalExit,
  ToolCallContent,
  ToolCallLocation,
  ToolCallStatus,
  ToolKind,
  Usage,
} from '../acp/model.ts'

/** Ids of entries are unique within a session and stable for its life in this window. */
export type EntryId = string

/** The permission rule that answered a request. */
export interface AppliedRule {
  action: 'allow' | 'reject'
  /** the settings that contain it */
  scope: 'user' | 'workspace' | 'folder'
  /** the workspace folder's name, for the scope `folder` */
  folder?: string
  /** a short form, such as `npm test *` */
  text: string
}

interface EntryBase {
  id: EntryId
  /** The turn it belongs to: 0 before the first prompt, then 1, 2, … */
  turn: number
  /** The subagent in whose session it came, by that session's id; absent: it came in this session itself. */
  within?: string
  /** milliseconds since the epoch, of its first update; absent in a replay, where it's unknown */
  startedAt?: number
  /** Of a thought, a tool call, a question, a compaction and a subagent, once it is over; other entries have none. */
  endedAt?: number
}
export interface MessageEntry extends EntryBase {
  kind: 'message'
  role: MessageRole
  messageId?: string
  /** Continues the message above with the same id and role: other work came in between. See `wholeMessage`. */
  continues?: true
  /** Adjacent text chunks are one text block, but for those of a user message without an id. */
  blocks: ContentBlock[]
}
export interface ToolCallEntry extends EntryBase {
  kind: 'tool_call'
  toolCallId: string
  title: string
  toolName?: string
  toolKind: ToolKind
  status: ToolCallStatus
  content: ToolCallContent[]
  locations: ToolCallLocation[]
  rawInput?: unknown
  rawOutput?: unknown
  canCancel: boolean
}
export interface PermissionEntry extends EntryBase {
  kind: 'permission'
  /** Identifies the request when it's answered. */
  requestId: string
  title: string
  description?: string
  /** Its tool call, whose entry always exists. */
  toolCallId?: string
  /** Its command, if the agent named one without a tool call. */
  command?: { command: string; cwd?: string; terminalId?: string }
  /** Its subject, if that is of a kind that this version of Parley doesn't know. */
  subject?: { kind: string; raw: unknown }
  options: PermissionOption[]
  /** Absent while it is pending. */
  outcome?: PermissionOutcome
  /** Set if a permission rule answered it. */
  rule?: AppliedRule
}
/** An elicitation: the agent asks the user to fill in a form or open a URL. */
export interface ElicitationEntry extends EntryBase {
  kind: 'elicitation'
  /** Identifies the request when it's answered. */
  requestId: string
  message: string
  /** The agent's id of its tool call. */
  toolCallId?: string
  ask:
    | { mode: 'form'; title?: string; description?: string; fields: ElicitationField[] }
    | { mode: 'url'; elicitationId: string; url: string }
  /** Absent while it is pending. */
  outcome?: ElicitationOutcome
  /**
   * For a URL that the user agreed to open. `waiting`: the agent hasn't reported completion; `ended`:
   * the turn or the agent ended before it did.
   */
  visit?: 'waiting' | 'done' | 'ended'
}
export interface NoticeEntry extends EntryBase {
  kind: 'notice'
  severity: Open<'info' | 'warning' | 'error'>
  title: string
  description?: string
  /** The entries above come from Parley's saved copy. */
  savedCopy?: true
  /** absolute paths of the changed files it concerns */
  files?: string[]
  rewind?: Rewind
  /** The conversation is a fork: the entries above are from another session. */
  forkedFrom?: ForkOrigin
}
/** The user went back to before the turn `from`: the turns from there to `to` are set aside. */
export interface ForkOrigin {
  /** the other session's key in this window */
  session: string
  /** the last turn of it that is part of the fork */
  turn: number
}

export interface Rewind {
  from: number
  to: number
  /** Files were restored: the id of the undo, to revert it. */
  restored?: string
  /** The user reverted it. */
  withdrawn?: true
}
export interface CompactionEntry extends EntryBase {
  kind: 'compaction'
  compactionId: string
  status: Open<'in_progress' | 'completed' | 'failed' | 'cancelled'>
  summary: ContentBlock[]
  error?: string
}
/** A session that the agent started within this one; the entry is where it was announced. */
export interface SubagentEntry extends EntryBase {
  kind: 'subagent'
  /** the subagent's own session */
  sessionId: string
  /** Absent if the agent didn't provide one. */
  title?: string
  /** its role or purpose */
  description?: string
  /** What it does; absent if unknown. `endedAt` is when it last became idle. */
  state?: SubagentState
  /** Its work can be stopped separately from the turn. */
  canCancel: boolean
  cwd?: string
  additionalDirectories?: string[]
}
/** A message between sessions: `from` and `to` are subagents' sessions or this one. */
export interface SessionMessageEntry extends EntryBase {
  kind: 'session_message'
  messageId: string
  from?: string
  to?: string
  fromMessageId?: string
  toMessageId?: string
  /** Adjacent text chunks are one text block. */
  blocks: ContentBlock[]
}
/** The end of a turn with another reason than `end_turn`. */
export interface TurnEndEntry extends EntryBase {
  kind: 'turn_end'
  stopReason: StopReason
  /** The turn was canceled, and the user had not asked for it. */
  canceledBy?: 'agent'
  error?: AgentErrorInfo
}
export interface UnknownEntry extends EntryBase {
  kind: 'unknown'
  updateKind: string
  raw: unknown
}
export type Entry =
  | MessageEntry
  | ToolCallEntry
  | PermissionEntry
  | ElicitationEntry
  | NoticeEntry
  | CompactionEntry
  | SubagentEntry
  | SessionMessageEntry
  | TurnEndEntry
  | UnknownEntry

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
  /** the subagent whose session it belongs to, by that session's id */
  within?: string
}

/** What the session is doing. */
export type SessionActivity = 'idle' | 'running' | 'requires_action'

/** The entries and properties of a session, as reported; plain data. Changed only by `reduce`. */
export interface SessionState {
  entries: Entry[]
  /** position in `entries` by id */
  index: Map<EntryId, number>
  terminals: Map<string, TerminalState>
  plans: Plan[]
  configOptions: ConfigOption[]
  commands: Command[]
  usage?: Usage
  title?: string
  /** milliseconds since the epoch */
  updatedAt?: number
  activity: SessionActivity
  /** The agent reported an unknown state. Its activity is the last known one. */
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
  | 'title'
  | 'updatedAt'
  | 'activity'
  | 'turn'

/** What one update changed, precise enough that no reader has to look at anything else. */
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

export interface RuleAnswer {
  optionId: string
  rule: AppliedRule
}

/**
 * Looks for a permission rule that answers the request. `tool` is the tool call, including what the request reports of it.
 * `undefined`, now or later: the request is shown to the user. Never rejects.
 */
export type AnswerByRule = (
  request: PermissionRequest,
  tool: ToolCallEntry | undefined,
  signal: AbortSignal,
) => Promise<RuleAnswer | undefined> | undefined

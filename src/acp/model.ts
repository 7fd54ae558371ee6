/**
 * The one model of what an agent says, shaped like ACP v2: messages, tool calls, plans and terminals have ids and are
 * upserted. `v1/` and `v2/` map their wire to it; no other room knows which version is spoken. Fields are plain data
 * (structured-cloneable). Open enums are `Known | (string & {})`: an unknown value is kept and shown as it is.
 */

/** Keeps the known values visible to completion while any string is allowed. */
export type Open<T extends string> = T | (string & {})

// ---- content -------------------------------------------------------------------------------------------------------

interface Addressed {
  /** Its annotations say that it is for the model alone: shown only when the person asks for it. */
  agentOnly?: true
}
export interface TextBlock extends Addressed {
  type: 'text'
  text: string
}
/** `data` is base64. */
export interface ImageBlock extends Addressed {
  type: 'image'
  data: string
  mimeType: string
  uri?: string
}
/** `data` is base64. */
export interface AudioBlock extends Addressed {
  type: 'audio'
  data: string
  mimeType: string
}
export interface ResourceLinkBlock extends Addressed {
  type: 'resource_link'
  uri: string
  name: string
  title?: string
  description?: string
  mimeType?: string
  /** bytes */
  size?: number
}
/** An embedded resource: `text`, or `blob` in base64. */
export interface ResourceBlock extends Addressed {
  type: 'resource'
  uri: string
  mimeType?: string
  text?: string
  blob?: string
}
/** A block of a kind this version of Parley does not know, kept whole. */
export interface UnknownBlock {
  type: 'unknown'
  kind: string
  raw: unknown
}
export type ContentBlock =
  | TextBlock
  | ImageBlock
  | AudioBlock
  | ResourceLinkBlock
  | ResourceBlock
  | UnknownBlock

// ---- tool calls ----------------------------------------------------------------------------------------------------

export type ToolKind = Open<
  'read' | 'edit' | 'delete' | 'move' | 'search' | 'execute' | 'think' | 'fetch' | 'switch_mode' | 'other'
>
export type ToolCallStatus = Open<'pending' | 'in_progress' | 'paused' | 'completed' | 'failed' | 'cancelled'>

/** One changed file of a diff. */
export interface FileChange {
  operation: Open<'add' | 'delete' | 'modify' | 'move' | 'copy'>
  path: string
  oldPath?: string
  /** Known when the agent sent whole texts or a fragment (v1); `undefined` when only a patch is known (v2). */
  oldText?: string
  newText?: string
  /** Told in v2 only. */
  fileType?: Open<'text' | 'binary' | 'directory' | 'symlink'>
  mimeType?: string
}
export type ToolCallContent =
  | { type: 'content'; content: ContentBlock }
  | { type: 'diff'; changes: FileChange[]; patch?: { format: string; text: string } }
  | { type: 'terminal'; terminalId: string }
  | { type: 'unknown'; kind: string; raw: unknown }

export interface ToolCallLocation {
  path: string
  /** 1-based; absent when the agent gave none (or 0). */
  line?: number
}

/** An upsert of a tool call: an absent field stays as it was, `null` clears it. */
export interface ToolCallPatch {
  toolCallId: string
  title?: string | null
  name?: string | null
  kind?: ToolKind | null
  status?: ToolCallStatus | null
  content?: ToolCallContent[] | null
  locations?: ToolCallLocation[] | null
  rawInput?: unknown
  rawOutput?: unknown
  canCancel?: boolean | null
}

// ---- terminals -----------------------------------------------------------------------------------------------------

export interface TerminalExit {
  exitCode?: number | null
  signal?: string | null
}
/** An upsert of a terminal: an absent field stays, `null` clears. `output` replaces all output so far (decoded text). */
export interface TerminalPatch {
  terminalId: string
  command?: string | null
  cwd?: string | null
  output?: string | null
  exit?: TerminalExit | null
  size?: { cols: number; rows: number } | null
  canCancel?: boolean | null
}

// ---- sessions within a session --------------------------------------------------------------------------------------

/** What a subagent does, as the agent told it last. `stopReason`, `error`: how its last work ended. */
export interface SubagentState {
  activity: Open<'running' | 'idle' | 'requires_action' | 'unknown'>
  stopReason?: StopReason
  error?: AgentErrorInfo
}

/**
 * An upsert of a session that the agent began within this one (unstable): an absent field stays as it was, `null`
 * clears it. A `state` replaces the one before; `null`: nobody knows what it does.
 */
export interface SubagentPatch {
  /** the subagent's own session */
  sessionId: string
  title?: string | null
  description?: string | null
  state?: SubagentState | null
  canCancel?: boolean | null
  cwd?: string | null
  additionalDirectories?: string[] | null
}

/**
 * An upsert of a message from one session to another (unstable); absent and `null` as in {@link SubagentPatch}. `from`
 * and `to` are sessions; the ids name the same message where the other session tells of it.
 */
export interface SessionMessagePatch {
  messageId: string
  from?: string | null
  to?: string | null
  fromMessageId?: string | null
  toMessageId?: string | null
  content?: ContentBlock[] | null
}

// ---- the rest of a session -----------------------------------------------------------------------------------------

export interface PlanEntry {
  content: string
  priority: Open<'high' | 'medium' | 'low'>
  status: Open<'pending' | 'in_progress' | 'completed' | 'cancelled'>
}
export interface Plan {
  planId: string
  entries: PlanEntry[]
  /** A plan that is a document or of an unknown kind: shown as markdown. */
  markdown?: string
  /** Of a plan in a file: where it is. */
  uri?: string
}

export interface Command {
  name: string
  description: string
  /** What to type after the command, when it takes input. */
  hint?: string
}

export interface SelectChoice {
  value: string
  name: string
  description?: string
  /** The group's name, when the agent groups its choices. */
  group?: string
}
export type ConfigCategory = Open<'mode' | 'model' | 'model_config' | 'thought_level'>
interface ConfigOptionBase {
  id: string
  name: string
  description?: string
  category?: ConfigCategory
}
export type ConfigOption =
  | (ConfigOptionBase & { type: 'select'; currentValue: string; choices: SelectChoice[] })
  | (ConfigOptionBase & { type: 'boolean'; currentValue: boolean })
  | (ConfigOptionBase & { type: 'unknown'; raw: unknown })

export interface Usage {
  /** tokens in the context now */
  used: number
  /** the context's size in tokens */
  size: number
  cost?: { amount: number; currency: string }
  /** what the agent counted at the end of its work (unstable) */
  tokens?: TokenCount
}

/** Tokens, as the agent counts them. */
export interface TokenCount {
  /** v2 counts the work that just ended. v1 is to count the session; agents have been seen to count the turn. */
  of: 'turn' | 'unknown'
  total: number
  input: number
  output: number
  thought?: number
  cachedRead?: number
  cachedWrite?: number
}

export type StopReason = Open<
  'end_turn' | 'max_tokens' | 'max_turn_requests' | 'refusal' | 'cancelled' | 'error'
>
export type MessageRole = 'user' | 'agent' | 'thought'

/** An error of the agent in words: `message` is a sentence, `detail` whatever more it sent. */
export interface AgentErrorInfo {
  code: number
  message: string
  detail?: string
}

/** What goes on apart from the turn (v2), by id; it is whole where there is `background`, else nothing is told. */
export interface ReportedBackground {
  /** tool calls */
  background?: string[]
  backgroundTerminals?: string[]
  /** sessions of subagents */
  backgroundSubagents?: string[]
  /** so many things more, of kinds newer than Parley */
  backgroundOthers?: number
}

/** One thing an agent says of a session. */
export type SessionUpdate =
  /** A piece of a message. Without `messageId` it goes to the open message of its role. */
  | { type: 'message_chunk'; role: MessageRole; messageId?: string; content: ContentBlock }
  /** What follows without a `messageId` is a message of its own. */
  | { type: 'message_end' }
  /** A whole message: absent content keeps, `null` clears, a list replaces. */
  | { type: 'message'; role: MessageRole; messageId: string; content?: ContentBlock[] | null }
  | { type: 'tool_call'; toolCall: ToolCallPatch }
  | { type: 'tool_call_content'; toolCallId: string; content: ToolCallContent }
  | { type: 'terminal'; terminal: TerminalPatch }
  | { type: 'terminal_output'; terminalId: string; text: string }
  | { type: 'plan'; plan: Plan }
  | { type: 'plan_removed'; planId: string }
  | { type: 'commands'; commands: Command[] }
  | { type: 'config_options'; options: ConfigOption[] }
  /** One option's value changed (v1: `current_mode_update`). */
  | { type: 'config_value'; category: ConfigCategory; value: string }
  | { type: 'info'; title?: string | null; updatedAt?: string | null }
  | { type: 'usage'; usage: Usage }
  | { type: 'notice'; severity: Open<'info' | 'warning' | 'error'>; title: string; description?: string }
  | {
      type: 'compaction'
      compactionId: string
      status: Open<'in_progress' | 'completed' | 'failed' | 'cancelled'>
      summary?: ContentBlock[] | null
      error?: string | null
    }
  | { type: 'compaction_chunk'; compactionId: string; content: ContentBlock }
  | { type: 'subagent'; subagent: SubagentPatch }
  | { type: 'session_message'; message: SessionMessagePatch }
  | { type: 'session_message_chunk'; messageId: string; content: ContentBlock }
  | ({ type: 'state'; state: Open<'running' | 'requires_action'> } & ReportedBackground)
  /**
   * The turn is over. `stopReason` is absent when the session is idle for another reason (v2). All tool calls but those
   * in the background are over.
   */
  | ({
      type: 'state'
      state: 'idle'
      stopReason?: StopReason
      /** Set by the session, which knows whether the person asked for it: the agent canceled the turn by itself. */
      canceledBy?: 'agent'
      error?: AgentErrorInfo
      tokens?: TokenCount
    } & ReportedBackground)
  /** Anything newer than this version of Parley, kept whole and shown generically. */
  | { type: 'unknown'; kind: string; raw: unknown }

// ---- what an agent asks --------------------------------------------------------------------------------------------

export interface PermissionOption {
  optionId: string
  name: string
  kind: Open<'allow_once' | 'allow_always' | 'reject_once' | 'reject_always'>
}
export type PermissionSubject =
  | { type: 'tool_call'; toolCall: ToolCallPatch }
  | { type: 'command'; command: string; cwd?: string; toolCallId?: string; terminalId?: string }
  | { type: 'unknown'; kind: string; raw: unknown }
  | { type: 'none' }
export interface PermissionRequest {
  sessionId: string
  title: string
  description?: string
  subject: PermissionSubject
  options: PermissionOption[]
}
export type PermissionOutcome = { type: 'selected'; optionId: string } | { type: 'cancelled' }

/** One thing that a form asks for. `key` names its value in the answer. */
interface ElicitationFieldBase {
  key: string
  title: string
  description?: string
  required: boolean
}
export interface ElicitationChoice {
  value: string
  title: string
  description?: string
}
export type ElicitationField = ElicitationFieldBase &
  (
    | {
        type: 'text'
        format?: Open<'email' | 'uri' | 'date' | 'date-time'>
        /** a regular expression, as the agent wrote it */
        pattern?: string
        minLength?: number
        maxLength?: number
        default?: string
      }
    | { type: 'number' | 'integer'; minimum?: number; maximum?: number; default?: number }
    | { type: 'boolean'; default?: boolean }
    | { type: 'select'; choices: ElicitationChoice[]; default?: string }
    | {
        type: 'multi_select'
        choices: ElicitationChoice[]
        minItems?: number
        maxItems?: number
        default?: string[]
      }
    /** Of a kind this version of Parley does not know; it cannot be filled in. */
    | { type: 'unknown'; raw: unknown }
  )
interface ElicitationBase {
  message: string
  /** The session it is about; absent when it is about a request of ours (signing in, say), and ends with that request. */
  sessionId?: string
  toolCallId?: string
}
/** What the agent asks the person for, beside permissions. */
export type ElicitationRequest = ElicitationBase &
  (
    | { mode: 'form'; title?: string; description?: string; fields: ElicitationField[] }
    /** `url` is a valid absolute address; nobody has looked at where it leads. */
    | { mode: 'url'; elicitationId: string; url: string }
  )
export type ElicitationValue = string | number | boolean | string[]
export type ElicitationOutcome =
  /** `content`: the form's values by key; of a `url` it is absent: the person agreed to open it */
  | { action: 'accept'; content?: Record<string, ElicitationValue> }
  | { action: 'decline' }
  | { action: 'cancel' }

export interface ReadTextFileRequest {
  sessionId: string
  path: string
  /** 1-based first line */
  line?: number
  /** number of lines */
  limit?: number
}
export interface WriteTextFileRequest {
  sessionId: string
  path: string
  content: string
}
export interface CreateTerminalRequest {
  sessionId: string
  command: string
  args: string[]
  env: Array<{ name: string; value: string }>
  cwd?: string
  /** bytes of output to keep */
  outputByteLimit?: number
}
export interface TerminalOutput {
  output: string
  truncated: boolean
  exit?: TerminalExit
}

// ---- session setup -------------------------------------------------------------------------------------------------

/** An MCP server as the model has it; the wire's shape differs by version. */
export type McpServer =
  | {
      type: 'stdio'
      name: string
      command: string
      args: string[]
      env: Array<{ name: string; value: string }>
    }
  | { type: 'http' | 'sse'; name: string; url: string; headers: Array<{ name: string; value: string }> }

/** Where a session works: absolute paths. */
export interface Roots {
  cwd: string
  /** Sent only to an agent that has the capability. */
  additionalDirectories: string[]
}

export interface SessionSetup extends Roots {
  mcpServers: McpServer[]
  /** Sent only to an agent that has the capability (unstable), an `override` only to one that takes it. */
  systemPrompt?: { mode: 'append' | 'override'; content: ContentBlock[] }
}

/** What the agent told of a session at its start. `undefined`: it said nothing of it. */
export interface SessionStart {
  sessionId: string
  configOptions?: ConfigOption[]
  commands?: Command[]
}

/** A session as the agent lists it. */
export interface SessionInfo {
  sessionId: string
  cwd: string
  additionalDirectories: string[]
  title?: string
  /** milliseconds since the epoch */
  updatedAt?: number
  /** Told by agents that can archive sessions. */
  archived?: boolean
}

/** Whether somebody is signed in, as the agent tells it (unstable). */
export interface AuthStatus {
  state: Open<'authenticated' | 'unauthenticated' | 'not_required' | 'unknown'>
  accounts: Array<{ label: string; active?: boolean; name?: string; email?: string; organization?: string }>
}

/** A service of models that the agent can be pointed at (unstable). */
export interface Provider {
  providerId: string
  /** protocols it can speak: `anthropic`, `openai`, … */
  supported: string[]
  /** It must be set before the agent works. */
  required: boolean
  current?: { apiType: string; baseUrl: string }
}

export interface AuthMethod {
  methodId: string
  type: Open<'agent' | 'terminal' | 'env_var'>
  name: string
  description?: string
  /** terminal: what to run besides the agent's own command */
  terminal?: { command?: string; args: string[]; env: Record<string, string>; label?: string }
  /** What to ask for and to start the agent with. An `agent` method with it is then signed in to as the others are. */
  vars?: Array<{ name: string; label?: string; secret: boolean; optional: boolean }>
}

/** What an agent can do, as questions. Absent on the wire means no. */
export interface AgentCapabilities {
  /** `load` replays the whole conversation. (v2: resume with `replayFrom`.) */
  load: boolean
  resume: boolean
  list: boolean
  close: boolean
  delete: boolean
  additionalDirectories: boolean
  logout: boolean
  mcp: { stdio: boolean; http: boolean; sse: boolean }
  prompt: { image: boolean; audio: boolean; embeddedContext: boolean }
  /** Of no released schema yet; there only when `true`. */
  fork?: boolean
  setTitle?: boolean
  archive?: boolean
  sessionStatus?: boolean
  authStatus?: boolean
  providers?: boolean
  systemPrompt?: { override: boolean }
}

/**
 * The one model of what an agent reports, shaped like ACP v2: messages, tool calls, plans and terminals have ids and are
 * upserted. `v1/` and `v2/` map their wire format to it; no other layer knows the version. Fields are plain data
 * (structured-cloneable). Open enums are `Known | (string & {})`: an unknown value is kept and shown as it is.
 *
 * Each block links to its section of the specification: v1 (released) and v2 (a draft). Blocks without a link, and
 * fields marked as unstable, are in the unstable schema only.
 */

import type { PathMapping } from '../common/path-mapping.ts'
import type { TOOL_KINDS } from '../common/tool-kinds.ts'

/** Keeps the known values visible to completion while any string is allowed. */
export type Open<T extends string> = T | (string & {})

// ---- content -------------------------------------------------------------------------------------------------------
// https://agentclientprotocol.com/protocol/v1/content
// https://agentclientprotocol.com/protocol/v2/draft/content

interface Addressed {
  /** For the model only, according to its annotations: shown on demand. */
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
  /** when the resource was last modified, in milliseconds since the epoch */
  lastModified?: number
  /** at most one for each theme and one for all themes */
  icons?: LinkIcon[]
}
/** `src`: a `data:` URI of an image. */
export interface LinkIcon {
  src: string
  theme?: 'light' | 'dark'
}
/** An embedded resource: `text`, or `blob` in base64. */
export interface ResourceBlock extends Addressed {
  type: 'resource'
  uri: string
  mimeType?: string
  text?: string
  blob?: string
  /** when the resource was last modified, in milliseconds since the epoch */
  lastModified?: number
  /** The agent gave it the highest priority: shown without being expanded. */
  isImportant?: true
  /** The agent gets the text as if the user had written it. The view shows only the name. */
  asText?: true
}
/** A block of a kind that this version of Parley doesn't know, stored unchanged. */
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
// https://agentclientprotocol.com/protocol/v1/tool-calls
// https://agentclientprotocol.com/protocol/v2/draft/tool-calls

export type ToolKind = Open<(typeof TOOL_KINDS)[number]>
export type ToolCallStatus = Open<'pending' | 'in_progress' | 'paused' | 'completed' | 'failed' | 'cancelled'>

/** One changed file of a diff. */
export interface FileChange {
  operation: Open<'add' | 'delete' | 'modify' | 'move' | 'copy'>
  path: string
  oldPath?: string
  /** Known when the agent sent whole texts or a fragment (v1); `undefined` when only a patch is known (v2). */
  oldText?: string
  newText?: string
  /** v2 only. */
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
  /** 1-based; absent if the agent sent none (or 0). */
  line?: number
}

/** An upsert of a tool call: an absent field stays as it was, `null` clears it. */
export interface ToolCallPatch {
  toolCallId: string
  /** The tool call whose work it is part of. An extension, see `wire/extensions.ts`. */
  parentId?: string
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
// https://agentclientprotocol.com/protocol/v1/terminals
// https://agentclientprotocol.com/protocol/v2/draft/tool-calls#content

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
// https://agentclientprotocol.com/rfds/subagents#current-work-state

/** The last reported state of a subagent. `stopReason`, `error`: how its last turn ended. */
export interface SubagentState {
  activity: Open<'running' | 'idle' | 'requires_action' | 'unknown'>
  stopReason?: StopReason
  error?: AgentErrorInfo
}

/**
 * An upsert of a session that the agent started within this one (unstable). An absent field stays as it was, `null` clears it. A `state`
 * replaces the previous one; `null` means that the state is unknown.
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
 * and `to` are sessions; the ids name the same message in the other session's updates.
 */
export interface SessionMessagePatch {
  messageId: string
  from?: string | null
  to?: string | null
  fromMessageId?: string | null
  toMessageId?: string | null
  content?: ContentBlock[] | null
}

// ---- plans, commands, options, usage -------------------------------------------------------------------------------

/**
 * @see https://agentclientprotocol.com/protocol/v1/agent-plan#plan-entries
 * @see https://agentclientprotocol.com/protocol/v2/draft/agent-plan#plan-entries
 */
export interface PlanEntry {
  content: string
  priority: Open<'high' | 'medium' | 'low'>
  status: Open<'pending' | 'in_progress' | 'completed' | 'cancelled'>
}
export interface Plan {
  planId: string
  entries: PlanEntry[]
  /** The text of a plan that is a document, shown as Markdown. */
  markdown?: string
  /** The file that contains the plan. */
  uri?: string
}

/**
 * A slash command, of `available_commands_update`.
 * @see https://agentclientprotocol.com/protocol/v1/slash-commands#availablecommand
 * @see https://agentclientprotocol.com/protocol/v2/draft/slash-commands#availablecommand
 */
export interface Command {
  name: string
  description: string
  /** A hint for the input that the command takes. */
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
/**
 * @see https://agentclientprotocol.com/protocol/v1/session-config-options#configoption
 * @see https://agentclientprotocol.com/protocol/v2/draft/session-config-options#configoption
 * @see https://agentclientprotocol.com/protocol/v1/session-modes for modes, which become options of category `mode`
 */
export type ConfigOption =
  | (ConfigOptionBase & { type: 'select'; currentValue: string; choices: SelectChoice[] })
  | (ConfigOptionBase & { type: 'boolean'; currentValue: boolean })
  | (ConfigOptionBase & { type: 'unknown'; raw: unknown })

/** Returns the last known options of a session; `undefined` if there are none. Called when they are needed. */
export type LastOptions = () => readonly ConfigOption[] | undefined

/**
 * How full the context is, of `usage_update`.
 * @see https://agentclientprotocol.com/rfds/session-usage
 * @see https://agentclientprotocol.com/protocol/v2/draft/prompt-lifecycle#session-usage-updates
 */
export interface Usage {
  /** tokens in the context now */
  used: number
  /** the context's size in tokens */
  size: number
  cost?: Cost
  /** tokens of the turn or session, as reported at the end of a turn (unstable) */
  tokens?: TokenCount
  /** the limits of the user's subscription, by their kind; an extension, see `wire/extensions.ts` */
  limits?: UsageLimit[]
}

/** How much of a limit of the user's subscription is used. */
export interface UsageLimit {
  kind: Open<'five_hour' | 'seven_day' | 'seven_day_opus' | 'seven_day_sonnet' | 'overage'>
  status: Open<'allowed' | 'allowed_warning' | 'rejected'>
  /** 0 to 1 */
  share?: number
  /** milliseconds since the epoch */
  resetsAt?: number
}

/** The cost of a session since it began. */
export interface Cost {
  amount: number
  /** an ISO 4217 currency code, or another unit such as `credits` */
  currency: string
}

/**
 * Tokens, as the agent counts them (unstable).
 * @see https://agentclientprotocol.com/rfds/end-turn-token-usage
 */
export interface TokenCount {
  /** v2 counts the turn that ended. The specification of v1 says both turn and session; measured agents count the turn. */
  of: 'turn' | 'unknown'
  total: number
  input: number
  output: number
  thought?: number
  cachedRead?: number
  cachedWrite?: number
  /** the tokens of each model, if the agent reports them; an extension, see `wire/extensions.ts` */
  models?: ModelTokens[]
}
export type ModelTokens = Pick<TokenCount, 'total' | 'input' | 'output'> & { model: string }

/**
 * @see https://agentclientprotocol.com/protocol/v1/prompt-turn#stop-reasons
 * @see https://agentclientprotocol.com/protocol/v2/draft/prompt-lifecycle#stop-reasons
 */
export type StopReason = Open<
  'end_turn' | 'max_tokens' | 'max_turn_requests' | 'refusal' | 'cancelled' | 'error'
>
export type MessageRole = 'user' | 'agent' | 'thought'

/**
 * An error of the agent. `message` is a sentence, `detail` everything else that it sent.
 * @see https://agentclientprotocol.com/protocol/v1/error
 * @see https://agentclientprotocol.com/protocol/v2/draft/error
 */
export interface AgentErrorInfo {
  code: number
  message: string
  detail?: string
}

/**
 * Work that continues outside of the turn, by id. If `background` is present, the lists are complete; if it's absent,
 * the agent reported nothing.
 * @see https://agentclientprotocol.com/protocol/v2/draft/prompt-lifecycle#background-work
 */
export interface ReportedBackground {
  /** tool calls */
  background?: string[]
  backgroundTerminals?: string[]
  /** sessions of subagents */
  backgroundSubagents?: string[]
  /** number of further items, of kinds that this version of Parley doesn't know */
  backgroundOthers?: number
}

/**
 * One `session/update` of an agent.
 * @see https://agentclientprotocol.com/protocol/v1/prompt-turn#3-agent-reports-output
 * @see https://agentclientprotocol.com/protocol/v2/draft/prompt-lifecycle#3-agent-reports-output
 */
export type SessionUpdate =
  /** A chunk of a message. Without `messageId` it belongs to the open message of its role. */
  | { type: 'message_chunk'; role: MessageRole; messageId?: string; content: ContentBlock }
  /** Ends the open message: the next chunk without a `messageId` starts a new one. */
  | { type: 'message_end' }
  /** A whole message: absent content keeps, `null` clears, a list replaces. */
  | { type: 'message'; role: MessageRole; messageId: string; content?: ContentBlock[] | null }
  /** `isNew`: the agent announces the tool call instead of updating it (v1). Some announce one more than once. */
  | { type: 'tool_call'; toolCall: ToolCallPatch; isNew?: true }
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
  /** An absent cost keeps the previous one, `null` clears it. */
  | {
      type: 'usage'
      usage: Omit<Usage, 'cost' | 'tokens' | 'limits'> & { cost?: Cost | null; limit?: UsageLimit }
    }
  /** A suggestion for the next prompt; without a text: none. An extension, see `wire/extensions.ts`. */
  | { type: 'suggestion'; text?: string }
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
   * The turn is over. `stopReason` is absent if the session is idle for another reason (v2). All tool calls have ended,
   * except those in the background.
   */
  | ({
      type: 'state'
      state: 'idle'
      stopReason?: StopReason
      /** Set by the session: the agent canceled the turn although the user didn't ask for it. */
      canceledBy?: 'agent'
      error?: AgentErrorInfo
      tokens?: TokenCount
    } & ReportedBackground)
  /** An update of a kind that this version of Parley doesn't know, kept as it is and shown generically. */
  | { type: 'unknown'; kind: string; raw: unknown }

// ---- requests of the agent -----------------------------------------------------------------------------------------
// https://agentclientprotocol.com/protocol/v1/tool-calls#requesting-permission
// https://agentclientprotocol.com/protocol/v2/draft/tool-calls#requesting-permission

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
  /** Only in Parley's own questions: the names of the options describe all of their effects, and their kinds mean nothing. */
  isChoice?: true
  /** Only in Parley's own questions: the question is about the session, so it stays open when a turn ends. */
  outlastsTurn?: true
  /** Only for the editor tools: `vscode.rename_symbol`. */
  editorTool?: string
  /** Only for the editor tools: the code that would run. */
  code?: string
}
export type PermissionOutcome = { type: 'selected'; optionId: string } | { type: 'cancelled' }

/** One field of a form. `key` names its value in the answer. */
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
    /** Of a type that this version of Parley doesn't know; it can't be filled in. */
    | { type: 'unknown'; raw: unknown }
  )
interface ElicitationBase {
  message: string
  /**
   * The session of the elicitation. Absent if the elicitation belongs to a request of the client (signing in, for example) and ends with
   * that request.
   */
  sessionId?: string
  toolCallId?: string
}
/**
 * A form to fill in or a URL to open.
 * @see https://agentclientprotocol.com/protocol/v1/elicitation
 * @see https://agentclientprotocol.com/protocol/v2/draft/elicitation
 */
export type ElicitationRequest = ElicitationBase &
  (
    | { mode: 'form'; title?: string; description?: string; fields: ElicitationField[] }
    /** `url` is a valid absolute URL; its target isn't checked. */
    | { mode: 'url'; elicitationId: string; url: string }
  )
export type ElicitationValue = string | number | boolean | string[]
export type ElicitationOutcome =
  /** `content`: the values of the form by key; absent for a URL, which the user agreed to open */
  | { action: 'accept'; content?: Record<string, ElicitationValue> }
  | { action: 'decline' }
  | { action: 'cancel' }

/**
 * `fs/read_text_file` and `fs/write_text_file`, v1 only.
 * @see https://agentclientprotocol.com/protocol/v1/initialization#file-system
 */
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
/** `terminal/*` (v1 only): https://agentclientprotocol.com/protocol/v1/terminals */
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
// https://agentclientprotocol.com/protocol/v1/session-setup
// https://agentclientprotocol.com/protocol/v2/draft/session-setup

/**
 * An MCP server; the shape on the wire differs by version.
 * @see https://agentclientprotocol.com/protocol/v1/session-setup#mcp-servers
 * @see https://agentclientprotocol.com/protocol/v2/draft/session-setup#mcp-servers
 */
export type McpServer =
  | {
      type: 'stdio'
      name: string
      command: string
      args: string[]
      env: Array<{ name: string; value: string }>
    }
  | { type: 'http' | 'sse'; name: string; url: string; headers: Array<{ name: string; value: string }> }

/**
 * An MCP server of the client, which the agent reaches through its connection (unstable). `serverId` is never used twice.
 * @see https://agentclientprotocol.com/rfds/mcp-over-acp
 */
export interface AcpMcpServer {
  type: 'acp'
  name: string
  serverId: string
}

/** A request of the agent to an {@link AcpMcpServer}. */
export interface McpRequest {
  serverId: string
  /** Chosen by the agent; unique among the server's requests in progress. */
  requestId: string
  method: string
  params?: { [key: string]: unknown }
}

/** The answer to an {@link McpRequest}, in MCP's terms. */
export type McpOutcome =
  | { result: unknown }
  | { error: { code: number; message: string; data?: unknown; [key: string]: unknown } }

/** Where a session works: absolute paths. */
export interface Roots {
  cwd: string
  /** Sent only to an agent that has the capability. */
  additionalDirectories: string[]
}

/**
 * @see https://agentclientprotocol.com/protocol/v1/session-setup#creating-a-session
 * @see https://agentclientprotocol.com/protocol/v2/draft/session-setup#creating-a-session
 */
export interface SessionSetup extends Roots {
  mcpServers: Array<McpServer | AcpMcpServer>
  /** The user's system prompt, sent only to agents with the capability (unstable); `override` only to agents that support it. */
  systemPrompt?: { mode: 'append' | 'override'; content: ContentBlock[] }
}

/** The answer that starts a session. A field is `undefined` if the agent didn't report it. */
export interface SessionStart {
  sessionId: string
  configOptions?: ConfigOption[]
  commands?: Command[]
}

/**
 * A session as the agent lists it.
 * @see https://agentclientprotocol.com/protocol/v1/session-list#listing-sessions
 * @see https://agentclientprotocol.com/protocol/v2/draft/session-list#listing-sessions
 */
export interface SessionInfo {
  sessionId: string
  cwd: string
  additionalDirectories: string[]
  title?: string
  /** milliseconds since the epoch */
  updatedAt?: number
  /** Reported by agents that can archive sessions. */
  archived?: boolean
}

/**
 * Whether the user is signed in to the agent (unstable).
 * @see https://agentclientprotocol.com/rfds/get-auth-state
 */
export interface AuthStatus {
  state: Open<'authenticated' | 'unauthenticated' | 'not_required' | 'unknown'>
  accounts: Array<{ label: string; active?: boolean; name?: string; email?: string; organization?: string }>
}

/**
 * A model provider that can be configured for the agent (unstable).
 * @see https://agentclientprotocol.com/rfds/custom-llm-endpoint
 */
export interface Provider {
  providerId: string
  /** supported API types: `anthropic`, `openai`, … */
  supported: string[]
  /** The agent doesn't work without it. */
  required: boolean
  current?: { apiType: string; baseUrl: string }
}

/**
 * A way to sign in, as `initialize` lists it.
 * @see https://agentclientprotocol.com/protocol/v1/authentication#authentication-method-types
 * @see https://agentclientprotocol.com/protocol/v2/draft/authentication#authentication-method-types
 */
export interface AuthMethod {
  methodId: string
  type: Open<'agent' | 'terminal' | 'env_var'>
  name: string
  description?: string
  /** terminal: what to run besides the agent's own command */
  terminal?: { command?: string; args: string[]; env: Record<string, string>; label?: string }
  /** Environment variables to ask for; the agent is restarted with them. An `agent` method may have them, too. */
  vars?: Array<{ name: string; label?: string; secret: boolean; optional: boolean }>
  /** The agent needs the URL of a gateway, which only its own settings can contain. */
  gateway?: true
}

/** Where an agent runs; both are absent for one on this machine. */
export interface AgentPlace {
  /** It has neither the files nor the terminals of this machine, and can't reach the editor's own MCP server. */
  isRemote?: boolean
  /** The agent's paths are paths of another machine, except in these folders, whose paths Parley translates. */
  pathMappings?: readonly PathMapping[]
}

/**
 * What an agent can do. A capability that is absent on the wire is `false`.
 * @see https://agentclientprotocol.com/protocol/v1/initialization#agent-capabilities
 * @see https://agentclientprotocol.com/protocol/v2/draft/initialization#agent-capabilities
 */
export interface AgentCapabilities extends AgentPlace {
  /** `load` replays the whole conversation. (v2: resume with `replayFrom`.) */
  load: boolean
  resume: boolean
  list: boolean
  close: boolean
  delete: boolean
  additionalDirectories: boolean
  logout: boolean
  /** `acp`: servers of the client, through this connection (unstable); present only if `true` */
  mcp: { stdio: boolean; http: boolean; sse: boolean; acp?: true }
  prompt: { image: boolean; audio: boolean; embeddedContext: boolean }
  /** Unstable; present only if `true`. */
  fork?: boolean
  setTitle?: boolean
  archive?: boolean
  sessionStatus?: boolean
  authStatus?: boolean
  providers?: boolean
  systemPrompt?: { override: boolean }
  /** A fork can end at a message; an extension, see `wire/fork-point.ts`. */
  forkAtMessage?: boolean
  /** Names of tools that the agent hides from its model, whichever MCP server has them; see `wire/initialize.ts`. */
  hiddenTools?: readonly string[]
  /** A prompt can be added to the running turn; an extension, see `wire/steering.ts`. */
  steering?: boolean
}

/**
 * What an agent did with a prompt for the running turn:
 * - `injected`: added it to the running turn.
 * - `startedNewTurn`: no turn was running, so it started one that answers no `session/prompt`.
 * - `promptRequired`: no turn was running, and it took nothing.
 * - `failed`: it took nothing.
 */
export type SteeringOutcome = 'injected' | 'startedNewTurn' | 'promptRequired' | 'failed'

/**
 * The model of what agents report, shaped like ACP v2: messages, tool calls, plans and terminals have ids and are upserted. `v1/` and `v2/`
 * map their wire formats to this model; no other layer knows the protocol version. Fields are plain data (structured-cloneable). Open enums
 * are `Known | (string & {})`: unknown values are kept and shown unchanged.
 *
 * Each block links to its section of the specification: v1 (released) and v2 (a draft). Blocks without a link, and fields marked as
 * unstable, are in the unstable schema only.
 */

import type { PathMapping } from '../common/path-mapping.ts'
import type { TOOL_KINDS } from '../common/tool-kinds.ts'

/** Allows any string, and lets editors complete the known values. */
export type Open<T extends string> = T | (string & {})

// ---- content -------------------------------------------------------------------------------------------------------
// https://agentclientprotocol.com/protocol/v1/content
// https://agentclientprotocol.com/protocol/v2/draft/content

interface Addressed {
  /** The annotations address this block only to the model, so the view shows the block only on demand. */
  agentOnly?: true
}
export interface TextBlock extends Addressed {
  type: 'text'
  text: string
}
/** An image. `data` is base64. */
export interface ImageBlock extends Addressed {
  type: 'image'
  data: string
  mimeType: string
  uri?: string
}
/** A piece of audio. `data` is base64. */
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
  /** the resource's size in bytes */
  size?: number
  /** when the resource was last modified, in milliseconds since the epoch */
  lastModified?: number
  /** at most one icon for each theme, and one for all themes */
  icons?: LinkIcon[]
}
/** An icon of a link. `src` is a `data:` URI of an image. */
export interface LinkIcon {
  src: string
  theme?: 'light' | 'dark'
}
/** An embedded resource, which has either `text` or `blob` (base64). */
export interface ResourceBlock extends Addressed {
  type: 'resource'
  uri: string
  mimeType?: string
  text?: string
  blob?: string
  /** when the resource was last modified, in milliseconds since the epoch */
  lastModified?: number
  /** The agent gave the resource the highest priority, so the view shows its content without a click. */
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
  /** The texts are known when the agent sent whole texts or a fragment (v1), and `undefined` when it sent only a patch (v2). */
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
  /** The line's number, counted from 1; absent if the agent sent none (or 0). */
  line?: number
}

/** An upsert of a tool call. An absent field keeps its value, and `null` clears it. */
export interface ToolCallPatch {
  toolCallId: string
  /** The id of the tool call that this call is a part of. An extension, see `wire/extensions.ts`. */
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
/** An upsert of a terminal. An absent field keeps its value, and `null` clears it. `output`, decoded text, replaces all output so far. */
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

/** The last reported state of a subagent. `stopReason` and `error` say how the subagent's last turn ended. */
export interface SubagentState {
  activity: Open<'running' | 'idle' | 'requires_action' | 'unknown'>
  stopReason?: StopReason
  error?: AgentErrorInfo
}

/**
 * An upsert of a session that the agent started within this session (unstable). An absent field keeps its value, and `null` clears it. A
 * `state` replaces the previous state; `null` means that the state is unknown.
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
 * An upsert of a message from one session to another (unstable). Absent fields and `null` mean the same as in {@link SubagentPatch}. `from`
 * and `to` are session ids; `fromMessageId` and `toMessageId` are the ids of the message in the updates of these sessions.
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
 * A slash command, as `available_commands_update` lists it.
 * @see https://agentclientprotocol.com/protocol/v1/slash-commands#availablecommand
 * @see https://agentclientprotocol.com/protocol/v2/draft/slash-commands#availablecommand
 */
export interface Command {
  name: string
  description: string
  /** A hint for the command's input. */
  hint?: string
}

export interface SelectChoice {
  value: string
  name: string
  description?: string
  /** The group's name, if the agent groups its choices. */
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

/** Returns the last known options of a session, or `undefined` if there are none. Called only when the options are needed. */
export type LastOptions = () => readonly ConfigOption[] | undefined

/**
 * How full the context is, as `usage_update` reports it.
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
  /** the limits of the user's subscription, one for each kind; an extension, see `wire/extensions.ts` */
  limits?: UsageLimit[]
}

/** How much of a limit of the user's subscription is used. */
export interface UsageLimit {
  kind: Open<'five_hour' | 'seven_day' | 'seven_day_opus' | 'seven_day_sonnet' | 'overage'>
  status: Open<'allowed' | 'allowed_warning' | 'rejected'>
  /** the used share of the limit, from 0 to 1 */
  share?: number
  /** when the limit resets, in milliseconds since the epoch */
  resetsAt?: number
}

/** The cost of a session since it began. */
export interface Cost {
  amount: number
  /** an ISO 4217 currency code, or another unit such as `credits` */
  currency: string
}

/**
 * Numbers of tokens, as the agent counts them (unstable).
 * @see https://agentclientprotocol.com/rfds/end-turn-token-usage
 */
export interface TokenCount {
  /** v2 counts the turn that ended. v1's specification is ambiguous (turn or session); the agents that were measured count the turn. */
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
 * An error of the agent. `message` is a sentence, and `detail` is everything else that the agent sent.
 * @see https://agentclientprotocol.com/protocol/v1/error
 * @see https://agentclientprotocol.com/protocol/v2/draft/error
 */
export interface AgentErrorInfo {
  code: number
  message: string
  detail?: string
}

/**
 * The ids of the work that continues outside of the turn. If `background` is present, the lists are complete; if `background` is absent,
 * the agent reported nothing about such work.
 * @see https://agentclientprotocol.com/protocol/v2/draft/prompt-lifecycle#background-work
 */
export interface ReportedBackground {
  /** ids of tool calls */
  background?: string[]
  backgroundTerminals?: string[]
  /** ids of the sessions of subagents */
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
  /** A chunk of a message. A chunk without a `messageId` belongs to the open message of its role. */
  | { type: 'message_chunk'; role: MessageRole; messageId?: string; content: ContentBlock }
  /** Ends the open message: the next chunk without a `messageId` starts a new one. */
  | { type: 'message_end' }
  /** A whole message. Absent content keeps the previous content, `null` clears it, and a list replaces it. */
  | { type: 'message'; role: MessageRole; messageId: string; content?: ContentBlock[] | null }
  /** `isNew`: the agent announces the tool call instead of updating it (v1). Some agents announce a tool call more than once. */
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
  /** An absent cost keeps the previous cost, and `null` clears it. */
  | {
      type: 'usage'
      usage: Omit<Usage, 'cost' | 'tokens' | 'limits'> & { cost?: Cost | null; limit?: UsageLimit }
    }
  /** A suggestion for the next prompt. Without `text`, there is no suggestion. An extension, see `wire/extensions.ts`. */
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
      /** Set by Parley's session: the agent canceled the turn although the user didn't ask for it. */
      canceledBy?: 'agent'
      error?: AgentErrorInfo
      tokens?: TokenCount
    } & ReportedBackground)
  /** An update of a kind that this version of Parley doesn't know. It's stored unchanged and shown generically. */
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
  /** Only in Parley's own questions: the options' names describe all of their effects, and their kinds mean nothing. */
  isChoice?: true
  /** Only in Parley's own questions: the question is about the session, so it stays open when a turn ends. */
  outlastsTurn?: true
  /** The name of the editor tool that asks, such as `vscode.rename_symbol`. */
  editorTool?: string
  /** The code that the editor tool would run. */
  code?: string
}
export type PermissionOutcome = { type: 'selected'; optionId: string } | { type: 'cancelled' }

/** One field of a form. `key` is the name of its value in the answer. */
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
    /** A field of a type that this version of Parley doesn't know. The user can't fill it in. */
    | { type: 'unknown'; raw: unknown }
  )
interface ElicitationBase {
  message: string
  /**
   * The session of the elicitation. Absent if the elicitation belongs to a request of the client, such as a sign-in, and ends with that
   * request.
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
    /** `url` is a valid absolute URL. Where the URL leads isn't checked. */
    | { mode: 'url'; elicitationId: string; url: string }
  )
export type ElicitationValue = string | number | boolean | string[]
export type ElicitationOutcome =
  /** `content`: the values of the form by key. Absent if the user agreed to open a URL. */
  | { action: 'accept'; content?: Record<string, ElicitationValue> }
  | { action: 'decline' }
  | { action: 'cancel' }

/**
 * The parameters of `fs/read_text_file` and `fs/write_text_file` (v1 only).
 * @see https://agentclientprotocol.com/protocol/v1/initialization#file-system
 */
export interface ReadTextFileRequest {
  sessionId: string
  path: string
  /** the first line to read, counted from 1 */
  line?: number
  /** the maximum number of lines */
  limit?: number
}
export interface WriteTextFileRequest {
  sessionId: string
  path: string
  content: string
}
/** The parameters of `terminal/create` (v1 only): https://agentclientprotocol.com/protocol/v1/terminals */
export interface CreateTerminalRequest {
  sessionId: string
  command: string
  args: string[]
  env: Array<{ name: string; value: string }>
  cwd?: string
  /** the maximum number of bytes of output to keep */
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
 * An MCP server. v1 and v2 write it differently on the wire.
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
 * An MCP server of the client, which the agent reaches through its ACP connection (unstable). `serverId` is never used twice.
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
  /** An id that the agent chooses; unique among the server's requests in progress. */
  requestId: string
  method: string
  params?: { [key: string]: unknown }
}

/** The MCP server's answer to an {@link McpRequest}: a result or an error. */
export type McpOutcome =
  | { result: unknown }
  | { error: { code: number; message: string; data?: unknown; [key: string]: unknown } }

/** The absolute paths of the folders where a session works. */
export interface Roots {
  cwd: string
  /** Sent only to agents that have the capability. */
  additionalDirectories: string[]
}

/**
 * @see https://agentclientprotocol.com/protocol/v1/session-setup#creating-a-session
 * @see https://agentclientprotocol.com/protocol/v2/draft/session-setup#creating-a-session
 */
export interface SessionSetup extends Roots {
  mcpServers: Array<McpServer | AcpMcpServer>
  /**
   * The user's system prompt (unstable), sent only to agents with the capability. Mode `override` is sent only to agents that support it.
   */
  systemPrompt?: { mode: 'append' | 'override'; content: ContentBlock[] }
}

/** The agent's answer to a request that starts a session. A field is `undefined` if the agent didn't report it. */
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
  /** when the session was last updated, in milliseconds since the epoch */
  updatedAt?: number
  /** Reported only by agents that can archive sessions. */
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
  /** The agent doesn't work without this provider. */
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
  /** for type `terminal`: the program to run; without `command`, the agent's own program gets these `args` and `env` */
  terminal?: { command?: string; args: string[]; env: Record<string, string>; label?: string }
  /** The environment variables to ask for; the agent is then restarted with their values. A method of type `agent` may have them, too. */
  vars?: Array<{ name: string; label?: string; secret: boolean; optional: boolean }>
  /** The method needs the URL of a gateway, which only the agent's own settings can contain. */
  gateway?: true
}

/** Where an agent runs. Both fields are absent for an agent on this machine. */
export interface AgentPlace {
  /** The agent runs without this machine's files and terminals, and can't reach the editor's own MCP server. */
  isRemote?: boolean
  /** The agent's paths belong to another machine. In these folders, Parley translates them. */
  pathMappings?: readonly PathMapping[]
}

/**
 * What an agent can do. A capability that is absent on the wire is `false`.
 * @see https://agentclientprotocol.com/protocol/v1/initialization#agent-capabilities
 * @see https://agentclientprotocol.com/protocol/v2/draft/initialization#agent-capabilities
 */
export interface AgentCapabilities extends AgentPlace {
  /** The agent can replay a whole conversation (v1: `session/load`; v2: `session/resume` with `replayFrom`). */
  load: boolean
  resume: boolean
  list: boolean
  close: boolean
  delete: boolean
  additionalDirectories: boolean
  logout: boolean
  /** `acp`: servers of the client that the agent reaches through its ACP connection (unstable); present only if `true` */
  mcp: { stdio: boolean; http: boolean; sse: boolean; acp?: true }
  prompt: { image: boolean; audio: boolean; embeddedContext: boolean }
  /** Unstable. Each of the following capabilities is present only if the agent has it. */
  fork?: boolean
  setTitle?: boolean
  archive?: boolean
  sessionStatus?: boolean
  authStatus?: boolean
  providers?: boolean
  systemPrompt?: { override: boolean }
  /** A fork can end at a message; an extension, see `wire/fork-point.ts`. */
  forkAtMessage?: boolean
  /** Names of the tools that the agent hides from its model, whichever MCP server offers them; see `wire/initialize.ts`. */
  hiddenTools?: readonly string[]
  /** A prompt can be added to the running turn; an extension, see `wire/steering.ts`. */
  steering?: boolean
}

/**
 * What an agent did with a prompt for the running turn:
 * - `injected`: The agent added the prompt to the running turn.
 * - `startedNewTurn`: No turn was running, so the agent started a turn that answers no `session/prompt`.
 * - `promptRequired`: No turn was running, and the agent didn't take the prompt.
 * - `failed`: The agent didn't take the prompt.
 */
export type SteeringOutcome = 'injected' | 'startedNewTurn' | 'promptRequired' | 'failed'

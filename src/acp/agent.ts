import * as l10n from '@vscode/l10n'
import type { Disposable } from '../common/disposable.ts'
import type { Event } from '../common/event.ts'
import type { Logger } from '../common/logger.ts'
import type { PathMapping } from '../common/path-mapping.ts'
import type { ProcessGuard } from '../common/processes/process-guard.ts'
import type { SecretRegistry } from '../common/secrets.ts'
import type {
  AgentCapabilities,
  AuthMethod,
  AuthStatus,
  Command,
  ConfigOption,
  ContentBlock,
  CreateTerminalRequest,
  ElicitationOutcome,
  ElicitationRequest,
  LastOptions,
  McpOutcome,
  McpRequest,
  PermissionOutcome,
  PermissionRequest,
  Provider,
  ReadTextFileRequest,
  SessionInfo,
  SessionSetup,
  SessionStart,
  SessionUpdate,
  SteeringOutcome,
  TerminalExit,
  TerminalOutput,
  WriteTextFileRequest,
} from './model.ts'
import type { ConnectionProblem, RemoteAddress } from './remote-address.ts'
import type { HostedLink, RunningProcess, StartProcess } from './transport/running-process.ts'

/**
 * A running agent, as other layers see it: its capabilities and its methods, in the terms of the model.
 *
 * Order: an update that is sent before a response is delivered before the promise of the response resolves. Every method rejects with
 * {@link AgentRequestError} if the agent answers with an error, and with {@link AgentClosedError} if the agent has exited. If the agent
 * lacks a method's capability, the method rejects with `AgentRequestError` of kind `unsupported` and sends nothing.
 */
export interface Agent extends Disposable {
  // ---- https://agentclientprotocol.com/protocol/v1/initialization
  // ---- https://agentclientprotocol.com/protocol/v2/draft/initialization
  readonly info: { name: string; title?: string; version?: string }
  readonly protocolVersion: number
  readonly capabilities: AgentCapabilities
  readonly authMethods: readonly AuthMethod[]

  /** `session/update`: https://agentclientprotocol.com/protocol/v1/prompt-turn#3-agent-reports-output */
  readonly onUpdate: Event<{ sessionId: string; update: SessionUpdate }>
  /** Fires once, when the connection ends for any reason. */
  readonly onDidClose: Event<AgentExit>

  // ---- https://agentclientprotocol.com/protocol/v1/session-setup
  // ---- https://agentclientprotocol.com/protocol/v2/draft/session-setup

  /**
   * Creates a session. Rejects with an `AgentRequestError` (`cancelled`) as soon as `signal` aborts. If the agent creates the session
   * nevertheless, `onLate` receives it.
   */
  newSession(
    setup: SessionSetup,
    signal?: AbortSignal,
    onLate?: (start: SessionStart) => void,
  ): Promise<SessionStart>
  /**
   * Loads a session. The agent replays the conversation as updates before the promise resolves (some agents: after). `lastOptions` returns
   * the last known options, in place of options that the agent doesn't report.
   * @see https://agentclientprotocol.com/protocol/v1/session-setup#loading-sessions
   */
  loadSession(
    sessionId: string,
    setup: SessionSetup,
    signal?: AbortSignal,
    lastOptions?: LastOptions,
  ): Promise<SessionStart>
  resumeSession(
    sessionId: string,
    setup: SessionSetup,
    signal?: AbortSignal,
    lastOptions?: LastOptions,
  ): Promise<SessionStart>
  /**
   * Lists one page of sessions. Pass the page's `nextCursor` as `cursor` to get the next page. `archived` is sent only to agents that can
   * archive sessions; without it, the agent decides whether to list archived sessions.
   */
  listSessions(
    query: { cwd?: string; cursor?: string; archived?: 'exclude' | 'include' | 'only' },
    signal?: AbortSignal,
  ): Promise<{ sessions: SessionInfo[]; nextCursor?: string }>
  closeSession(sessionId: string): Promise<void>
  deleteSession(sessionId: string): Promise<void>
  /**
   * Starts a turn. Resolves when the agent has accepted the prompt (v2) or when the turn has ended (v1). In both versions, `state` updates
   * report the start and the end of the turn before the promise resolves. `messageId` (v2) is the id of the user's message; the agent's
   * echo of the message has the same id.
   * @see https://agentclientprotocol.com/protocol/v1/prompt-turn
   * @see https://agentclientprotocol.com/protocol/v2/draft/prompt-lifecycle
   */
  // biome-ignore lint/suspicious/noConfusingVoidType: v1 has no id to return.
  prompt(sessionId: string, content: ContentBlock[]): Promise<void | { messageId?: string }>
  /**
   * Asks the agent to stop the turn. A `state` update still reports the end of the turn.
   * @see https://agentclientprotocol.com/protocol/v1/prompt-turn#cancellation
   * @see https://agentclientprotocol.com/protocol/v2/draft/prompt-lifecycle#cancellation
   */
  cancel(sessionId: string): void
  /**
   * Sets a config option. In v1, modes and models are also set in this way.
   * @see https://agentclientprotocol.com/protocol/v1/session-modes
   * @see https://agentclientprotocol.com/protocol/v2/draft/session-config-options#setting-a-config-option
   */
  setConfigOption(sessionId: string, optionId: string, value: string | boolean): Promise<void>
  authenticate(methodId: string, signal?: AbortSignal): Promise<void>
  logout(): Promise<void>

  /**
   * Stops one tool call that has `canCancel` (v2). The turn continues.
   * @see https://agentclientprotocol.com/protocol/v2/draft/tool-calls#cancelling-tool-calls
   */
  cancelToolCall?(sessionId: string, toolCallId: string): Promise<void>
  /**
   * Stops the command in a terminal of the agent that has `canCancel` (v2).
   * @see https://agentclientprotocol.com/protocol/v2/draft/tool-calls#cancelling-terminals
   */
  cancelTerminal?(sessionId: string, terminalId: string): Promise<void>

  /**
   * Adds a prompt to the running turn. Resolves when the agent has answered what it did with the prompt. An extension with its own
   * capability; see `wire/steering.ts`.
   */
  steer?(sessionId: string, content: ContentBlock[]): Promise<SteeringOutcome>

  /** Present if the agent can outlive this window. */
  readonly hosted?: HostedAgent
  /** Present if an earlier window started the agent. Then no message of the agent arrives before `begin` is called. */
  readonly attached?: AttachedAgent

  // The following members are unstable. Each has its own capability.
  /**
   * Creates a session that starts with the conversation of another session. `at` is the id of the last agent message in the new session,
   * for agents with `forkAtMessage`.
   */
  forkSession?(
    sessionId: string,
    setup: SessionSetup,
    signal?: AbortSignal,
    onLate?: (start: SessionStart) => void,
    at?: string,
  ): Promise<SessionStart>
  /** Resolves to the title that the agent set, which may differ from `title`. */
  setSessionTitle?(sessionId: string, title: string): Promise<string>
  archiveSession?(sessionId: string): Promise<void>
  unarchiveSession?(sessionId: string): Promise<void>
  /** Resolves to the session's `status` (`open` or `saved`) and its `activity`, if the agent reports it. */
  sessionStatus?(sessionId: string): Promise<{ status: string; activity?: string }>
  authStatus?(signal?: AbortSignal): Promise<AuthStatus>
  readonly onAuthStatus?: Event<AuthStatus>
  listProviders?(): Promise<Provider[]>
  setProvider?(
    providerId: string,
    config: { apiType: string; baseUrl: string; headers?: Record<string, string> },
  ): Promise<void>
  disableProvider?(providerId: string): Promise<void>
}

/** An agent whose process is in the agent host. */
export interface HostedAgent
  extends Pick<
    HostedLink,
    'id' | 'outlivesWindow' | 'keep' | 'confirm' | 'commandsOf' | 'serve' | 'onDidLose'
  > {
  /**
   * The number of the last frame that arrived from the agent. Frames are counted from the agent's start, across all windows that read them.
   */
  readonly arrived: number
  /** The number of the last frame that was handled, or of the notification that is being handled now. */
  readonly handled: number
  /** Stores a note about a session for the window that attaches next; `undefined` removes the note of a session that isn't open anymore. */
  note(sessionId: string, note: SessionNote | undefined): void
  /**
   * Hands the agent over to the next window. Messages that were sent earlier still reach the agent; then nothing is sent or received
   * anymore, and the connection ends. Resolves when another window can attach. If a window has attached already, resolves to the ids of the
   * sessions whose last prompt the agent didn't get.
   */
  leave(): Promise<string[]>
}

/** What a window stores about a session for the next window, in addition to the conversation. */
export interface SessionNote {
  configOptions: ConfigOption[]
  commands: Command[]
  /** The user stopped the turn, so queued prompts wait. */
  isPaused: boolean
  /** Absent if the session has no MCP server of the window. */
  server?: ToolServerAddress | undefined
  /** The MCP servers of the session that the view shows. */
  mcpServers?: readonly unknown[]
  /** The permission level of the session (see `SessionAllowance`). */
  allowance?: unknown
  /** Options to set in a new session before its first prompt. */
  startOptions?: unknown
  /** Changes of the conversation that the window couldn't store, in the host's memory until they are stored. */
  unsaved?: unknown
}

/**
 * The address at which a session's agent reaches the MCP server of its window. The next window serves the same address. The address is only
 * in the host's memory, because whoever knows it can use the server.
 */
export type ToolServerAddress = LocalServerAddress | AcpServerAddress

interface ServerAddress {
  name: string
  /** marks data in the server's answers; the agent got the mark when it connected */
  mark: string
}

export interface LocalServerAddress extends ServerAddress {
  port: number
  path: string
  token: string
}

/** The address of a server that the agent reaches through its ACP connection. */
export interface AcpServerAddress extends ServerAddress {
  serverId: string
}

/** An agent that an earlier window started. */
export interface AttachedAgent {
  /** The sessions that the earlier window had open. */
  readonly sessions: readonly AttachedSession[]
  /** The agent has exited, so another process may continue its sessions. */
  readonly isOver: boolean
  /**
   * Starts reading the agent's messages: first the messages that no window has stored yet, then the requests that no window has answered.
   * Resolves when all of these have arrived.
   */
  begin(): Promise<void>
}

export interface AttachedSession {
  sessionId: string
  start: SessionStart
  note: SessionNote
  /** Present if the agent hasn't answered the earlier window's prompt, or if this `frame`, which arrives again, contains the answer. */
  prompt?: { frame?: number; settle(): ReturnType<Agent['prompt']> }
}

/**
 * What an agent may request from the client. If a method rejects, the agent gets a JSON-RPC error with the rejection's message.
 * @see https://agentclientprotocol.com/protocol/v1/overview#client
 * @see https://agentclientprotocol.com/protocol/v2/draft/overview
 */
export interface AgentClient {
  /**
   * Asks the user for a permission. Resolves to `cancelled` when the turn is stopped or over, and when `signal` aborts because the agent
   * withdrew the request (`$/cancel_request`) or exited. The client must end its pending requests; nothing else ends them.
   * @see https://agentclientprotocol.com/protocol/v1/tool-calls#requesting-permission
   * @see https://agentclientprotocol.com/protocol/v2/draft/tool-calls#requesting-permission
   */
  requestPermission(request: PermissionRequest, signal: AbortSignal): Promise<PermissionOutcome>
  /**
   * Resolves to the text of a file, including unsaved changes. Rejects with {@link FileMissingError} if the file doesn't exist. If the user
   * is asked first, the question closes when `signal` aborts.
   * @see https://agentclientprotocol.com/protocol/v1/initialization#file-system
   */
  readTextFile(request: ReadTextFileRequest, signal?: AbortSignal): Promise<string>
  writeTextFile(request: WriteTextFileRequest, signal?: AbortSignal): Promise<void>
  /** https://agentclientprotocol.com/protocol/v1/terminals */
  createTerminal(request: CreateTerminalRequest): Promise<{ terminalId: string }>
  terminalOutput(sessionId: string, terminalId: string): Promise<TerminalOutput>
  waitForTerminalExit(sessionId: string, terminalId: string): Promise<TerminalExit>
  killTerminal(sessionId: string, terminalId: string): Promise<void>
  releaseTerminal(sessionId: string, terminalId: string): Promise<void>
  /**
   * Asks the user to fill in a form or to open a URL. The capability is offered only if this method is present. Resolves to `cancel` where
   * `requestPermission` resolves to `cancelled`; `signal` also aborts when the client's request ends that the elicitation belongs to.
   * @see https://agentclientprotocol.com/protocol/v1/elicitation
   * @see https://agentclientprotocol.com/protocol/v2/draft/elicitation
   */
  createElicitation?(request: ElicitationRequest, signal: AbortSignal): Promise<ElicitationOutcome>
  /**
   * Answers a request to an MCP server that a session got with the type `acp`. `notify` sends notifications about the request until the
   * request is answered. Rejects with an `RpcError` if the server can't be reached.
   */
  mcpMessage?(
    request: McpRequest,
    signal: AbortSignal,
    notify: (method: string, params?: { [key: string]: unknown }) => void,
  ): Promise<McpOutcome>
  /** The user has completed the elicitation at the URL: https://agentclientprotocol.com/protocol/v1/elicitation#url-completion */
  elicitationComplete?(elicitationId: string): void
}

/** How an agent's connection ended. */
export interface AgentExit {
  reason: 'disposed' | 'exited' | 'stream' | 'protocol' | 'connection'
  exitCode?: number | null
  signal?: string | null
  /** A sentence for the user, if there is more to say than the exit code. */
  message?: string
  /** Why the connection to an agent on a server was lost, for the reason `connection`. */
  problem?: ConnectionProblem
  /** The last lines of stderr. */
  stderrTail: string
}

/** Why an agent couldn't be started; the view has a card for each kind. */
export type AgentStartFailure =
  /** `searched`: the directories of the PATH that were searched. */
  | { kind: 'command-missing'; command: string; searched: string[] }
  | { kind: 'spawn'; command: string; message: string }
  /** an agent on a server that can't be reached */
  | { kind: 'unreachable'; command: string; message: string; problem: ConnectionProblem }
  | { kind: 'exited'; command: string; exit: AgentExit; stdoutNoise: string }
  | { kind: 'initialize-timeout'; command: string; seconds: number; stderrTail: string; stdoutNoise: string }
  | {
      kind: 'initialize-error'
      command: string
      error: { code: number; message: string; detail?: string }
      /** The sign-in methods that the error lists, if the agent requires a sign-in before it starts (-32000). */
      authMethods?: readonly AuthMethod[]
      stderrTail: string
    }
  | { kind: 'version'; command: string; offered: number; supported: number[] }
  | { kind: 'cancelled' }

export class AgentStartError extends Error {
  override readonly name = 'AgentStartError'
  readonly failure: AgentStartFailure

  constructor(failure: AgentStartFailure, message: string) {
    super(message)
    this.failure = failure
  }
}

/** An agent that another window started doesn't run anymore. */
export class AgentGoneError extends Error {
  override readonly name = 'AgentGoneError'

  constructor() {
    super('The agent ended meanwhile, or another window has it.')
  }
}

/** The agent answered with an error, or the request couldn't be sent. */
export class AgentRequestError extends Error {
  override readonly name = 'AgentRequestError'
  readonly method: string
  readonly code: number
  /** The text in the error's `data`, if any. */
  readonly detail: string | undefined
  readonly kind: 'auth-required' | 'not-found' | 'cancelled' | 'unsupported' | 'invalid-response' | 'other'

  constructor(
    method: string,
    kind: AgentRequestError['kind'],
    error: { code: number; message: string; detail?: string },
  ) {
    super(error.message)
    this.method = method
    this.kind = kind
    this.code = error.code
    this.detail = error.detail
  }
}

/** The agent exited before it answered. */
export class AgentClosedError extends Error {
  override readonly name = 'AgentClosedError'
  readonly exit: AgentExit

  constructor(exit: AgentExit) {
    super(exit.message ?? l10n.t("The agent isn't running."))
    this.exit = exit
  }
}

/** There is no file at the path that the agent requested. */
export class FileMissingError extends Error {
  override readonly name = 'FileMissingError'
}

/** The process to start, completely resolved: its paths are absolute, and `env` is its whole environment. */
export interface AgentLaunch {
  command: string
  args: string[]
  env: Record<string, string>
  cwd: string
  /** Present if the agent runs on a server: then no process is started, and `command` is the server's address as users see it. */
  remote?: RemoteAddress
}

export interface ConnectOptions {
  clientInfo: { name: string; title: string; version: string }
  initializeTimeoutMs: number
  /** The maximum size of a line; a longer line closes the connection with an error. */
  maxFrameBytes: number
  log: Logger
  /** Receives stderr line by line. */
  onStderr?: (line: string) => void
  tap?: ConnectionTap
  /** Ends the agent if this process dies without ending it. */
  guard?: ProcessGuard
  /** Creates the agent's process; by default, as a child of this process. */
  startProcess?: StartProcess
  /** Connects to an agent on a server. */
  startRemote?: StartRemote
  /** Secrets to redact in errors, logs and the agent's output. */
  secrets?: SecretRegistry
  signal?: AbortSignal
  /**
   * The protocol version to offer: `stable` (default) is the released version, and `latest` is the draft. If the agent supports only the
   * other version, that version is used.
   * @see https://agentclientprotocol.com/protocol/v2/draft/initialization#version-negotiation
   */
  protocol?: 'stable' | 'latest'
  /** What the client supports beyond the protocol's methods; everything is `false` by default. */
  features?: {
    /** Whether sign-in methods can run in a terminal. */
    terminalAuth?: boolean
    /** The agent has neither this machine's files nor its terminals. */
    isRemote?: boolean
    /** The agent's paths belong to another machine. In these folders, Parley translates them. */
    pathMappings?: readonly PathMapping[]
  }
}

/** Spawns and initializes an agent. Rejects with {@link AgentStartError} and leaves nothing running. */
export type StartAgent = (launch: AgentLaunch, client: AgentClient, options: ConnectOptions) => Promise<Agent>

/** Connects to an agent on a server. Rejects with {@link ConnectionError}. */
export type StartRemote = (address: RemoteAddress, options: ConnectOptions) => Promise<RunningProcess>

/** One frame on the wire, for *Show Protocol Traffic* and the tests. */
export interface TraceFrame {
  /** when the frame was sent or received, in milliseconds since the epoch */
  at: number
  direction: 'send' | 'receive'
  message: unknown
}

/** Receives every frame. Without a tap, frames aren't inspected at all. */
export type TraceTap = (frame: TraceFrame) => void

export interface ConnectionTap {
  /** Set and unset while the agent runs. */
  readonly current: TraceTap | undefined
  /** the negotiated protocol version, set when the connection is initialized */
  version?: number
}

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
 * What other layers see of a running agent: its capabilities and its methods, in the terms of the model.
 *
 * Order: an update that is sent before a response is delivered before the promise of the response resolves. Every method
 * rejects with {@link AgentRequestError} if the agent answers with an error, and with {@link AgentClosedError} if it has
 * exited. Without the capability, a method rejects with `AgentRequestError` of kind `unsupported` and sends nothing.
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
   * Rejects with an `AgentRequestError` (`cancelled`) as soon as `signal` aborts. If the agent creates the session
   * nevertheless, `onLate` receives it.
   */
  newSession(
    setup: SessionSetup,
    signal?: AbortSignal,
    onLate?: (start: SessionStart) => void,
  ): Promise<SessionStart>
  /**
   * Replays the conversation as updates before it resolves (some agents: after). `lastOptions`: the last known options, for those that the
   * agent doesn't report.
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
   * Lists one page of sessions; pass its `nextCursor` to get the next page. `archived` is sent only to agents that can archive sessions;
   * without it, the agent decides.
   */
  listSessions(
    query: { cwd?: string; cursor?: string; archived?: 'exclude' | 'include' | 'only' },
    signal?: AbortSignal,
  ): Promise<{ sessions: SessionInfo[]; nextCursor?: string }>
  closeSession(sessionId: string): Promise<void>
  deleteSession(sessionId: string): Promise<void>
  /**
   * Starts a turn. Resolves when the agent has accepted the prompt (v2) or when the turn has ended (v1). In both versions, `state` updates
   * report the start and the end of the turn before the promise resolves. `messageId` (v2) is the id of the user's message, which
   * identifies its echo.
   * @see https://agentclientprotocol.com/protocol/v1/prompt-turn
   * @see https://agentclientprotocol.com/protocol/v2/draft/prompt-lifecycle
   */
  // biome-ignore lint/suspicious/noConfusingVoidType: v1 has no id to return.
  prompt(sessionId: string, content: ContentBlock[]): Promise<void | { messageId?: string }>
  /**
   * Asks the agent to stop the turn; a `state` update still reports its end.
   * @see https://agentclientprotocol.com/protocol/v1/prompt-turn#cancellation
   * @see https://agentclientprotocol.com/protocol/v2/draft/prompt-lifecycle#cancellation
   */
  cancel(sessionId: string): void
  /**
   * In v1 also sets the mode or the model.
   * @see https://agentclientprotocol.com/protocol/v1/session-modes
   * @see https://agentclientprotocol.com/protocol/v2/draft/session-config-options#setting-a-config-option
   */
  setConfigOption(sessionId: string, optionId: string, value: string | boolean): Promise<void>
  authenticate(methodId: string, signal?: AbortSignal): Promise<void>
  logout(): Promise<void>

  /**
   * Stops one tool call with `canCancel` (v2), not the turn.
   * @see https://agentclientprotocol.com/protocol/v2/draft/tool-calls#cancelling-tool-calls
   */
  cancelToolCall?(sessionId: string, toolCallId: string): Promise<void>
  /**
   * Stops the command in a terminal of the agent with `canCancel` (v2).
   * @see https://agentclientprotocol.com/protocol/v2/draft/tool-calls#cancelling-terminals
   */
  cancelTerminal?(sessionId: string, terminalId: string): Promise<void>

  /**
   * Adds a prompt to the running turn. Resolves when the agent has taken it, or not. An extension with its own capability;
   * see `wire/steering.ts`.
   */
  steer?(sessionId: string, content: ContentBlock[]): Promise<SteeringOutcome>

  /** Present if the agent can outlive this window. */
  readonly hosted?: HostedAgent
  /** Present if an earlier window started the agent. Then nothing arrives before `begin`. */
  readonly attached?: AttachedAgent

  // Unstable, each with its own capability.
  /**
   * A new session that starts with the conversation of another one. `at`: the id of the last agent message in the fork, for agents with
   * `forkAtMessage`.
   */
  forkSession?(
    sessionId: string,
    setup: SessionSetup,
    signal?: AbortSignal,
    onLate?: (start: SessionStart) => void,
    at?: string,
  ): Promise<SessionStart>
  /** Resolves with the title that the agent set, which may differ. */
  setSessionTitle?(sessionId: string, title: string): Promise<string>
  archiveSession?(sessionId: string): Promise<void>
  unarchiveSession?(sessionId: string): Promise<void>
  /** `status`: `open` or `saved`; `activity`: the session's activity, if the agent reports it. */
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
   * The number of the last frame from the agent that arrived. Frames are counted from the agent's start, whichever window
   * reads them.
   */
  readonly arrived: number
  /** The number of the last frame that was handled, or of the notification that is being handled now. */
  readonly handled: number
  /** Tells the window that attaches next something about a session; `undefined` if it isn't open anymore. */
  note(sessionId: string, note: SessionNote | undefined): void
  /**
   * Leaves the agent to the next window. Messages sent before reach the agent; afterward nothing is sent or received, and the connection
   * ends. Resolves when another window can attach. If a window has attached already, resolves to the ids of the sessions whose last prompt
   * the agent didn't get.
   */
  leave(): Promise<string[]>
}

/** What a window stores about a session for the next window, in addition to the conversation. */
export interface SessionNote {
  configOptions: ConfigOption[]
  commands: Command[]
  /** The user stopped the turn, so queued prompts wait. */
  isPaused: boolean
  /** Absent if the session has none. */
  server?: ToolServerAddress | undefined
  /** The displayed MCP servers of the session. */
  mcpServers?: readonly unknown[]
  /** The permission level of the session (see `SessionAllowance`). */
  allowance?: unknown
  /** Options to set in a new session before its first prompt. */
  startOptions?: unknown
  /** Changes of the conversation that the window couldn't store, in the host's memory until they are stored. */
  unsaved?: unknown
}

/**
 * Where a session's agent reaches the MCP server of its window. The next window serves the same address. Only the host's memory
 * has it, because whoever knows the address can use the server.
 */
export type ToolServerAddress = LocalServerAddress | AcpServerAddress

interface ServerAddress {
  name: string
  /** of data in the server's answers; the agent got it when it connected */
  mark: string
}

export interface LocalServerAddress extends ServerAddress {
  port: number
  path: string
  token: string
}

/** Through the agent's connection. */
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
   * Starts the agent's messages: first those that no window has stored yet, then the requests that no window has answered. Resolves when
   * these have arrived.
   */
  begin(): Promise<void>
}

export interface AttachedSession {
  sessionId: string
  start: SessionStart
  note: SessionNote
  /** The agent hasn't answered the prompt of the earlier window, or its answer is in this `frame`, which arrives again. */
  prompt?: { frame?: number; settle(): ReturnType<Agent['prompt']> }
}

/**
 * What an agent may request from the client. A rejection becomes a JSON-RPC error with its message.
 * @see https://agentclientprotocol.com/protocol/v1/overview#client
 * @see https://agentclientprotocol.com/protocol/v2/draft/overview
 */
export interface AgentClient {
  /**
   * Asks the user. Resolves to `cancelled` when `signal` aborts, since the agent withdrew the request (`$/cancel_request`) or
   * exited, and when the turn is stopped or over: the client owns the pending requests, and nothing else ends them.
   * @see https://agentclientprotocol.com/protocol/v1/tool-calls#requesting-permission
   * @see https://agentclientprotocol.com/protocol/v2/draft/tool-calls#requesting-permission
   */
  requestPermission(request: PermissionRequest, signal: AbortSignal): Promise<PermissionOutcome>
  /**
   * The text of a file, including unsaved changes. Rejects with {@link FileMissingError} if it doesn't exist. If the
   * user is asked first, that question ends when `signal` aborts.
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
   * Asks the user to fill in a form or to open a URL. The capability is offered only if this method is present.
   * Resolves to `cancel` where `requestPermission` resolves to `cancelled`; `signal` also aborts when the client's request ends
   * for which the agent asks.
   * @see https://agentclientprotocol.com/protocol/v1/elicitation
   * @see https://agentclientprotocol.com/protocol/v2/draft/elicitation
   */
  createElicitation?(request: ElicitationRequest, signal: AbortSignal): Promise<ElicitationOutcome>
  /**
   * Answers a request to an MCP server that a session got with the type `acp`. `notify` sends notifications about the request until it's
   * answered. Rejects with an `RpcError` if the server can't be reached.
   */
  mcpMessage?(
    request: McpRequest,
    signal: AbortSignal,
    notify: (method: string, params?: { [key: string]: unknown }) => void,
  ): Promise<McpOutcome>
  /** The user has finished at the URL: https://agentclientprotocol.com/protocol/v1/elicitation#url-completion */
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
  /** `searched`: the directories of the PATH that was searched. */
  | { kind: 'command-missing'; command: string; searched: string[] }
  | { kind: 'spawn'; command: string; message: string }
  /** an agent on a server */
  | { kind: 'unreachable'; command: string; message: string; problem: ConnectionProblem }
  | { kind: 'exited'; command: string; exit: AgentExit; stdoutNoise: string }
  | { kind: 'initialize-timeout'; command: string; seconds: number; stderrTail: string; stdoutNoise: string }
  | {
      kind: 'initialize-error'
      command: string
      error: { code: number; message: string; detail?: string }
      /** The ways to sign in, if the agent requires it before it starts (-32000) and lists any. */
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

/** An agent that another window started is gone. */
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

/** The process to start, fully resolved: absolute paths, the complete environment. */
export interface AgentLaunch {
  command: string
  args: string[]
  env: Record<string, string>
  cwd: string
  /** The agent runs on a server, so no process is started. `command` is the address as users see it. */
  remote?: RemoteAddress
}

export interface ConnectOptions {
  clientInfo: { name: string; title: string; version: string }
  initializeTimeoutMs: number
  /** A longer line closes the connection with an error. */
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
   * The version to offer: `stable` (default) is the released one, `latest` the draft. If the agent supports only the other version, that
   * one is used.
   * @see https://agentclientprotocol.com/protocol/v2/draft/initialization#version-negotiation
   */
  protocol?: 'stable' | 'latest'
  /** What the host supports beyond the protocol's methods; everything is `false` by default. */
  features?: {
    /** Sign-in methods that run in a terminal. */
    terminalAuth?: boolean
    /** The agent has neither this machine's files nor its terminals. */
    isRemote?: boolean
    /** The agent's paths are those of another machine, except in these folders. */
    pathMappings?: readonly PathMapping[]
  }
}

/** Spawns and initializes an agent. Rejects with {@link AgentStartError} and leaves nothing running. */
export type StartAgent = (launch: AgentLaunch, client: AgentClient, options: ConnectOptions) => Promise<Agent>

/** Rejects with {@link ConnectionError}. */
export type StartRemote = (address: RemoteAddress, options: ConnectOptions) => Promise<RunningProcess>

/** One frame on the wire, for *Show Protocol Traffic* and the tests. */
export interface TraceFrame {
  /** milliseconds since the epoch */
  at: number
  direction: 'send' | 'receive'
  message: unknown
}

/** Receives every frame. If it's absent, frames aren't inspected at all. */
export type TraceTap = (frame: TraceFrame) => void

export interface ConnectionTap {
  /** set and unset while the agent runs */
  readonly current: TraceTap | undefined
  /** the negotiated version of the protocol, set by the connection */
  version?: number
}

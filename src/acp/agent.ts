import * as l10n from '@vscode/l10n'
import type { Disposable } from '../common/disposable.ts'
import type { Event } from '../common/event.ts'
import type { Logger } from '../common/logger.ts'
import type { ProcessGuard } from '../common/processes/process-guard.ts'
import type { SecretRegistry } from '../common/secrets.ts'
import type {
  AgentCapabilities,
  AuthMethod,
  AuthStatus,
  ContentBlock,
  CreateTerminalRequest,
  ElicitationOutcome,
  ElicitationRequest,
  PermissionOutcome,
  PermissionRequest,
  Provider,
  ReadTextFileRequest,
  SessionInfo,
  SessionSetup,
  SessionStart,
  SessionUpdate,
  TerminalExit,
  TerminalOutput,
  WriteTextFileRequest,
} from './model.ts'

/**
 * What other layers see of a running agent: its capabilities as questions, its methods in the model's terms.
 *
 * Order: an update sent before a response is delivered before the response's promise resolves. Every method rejects
 * with {@link AgentRequestError} when the agent answers an error and with {@link AgentClosedError} when it is gone.
 * A method the agent has no capability for rejects with `AgentRequestError` of kind `unsupported` and sends nothing.
 */
export interface Agent extends Disposable {
  readonly info: { name: string; title?: string; version?: string }
  readonly protocolVersion: number
  readonly capabilities: AgentCapabilities
  readonly authMethods: readonly AuthMethod[]

  readonly onUpdate: Event<{ sessionId: string; update: SessionUpdate }>
  /** Fires once, when the connection ends for whatever reason. */
  readonly onDidClose: Event<AgentExit>

  /**
   * Rejects with an `AgentRequestError` (`cancelled`) as soon as `signal` aborts. An agent may make the session all the
   * same: it goes to `onLate`.
   */
  newSession(
    setup: SessionSetup,
    signal?: AbortSignal,
    onLate?: (start: SessionStart) => void,
  ): Promise<SessionStart>
  /** Replays the conversation as updates before it resolves (some agents: after). */
  loadSession(sessionId: string, setup: SessionSetup, signal?: AbortSignal): Promise<SessionStart>
  resumeSession(sessionId: string, setup: SessionSetup, signal?: AbortSignal): Promise<SessionStart>
  /**
   * One page. Pass the previous page's `nextCursor` for the next. `archived` is sent only to an agent that can archive;
   * without it the agent decides.
   */
  listSessions(
    query: { cwd?: string; cursor?: string; archived?: 'exclude' | 'include' | 'only' },
    signal?: AbortSignal,
  ): Promise<{ sessions: SessionInfo[]; nextCursor?: string }>
  closeSession(sessionId: string): Promise<void>
  deleteSession(sessionId: string): Promise<void>
  /**
   * Starts a turn. Resolves when the agent took the prompt (v2) or when the turn ended (v1); either way the turn's
   * beginning and end are told by `state` updates, which come before it resolves. `messageId` names the person's
   * message, where the agent gives it an id (v2): its echo is then known for certain.
   */
  // biome-ignore lint/suspicious/noConfusingVoidType: a surface that knows no id returns nothing.
  prompt(sessionId: string, content: ContentBlock[]): Promise<void | { messageId?: string }>
  /** Asks the agent to stop the turn; the turn's end is still told by a `state` update. */
  cancel(sessionId: string): void
  setConfigOption(sessionId: string, optionId: string, value: string | boolean): Promise<void>
  authenticate(methodId: string, signal?: AbortSignal): Promise<void>
  logout(): Promise<void>

  /** Stops one tool call that said it can be stopped (`canCancel`, v2), and not the turn. */
  cancelToolCall?(sessionId: string, toolCallId: string): Promise<void>
  /** Stops the command in a terminal of the agent's own that said it can be stopped (`canCancel`, v2). */
  cancelTerminal?(sessionId: string, terminalId: string): Promise<void>

  // Of no released schema yet: each with a capability of its own.
  /** A new session that begins with the conversation of another. */
  forkSession?(
    sessionId: string,
    setup: SessionSetup,
    signal?: AbortSignal,
    onLate?: (start: SessionStart) => void,
  ): Promise<SessionStart>
  /** Resolves with the title that the agent gave, which may be another. */
  setSessionTitle?(sessionId: string, title: string): Promise<string>
  archiveSession?(sessionId: string): Promise<void>
  unarchiveSession?(sessionId: string): Promise<void>
  /** `open` or `saved`; `activity` what the session does, as far as it is told. */
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

/** What an agent may ask of the client. A rejection becomes a JSON-RPC error; its message reaches the agent. */
export interface AgentClient {
  /** `signal` aborts when the agent withdraws the question (`$/cancel_request`) or is gone. */
  requestPermission(request: PermissionRequest, signal: AbortSignal): Promise<PermissionOutcome>
  /**
   * The text of a file, unsaved changes included. Rejects with {@link FileMissingError} when there is none. What waits
   * for the person is given up when `signal` aborts: the agent no longer wants it.
   */
  readTextFile(request: ReadTextFileRequest, signal?: AbortSignal): Promise<string>
  writeTextFile(request: WriteTextFileRequest, signal?: AbortSignal): Promise<void>
  createTerminal(request: CreateTerminalRequest): Promise<{ terminalId: string }>
  terminalOutput(sessionId: string, terminalId: string): Promise<TerminalOutput>
  waitForTerminalExit(sessionId: string, terminalId: string): Promise<TerminalExit>
  killTerminal(sessionId: string, terminalId: string): Promise<void>
  releaseTerminal(sessionId: string, terminalId: string): Promise<void>
  /**
   * Asks the person to fill in a form or to visit an address. Agents are told that this can be done only when it is
   * here. `signal` aborts when the agent withdraws the question, its turn is stopped, or the agent is gone.
   */
  createElicitation?(request: ElicitationRequest, signal: AbortSignal): Promise<ElicitationOutcome>
  /** What the person went to an address for is done there. */
  elicitationComplete?(elicitationId: string): void
}

/** How an agent's connection ended. */
export interface AgentExit {
  reason: 'disposed' | 'exited' | 'stream' | 'protocol'
  exitCode?: number | null
  signal?: string | null
  /** One sentence for the person, when there is more to say than the exit code. */
  message?: string
  /** The last lines of stderr. */
  stderrTail: string
}

/** Why an agent could not be started; each kind has its own card. */
export type AgentStartFailure =
  /** `searched`: the directories of the PATH that was searched. */
  | { kind: 'command-missing'; command: string; searched: string[] }
  | { kind: 'spawn'; command: string; message: string }
  | { kind: 'exited'; command: string; exit: AgentExit; stdoutNoise: string }
  | { kind: 'initialize-timeout'; command: string; seconds: number; stderrTail: string; stdoutNoise: string }
  | {
      kind: 'initialize-error'
      command: string
      error: { code: number; message: string; detail?: string }
      /** Of an agent that starts only once the person has signed in (-32000), where it named any. */
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

/** The agent answered a request with an error, or the request could not be sent to it. */
export class AgentRequestError extends Error {
  override readonly name = 'AgentRequestError'
  readonly method: string
  readonly code: number
  /** What the agent's `data` says in words, if anything. */
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

/** The agent was gone before it answered. */
export class AgentClosedError extends Error {
  override readonly name = 'AgentClosedError'
  readonly exit: AgentExit

  constructor(exit: AgentExit) {
    super(exit.message ?? l10n.t("The agent isn't running."))
    this.exit = exit
  }
}

/** There is no file at the path an agent asked for. */
export class FileMissingError extends Error {
  override readonly name = 'FileMissingError'
}

/** What to spawn, fully resolved: absolute paths, the whole environment. */
export interface AgentLaunch {
  command: string
  args: string[]
  env: Record<string, string>
  cwd: string
}

export interface ConnectOptions {
  clientInfo: { name: string; title: string; version: string }
  initializeTimeoutMs: number
  /** A longer line closes the connection with a clear error. */
  maxFrameBytes: number
  log: Logger
  /** Hears stderr as it comes, in whole lines. */
  onStderr?: (line: string) => void
  /** Set and unset while the agent runs; see {@link TraceTap}. */
  tap?: { current: TraceTap | undefined }
  /** Ends the agent, too, when this process dies without having done so. */
  guard?: ProcessGuard
  /** What must not be read in errors, logs and the output of the agent. */
  secrets?: SecretRegistry
  signal?: AbortSignal
  /**
   * Which version is offered: `stable` (the default) the released one, `latest` the draft, falling back to the
   * released one. An agent that has only the other is spoken to in it.
   */
  protocol?: 'stable' | 'latest'
  /** What the host can do that an agent must be told of; all of it is `false` by default. */
  features?: {
    /** Ways to sign in that run in a terminal work. */
    terminalAuth?: boolean
  }
}

/** Spawns an agent and initializes it. Rejects with {@link AgentStartError}; nothing is left running then. */
export type StartAgent = (launch: AgentLaunch, client: AgentClient, options: ConnectOptions) => Promise<Agent>

/** One frame on the wire, as *Show Protocol Traffic* and the tests see it. */
export interface TraceFrame {
  /** milliseconds since the epoch */
  at: number
  direction: 'send' | 'receive'
  message: unknown
}

/** Hears every frame. Absent when nobody listens: a frame is then not even looked at. */
export type TraceTap = (frame: TraceFrame) => void

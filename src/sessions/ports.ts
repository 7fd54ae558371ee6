import type { AgentClient, AgentLaunch } from '../acp/agent.ts'
import type { AgentCapabilities, ContentBlock, Roots, SessionSetup } from '../acp/model.ts'
import type { Event } from '../common/event.ts'

/** An agent that a person can pick. */
export interface AgentEntry {
  agentId: string
  name: string
  /** a codicon's name */
  icon?: string
  description?: string
  source: 'settings' | 'preset' | 'demo'
}

/** Which agents there are; changes as settings do. */
export interface AgentDirectory {
  list(): AgentEntry[]
  get(agentId: string): AgentEntry | undefined
  /** The one that New Session starts. */
  defaultAgentId(): string | undefined
  /** Remembers that the person used it. */
  used(agentId: string): void
  /** Rejects with `AgentStartError` (`command-missing`) when its command is not there. */
  resolveLaunch(agentId: string): Promise<AgentLaunch>
  readonly onDidChange: Event<void>
}

/** What a session was given, in words for the view. */
export interface SessionPlan {
  setup: SessionSetup
  roots: {
    cwd: string
    cwdLabel: string
    additional: Array<{ path: string; label: string }>
    unseen: Array<{ label: string; reason: string }>
    scratch: boolean
  }
  mcpServers: Array<{ name: string; type: string; passed: boolean; reason?: string }>
}

/** Works out what a session gets: roots from the workspace, MCP servers from the settings. */
export interface SessionPlanner {
  /** `undefined`: the person was asked for the folder and answered none. */
  forNew(capabilities: AgentCapabilities): Promise<SessionPlan | undefined>
  /** For a session that exists and keeps its own `cwd`. */
  forExisting(cwd: string, capabilities: AgentCapabilities): Promise<SessionPlan>
}

/** What one session may do in the editor, on its roots. */
export interface SessionServices
  extends Pick<
    AgentClient,
    | 'readTextFile'
    | 'writeTextFile'
    | 'createTerminal'
    | 'terminalOutput'
    | 'waitForTerminalExit'
    | 'killTerminal'
    | 'releaseTerminal'
  > {
  /** Ends what still runs for the session: after a cancel, at its end. */
  stopTerminals(): void
  dispose(): void
}

export interface TerminalSink {
  created(terminalId: string, command: string, cwd: string): void
  output(terminalId: string, text: string): void
  exited(terminalId: string, exit: { exitCode?: number | null; signal?: string | null }): void
}

export type CreateSessionServices = (sessionId: string, roots: Roots, sink: TerminalSink) => SessionServices

/** Small things that outlive a reload of the window. */
export interface Keep {
  get<T>(key: string): T | undefined
  set(key: string, value: unknown): void
}

/** The sessions Parley opened itself, so that none is lost where an agent cannot list. */
export interface SessionRecords {
  opened(record: {
    agentId: string
    sessionId: string
    cwd: string
    additionalDirectories: string[]
    title?: string
  }): void
  touched(agentId: string, sessionId: string, title: string | undefined): void
}

export interface PromptInput {
  text: string
  attachments: ContentBlock[]
}

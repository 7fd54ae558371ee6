import type { AgentLaunch } from '../acp/agent.ts'
import type {
  AgentCapabilities,
  AuthMethod,
  ContentBlock,
  ElicitationOutcome,
  ElicitationRequest,
  SessionSetup,
} from '../acp/model.ts'
import type { Event } from '../common/event.ts'
import type { KeptConversation } from '../conversation/restore-state.ts'
import type { RootsPlan } from '../editor/roots.ts'
import type { TranscriptWriter } from './transcript-keeper.ts'

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
  /** Resolves when the machine was searched once. */
  ready(): Promise<void>
  /** What is wrong in the settings about agents, each a sentence. */
  problems(): string[]
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
  roots: RootsPlan
  mcpServers: Array<{ name: string; type: string; passed: boolean; reason?: string }>
}

/** Works out what a session gets: roots from the workspace, MCP servers from the settings. */
export interface SessionPlanner {
  /** `undefined`: the person was asked for the folder and answered none. */
  forNew(capabilities: AgentCapabilities): Promise<SessionPlan | undefined>
  /** For a session that exists and keeps its own `cwd`. */
  forExisting(cwd: string, capabilities: AgentCapabilities): Promise<SessionPlan>
}

/** Small things that outlive a reload of the window. */
export interface Keep {
  get<T>(key: string): T | undefined
  set(key: string, value: unknown): void
}

/** What people began to write, by conversation. */
export interface Drafts {
  get(key: string): string
  set(key: string, text: string): void
}

/** A session that Parley opened itself at some time. */
export interface SessionRecord {
  sessionId: string
  cwd: string
  additionalDirectories: string[]
  title?: string
  /** milliseconds since the epoch */
  updatedAt: number
}

/** What Parley remembers beyond the window, so that no session is lost where an agent cannot list or does not run. */
export interface SessionRecords {
  /** The agent's sessions, the newest first. */
  list(agentId: string): SessionRecord[]
  opened(agentId: string, record: Omit<SessionRecord, 'updatedAt'>): void
  touched(agentId: string, sessionId: string, title: string | undefined): void
  forget(agentId: string, sessionId: string): void
  /** What the agent could do when it last ran. */
  capabilities(agentId: string): Pick<AgentCapabilities, 'list' | 'load' | 'resume'> | undefined
  setCapabilities(agentId: string, capabilities: Pick<AgentCapabilities, 'list' | 'load' | 'resume'>): void
}

/** The conversations of this machine as they were kept. */
export interface Transcripts extends TranscriptWriter {
  read(agentId: string, sessionId: string): KeptConversation | undefined
  forget(agentId: string, sessionId: string): void
}

export interface PromptInput {
  text: string
  attachments: ContentBlock[]
}

/**
 * Signs in to an agent by a command in a terminal that the person sees. Resolves when it exited with 0; rejects with a
 * sentence otherwise, and with `CancelledError` when the person cancels.
 */
export type SignInTerminal = (agentId: string, method: AuthMethod, signal: AbortSignal) => Promise<void>

/**
 * Asks for the variables that a method signs in by, and keeps them for the agent's next start. Rejects with
 * `CancelledError` when the person does not give them.
 */
export type SignInVariables = (agentId: string, method: AuthMethod, signal: AbortSignal) => Promise<void>

/** Asks the person outside of any conversation. Ends with `cancel` when `signal` aborts. */
export interface NativeElicitation {
  ask(agentId: string, request: ElicitationRequest, signal: AbortSignal): Promise<ElicitationOutcome>
  /** What the person went to an address for is done there. */
  complete(elicitationId: string): void
}

import type { AgentLaunch, ToolServerAddress } from '../acp/agent.ts'
import type {
  AgentCapabilities,
  AuthMethod,
  ElicitationOutcome,
  ElicitationRequest,
  SessionSetup,
} from '../acp/model.ts'
import type { SystemPrompt } from '../agents/definition.ts'
import type { Disposable } from '../common/disposable.ts'
import type { Draft } from '../common/draft.ts'
import type { Event } from '../common/event.ts'
import type { RootsPlan } from '../common/roots-plan.ts'
import type { SessionId } from '../common/session-key.ts'
import type { Attachment } from '../conversation/attachment.ts'
import type { LocalSessions } from '../history/local-sessions.ts'
import type { Transcripts } from '../history/transcripts.ts'
import type { SessionTools } from '../mcp/server/editor-tools.ts'
import type { McpServerNote } from '../mcp/server-note.ts'

/** An agent that a user can pick. */
export interface AgentEntry {
  agentId: string
  name: string
  /** the name of a codicon, or a `data:` URI */
  icon?: string
  description?: string
  source: 'settings' | 'installed' | 'preset' | 'demo'
  /** Whether the agent's paths belong to another machine. */
  isElsewhere?: boolean
}

/** The problem with the default agent of the settings. */
export interface DefaultAgentProblem {
  /** The agent's id in the settings. */
  agentId?: string
  /** the problem as a sentence */
  message: string
  /** The agent's id and name in the registry, if Parley offers to install it. */
  installable?: { id: string; name: string }
}

/** The available agents, which may change with the settings. */
export interface AgentDirectory {
  list(): AgentEntry[]
  get(agentId: string): AgentEntry | undefined
  /** Resolves when the machine has been searched once. */
  ready(): Promise<void>
  /** Returns the problems in the settings of agents, each as a sentence. */
  problems(): string[]
  /** Returns the agent that New Session starts; `undefined` while the agent is unknown or can't be used. */
  defaultAgentId(): string | undefined
  /** Returns why the default agent in the settings can't be used. */
  defaultProblem(): DefaultAgentProblem | undefined
  /** Whether the whole machine was searched, so that an agent that isn't listed isn't installed. */
  isSearched(): boolean
  /** Stores that this agent was used last. */
  used(agentId: string): void
  /** Resolves to how the agent is started. Rejects with `AgentStartError` (`command-missing`) if its command isn't found. */
  resolveLaunch(agentId: string): Promise<AgentLaunch>
  readonly onDidChange: Event<void>
}

/** The setup of a session, with texts for the view. */
export interface SessionPlan {
  setup: SessionSetup
  roots: RootsPlan
  mcpServers: McpServerNote[]
  /** The editor's own MCP server, if the agent gets it. The owner of the plan disposes it, at the latest with the session. */
  editorTools?: SessionTools
  /** Whether the session continues from an earlier window, whose MCP server of the editor this window can't serve. */
  lostEditorTools?: true
  /** The watchers of the session's MCP bridges. Disposed like `editorTools`. */
  bridges?: readonly Disposable[]
  /** the system prompt that the session got, to send it again; `null` for none, absent if unknown */
  ownSystemPrompt?: SystemPrompt | null
  /** How the agent used the user's system prompt, if there is one. */
  systemPrompt?: 'appended' | 'overrides' | 'not-taken'
}

/** The properties of a session that don't change after its start. */
export interface ExistingSession {
  agentId: string
  sessionId: string
  cwd: string
  additionalDirectories: readonly string[]
  /** `null` for none; absent if unknown, in which case none is sent */
  systemPrompt?: SystemPrompt | null
  /** The session's folder comes from an imported file: the user must confirm it if it isn't in this window. */
  imported?: boolean
}

/** The MCP servers that a session got in an earlier window. */
export interface EarlierServers {
  server?: ToolServerAddress | undefined
  mcpServers?: readonly McpServerNote[]
}

/** Plans what a session gets: roots from the workspace, MCP servers from the settings. */
export interface SessionPlanner {
  /**
   * Plans a new session, in `cwd` if given. If `cwd` is `imported`, as in `ExistingSession`, the user must confirm it. Resolves to
   * `undefined` if the user was asked for the folder and canceled.
   */
  forNew(
    agentId: string,
    capabilities: AgentCapabilities,
    cwd?: string,
    imported?: boolean,
  ): Promise<SessionPlan | undefined>
  /**
   * Plans an existing session, which has its own folders and system prompt. Rejects with `CancelledError` if the user doesn't want the
   * session to work in its folder.
   */
  forExisting(session: ExistingSession, capabilities: AgentCapabilities): Promise<SessionPlan>
  /**
   * Plans a session that continues in the same process of its agent: nothing is sent, and the user isn't asked. `servers`: the session's
   * MCP servers, and the address of the editor's own MCP server, which the earlier window served.
   */
  forReattached(
    session: ExistingSession,
    capabilities: AgentCapabilities,
    servers: EarlierServers,
  ): Promise<SessionPlan>
}

/** The drafts of conversations. */
export interface Drafts {
  get(key: string): Draft<Attachment>
  set(key: string, draft: Draft<Attachment>): void
  /** Moves the prompts of a conversation that the user is editing to the conversation's next session. */
  moveEdits(from: string, to: string): void
}

/** The part of the database of sessions that open sessions need. */
export type SessionRecords = Pick<
  LocalSessions,
  'agentIds' | 'list' | 'get' | 'opened' | 'touched' | 'noted' | 'forget' | 'agent' | 'agentRuns'
>

/** The part of the agent host that open sessions need. Only `takeOver` rejects. */
export interface HostedSessions {
  /** Whether the agent host has an agent with this session. */
  has(session: SessionId): Promise<boolean>
  /** Whether an agent with this session runs in a host of another version of Parley, which windows of this version can't reach. */
  runsInOtherVersion(session: SessionId): Promise<boolean>
  /**
   * Takes over the agent of a session, with all of its sessions, from the agent host. `from`: a window that doesn't respond, which loses
   * the sessions. Resolves to false if there is no such agent. Rejects with `SessionElsewhereError` if another window takes over the agent
   * at the same time.
   */
  takeOver(session: SessionId, from: string | undefined): Promise<boolean>
  /** Whether this window left the session, with its agent, to another window and hasn't taken it back. */
  isHandedOver(session: SessionId): boolean
}

/** The part of the saved conversations that open sessions need. */
export type SavedConversations = Pick<
  Transcripts,
  'read' | 'readEnd' | 'options' | 'revision' | 'copies' | 'write' | 'forget'
>

/**
 * Signs in to an agent with a command in a visible terminal. Resolves when the command exits with 0. Rejects with a sentence if it exits
 * with another code, and with `CancelledError` if the user cancels.
 */
export type SignInTerminal = (agentId: string, method: AuthMethod, signal: AbortSignal) => Promise<void>

/**
 * Asks for the variables of a sign-in method and stores them for the agent's next start. Rejects with `CancelledError` if
 * the user cancels.
 */
export type SignInVariables = (agentId: string, method: AuthMethod, signal: AbortSignal) => Promise<void>

/** Asks the user outside of any conversation. Resolves to `cancel` when `signal` aborts. */
export interface NativeElicitation {
  ask(agentName: string, request: ElicitationRequest, signal: AbortSignal): Promise<ElicitationOutcome>
  /** Called when the agent reports that the user has completed the elicitation of an opened URL. */
  complete(elicitationId: string): void
}

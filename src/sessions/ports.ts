import type { AgentLaunch } from '../acp/agent.ts'
import type {
  AgentCapabilities,
  AuthMethod,
  AuthStatus,
  ContentBlock,
  ElicitationOutcome,
  ElicitationRequest,
  Roots,
  SessionSetup,
} from '../acp/model.ts'
import type { SystemPrompt } from '../agents/definition.ts'
import type { Draft } from '../common/draft.ts'
import type { Event } from '../common/event.ts'
import type { Attachment } from '../conversation/attachment.ts'
import type { KeptConversation } from '../conversation/restore-state.ts'
import type { RootsPlan } from '../editor/roots.ts'
import type { KnownAgent, LocalSession } from '../history/session-store.ts'
import type { TranscriptWriter } from './transcript-recorder.ts'

/** An agent that a user can pick. */
export interface AgentEntry {
  agentId: string
  name: string
  /** a codicon's name, or an image's address (`data:`) */
  icon?: string
  description?: string
  source: 'settings' | 'installed' | 'preset' | 'demo'
}

/** What is wrong with the default agent of the settings. */
export interface DefaultAgentProblem {
  /** As the settings name it. */
  agentId?: string
  /** A sentence. */
  message: string
  /** The agent's id in the registry and its name, where it is one that Parley offers to install. */
  installable?: { id: string; name: string }
}

/** Which agents there are; changes as settings do. */
export interface AgentDirectory {
  list(): AgentEntry[]
  get(agentId: string): AgentEntry | undefined
  /** Resolves when the machine was searched once. */
  ready(): Promise<void>
  /** What is wrong in the settings about agents, each a sentence. */
  problems(): string[]
  /** The one that New Session starts; none while it isn't known or can't be used. */
  defaultAgentId(): string | undefined
  /** Why the agent that the settings name as the default can't be used. */
  defaultProblem(): DefaultAgentProblem | undefined
  /** The whole machine was searched: an agent that isn't listed is not there. */
  isSearched(): boolean
  /** Remembers that the user used it. */
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
  /** what the session was given, to send it again; `null`: nothing, absent: unknown */
  ownSystemPrompt?: SystemPrompt | null
  /** What became of the user's own system prompt, when they have one. */
  systemPrompt?: 'appended' | 'overrides' | 'not-taken'
}

/** What a session has had since it began. */
export interface ExistingSession {
  cwd: string
  additionalDirectories: readonly string[]
  /** `null`: none; absent: unknown, and none is sent */
  systemPrompt?: SystemPrompt | null
}

/** Works out what a session gets: roots from the workspace, MCP servers from the settings. */
export interface SessionPlanner {
  /** In `cwd` when one is named. `undefined`: the user was asked for the folder and chose none. */
  forNew(agentId: string, capabilities: AgentCapabilities, cwd?: string): Promise<SessionPlan | undefined>
  /** For a session that exists: it keeps its own folders and system prompt. */
  forExisting(session: ExistingSession, capabilities: AgentCapabilities): Promise<SessionPlan>
}

/** What users began to write, by conversation. */
export interface Drafts {
  get(key: string): Draft<Attachment>
  set(key: string, draft: Draft<Attachment>): void
}

/** A session that Parley opened itself at some time. */
export type SessionRecord = Omit<LocalSession, 'agentId' | 'createdAt'>

/** What Parley remembers beyond the window, so that no session is lost where an agent cannot list or does not run. */
export interface SessionRecords {
  /** Agents of which it remembers sessions; some may be gone. */
  agentIds(): string[]
  /** The agent's sessions, the newest first. */
  list(agentId: string): SessionRecord[]
  get(agentId: string, sessionId: string): SessionRecord | undefined
  opened(
    agentId: string,
    record: Pick<SessionRecord, 'sessionId' | 'cwd' | 'additionalDirectories' | 'title' | 'systemPrompt'>,
  ): void
  touched(agentId: string, sessionId: string, title: string | undefined): void
  /** What the user said of a session, which may be one that Parley did not open. An empty title is none. */
  noted(
    agentId: string,
    session: Pick<SessionRecord, 'sessionId' | 'cwd' | 'title'> & { updatedAt?: number },
    said: { title?: string; givenTitle?: string; archived?: boolean },
  ): void
  forget(agentId: string, sessionId: string): void
  /** The agent as it was when it last ran: it may be gone since. */
  agent(agentId: string): KnownAgent | undefined
  /** The agent runs. */
  agentRuns(agentId: string, agent: KnownAgent): void
}

/** The conversations of this machine as they were kept. */
export interface Transcripts extends TranscriptWriter {
  read(agentId: string, sessionId: string): KeptConversation | undefined
  /** Changes with every write, by whichever window; `undefined` when there is nothing. */
  revision(agentId: string, sessionId: string): string | undefined
  forget(agentId: string, sessionId: string): void
}

export interface PromptInput {
  text: string
  attachments: ContentBlock[]
}

/** Makes a prompt's content for the agent that it goes to. Rejects with a sentence when the agent cannot take it. */
export type MakePrompt = (to: {
  agentName: string
  can: AgentCapabilities
  roots: Roots
}) => Promise<ContentBlock[]>

/**
 * Signs in to an agent by a command in a terminal that the user sees. Resolves when it exited with 0; rejects with a
 * sentence otherwise, and with `CancelledError` when the user cancels.
 */
export type SignInTerminal = (agentId: string, method: AuthMethod, signal: AbortSignal) => Promise<void>

/**
 * Asks for the variables that a method signs in by, and keeps them for the agent's next start. Rejects with
 * `CancelledError` when the user does not give them.
 */
export type SignInVariables = (agentId: string, method: AuthMethod, signal: AbortSignal) => Promise<void>

/** Who is signed in to which agent, as far as agents tell it. */
export interface SignedInAccounts {
  get(agentId: string): AuthStatus | undefined
  /** The agent refused something until the user signs in. */
  refused(agentId: string): void
  /** Call it when the user has signed in to an agent; asks the agent again. */
  signedIn(agentId: string): void
  /** The user signed in to the agent of this id, in whichever conversation. */
  readonly onDidSignIn: Event<string>
}

/** Asks the user outside of any conversation. Ends with `cancel` when `signal` aborts. */
export interface NativeElicitation {
  ask(agentId: string, request: ElicitationRequest, signal: AbortSignal): Promise<ElicitationOutcome>
  /** What the user went to an address for is done there. */
  complete(elicitationId: string): void
}

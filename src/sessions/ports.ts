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
  /** the name of a codicon, or a `data:` URI */
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
  /** The agent's id and name in the registry, if Parley offers to install it. */
  installable?: { id: string; name: string }
}

/** The available agents, which may change with the settings. */
export interface AgentDirectory {
  list(): AgentEntry[]
  get(agentId: string): AgentEntry | undefined
  /** Resolves when the machine has been searched once. */
  ready(): Promise<void>
  /** Problems in the settings of agents, each a sentence. */
  problems(): string[]
  /** The agent that New Session starts; `undefined` while it's unknown or can't be used. */
  defaultAgentId(): string | undefined
  /** Why the default agent in the settings can't be used. */
  defaultProblem(): DefaultAgentProblem | undefined
  /** The whole machine was searched, so an agent that isn't listed isn't installed. */
  isSearched(): boolean
  /** Stores it as the agent used last. */
  used(agentId: string): void
  /** Rejects with `AgentStartError` (`command-missing`) if its command isn't found. */
  resolveLaunch(agentId: string): Promise<AgentLaunch>
  readonly onDidChange: Event<void>
}

/** What was passed to a session, as text for the view. */
export interface SessionPlan {
  setup: SessionSetup
  roots: RootsPlan
  mcpServers: Array<{ name: string; type: string; passed: boolean; reason?: string }>
  /** what was passed to the session, to send it again; `null` for nothing, absent if unknown */
  ownSystemPrompt?: SystemPrompt | null
  /** What happened to the user's system prompt, if there is one. */
  systemPrompt?: 'appended' | 'overrides' | 'not-taken'
}

/** What a session keeps from its start. */
export interface ExistingSession {
  cwd: string
  additionalDirectories: readonly string[]
  /** `null` for none; absent if unknown, then none is sent */
  systemPrompt?: SystemPrompt | null
}

/** Plans what a session gets: roots from the workspace, MCP servers from the settings. */
export interface SessionPlanner {
  /** In `cwd` if given. `undefined` if the user was asked for the folder and canceled. */
  forNew(agentId: string, capabilities: AgentCapabilities, cwd?: string): Promise<SessionPlan | undefined>
  /** For an existing session, which keeps its folders and system prompt. */
  forExisting(session: ExistingSession, capabilities: AgentCapabilities): Promise<SessionPlan>
}

/** The drafts of conversations. */
export interface Drafts {
  get(key: string): Draft<Attachment>
  set(key: string, draft: Draft<Attachment>): void
}

/** A session that Parley opened at some time. */
export type SessionRecord = Omit<LocalSession, 'agentId' | 'createdAt'>

/** What Parley stores across windows, so that no session is lost if its agent can't list sessions or isn't running. */
export interface SessionRecords {
  /** Agents with stored sessions; some may no longer exist. */
  agentIds(): string[]
  /** The agent's sessions, newest first. */
  list(agentId: string): SessionRecord[]
  get(agentId: string, sessionId: string): SessionRecord | undefined
  opened(
    agentId: string,
    record: Pick<SessionRecord, 'sessionId' | 'cwd' | 'additionalDirectories' | 'title' | 'systemPrompt'>,
  ): void
  touched(agentId: string, sessionId: string, title: string | undefined): void
  /** The user renamed or archived a session, possibly one that Parley didn't open. An empty title means none. */
  noted(
    agentId: string,
    session: Pick<SessionRecord, 'sessionId' | 'cwd' | 'title'> & { updatedAt?: number },
    said: { title?: string; givenTitle?: string; archived?: boolean },
  ): void
  forget(agentId: string, sessionId: string): void
  /** The agent when it last ran; it may no longer exist. */
  agent(agentId: string): KnownAgent | undefined
  /** The agent was started. */
  agentRuns(agentId: string, agent: KnownAgent): void
}

/** The saved conversations of this machine. */
export interface Transcripts extends TranscriptWriter {
  read(agentId: string, sessionId: string): KeptConversation | undefined
  /** Changes with every write by any window; `undefined` if nothing is saved. */
  revision(agentId: string, sessionId: string): string | undefined
  forget(agentId: string, sessionId: string): void
}

export interface PromptInput {
  text: string
  attachments: ContentBlock[]
}

/** Creates a prompt's content for an agent. Rejects with a sentence if the agent doesn't support it. */
export type MakePrompt = (to: {
  agentName: string
  can: AgentCapabilities
  roots: Roots
}) => Promise<ContentBlock[]>

/**
 * Signs in to an agent with a command in a visible terminal. Resolves when it exits with 0; rejects with a sentence
 * otherwise, and with `CancelledError` if the user cancels.
 */
export type SignInTerminal = (agentId: string, method: AuthMethod, signal: AbortSignal) => Promise<void>

/**
 * Asks for the variables of a sign-in method and stores them for the agent's next start. Rejects with `CancelledError` if
 * the user cancels.
 */
export type SignInVariables = (agentId: string, method: AuthMethod, signal: AbortSignal) => Promise<void>

/** Who is signed in to which agent, as far as agents report it. */
export interface SignedInAccounts {
  get(agentId: string): AuthStatus | undefined
  /** The agent refused a request because it requires sign-in. */
  refused(agentId: string): void
  /** Call it after the user signed in to an agent; asks the agent again. */
  signedIn(agentId: string): void
  /** The user signed in to the agent with this id, in any conversation. */
  readonly onDidSignIn: Event<string>
}

/** Asks the user outside of any conversation. Resolves to `cancel` when `signal` aborts. */
export interface NativeElicitation {
  ask(agentId: string, request: ElicitationRequest, signal: AbortSignal): Promise<ElicitationOutcome>
  /** The user has completed what a URL was opened for. */
  complete(elicitationId: string): void
}

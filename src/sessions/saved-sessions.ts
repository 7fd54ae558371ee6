import path from 'node:path'
import type { Disposable } from '../common/disposable.ts'
import { FOLLOW_WINDOW_MS } from '../common/limits.ts'
import type { SessionId } from '../common/session-key.ts'
import type { ReducingState } from '../conversation/reducer/reducing-state.ts'
import { type ConversationEnd, restoreEnd, restoreState } from '../conversation/replay/restore-state.ts'
import { Session } from '../conversation/session.ts'
import { whereNow } from './continuation.ts'
import type { OpenSession, SessionReference } from './open-session.ts'
import type { AgentDirectory, SavedConversations, SessionRecords } from './ports.ts'
import { ABSENT, AbsentAgent } from './runners/absent-agent.ts'
import type { AgentRunner } from './runners/agent-runner.ts'
import type { SessionManager } from './session-manager.ts'

interface SavedSessionsOptions {
  manager: Pick<SessionManager, 'create'>
  runner: (agentId: string) => Pick<AgentRunner, 'name'>
  agents: Pick<AgentDirectory, 'get'>
  records: Pick<SessionRecords, 'get' | 'agent'>
  transcripts: Pick<SavedConversations, 'read' | 'readEnd' | 'revision'>
}

/** Number of entries above which the end of a saved conversation is shown before the other entries are read. */
const LONG = 400
/** The number of entries at the end that are shown first: more than a view can show. */
const LAST_ENTRIES = 50

/** The saved conversations of sessions, readable without their agents. */
export class SavedSessions {
  readonly #options: SavedSessionsOptions

  constructor(options: SavedSessionsOptions) {
    this.#options = options
  }

  /** Returns the state of the saved conversation, to continue the conversation. */
  state({ agentId, sessionId }: SessionId): ReducingState | undefined {
    const conversation = this.#options.transcripts.read(agentId, sessionId)
    return conversation && restoreState(conversation)
  }

  /** Returns the end of a long saved conversation, which takes a while to read; `undefined` for other conversations. */
  end({ agentId, sessionId }: SessionReference): ConversationEnd | undefined {
    const end = this.#options.transcripts.readEnd(agentId, sessionId, LONG, LAST_ENTRIES)
    return end && restoreEnd(end.conversation, end.first)
  }

  /** Opens the saved session without its agent. */
  open(reference: SessionReference): OpenSession | undefined {
    const state = this.state(reference)
    if (!state) return undefined
    const { agentId, sessionId, cwd } = reference
    const { manager, runner, records, agents } = this.#options
    const agentName = runner(agentId).name
    const setup = { cwd, additionalDirectories: [], mcpServers: [] }
    // old records don't have the place of the session's files, and the agent may have been removed
    const configured = agents.get(agentId)?.isElsewhere ? { isRemote: true, pathMappings: [] } : {}
    const place = records.get(agentId, sessionId)?.place ?? configured
    const agent = new AbsentAgent(agentName, records.agent(agentId), place)
    const session = new Session({ agent, sessionId, setup, phase: 'ready', state })
    session.conversation.giveTitle(records.get(agentId, sessionId)?.givenTitle)
    session.agentEnded(ABSENT)
    const cwdLabel = path.basename(cwd) || cwd
    const roots = { cwd, cwdLabel, additional: [], unseen: [], scratch: false }
    return manager.create(agentId, agentName, session, { setup, roots, mcpServers: [] })
  }

  /**
   * Updates a displayed conversation as another window saves it, until the result is disposed. `goesOn` is called when the conversation
   * continued in another session in that window.
   */
  follow({ agentId, session }: OpenSession, goesOn: (next: SessionReference) => void): Disposable {
    const { records, transcripts } = this.#options
    let shown: string | undefined
    const showSaved = () => {
      const revision = transcripts.revision(agentId, session.sessionId)
      if (revision === shown) return
      shown = revision
      const conversation = transcripts.read(agentId, session.sessionId)
      if (conversation && !session.isLive) session.conversation.follow(conversation)
    }
    showSaved()
    const timer = setInterval(() => {
      const next = whereNow({ agentId, sessionId: session.sessionId }, records)
      if (next) goesOn(next)
      else showSaved()
    }, FOLLOW_WINDOW_MS)
    timer.unref()
    return { dispose: () => clearInterval(timer) }
  }

  /** Updates a conversation with the changes that another window saved before it closed the session. */
  catchUp({ agentId, session }: OpenSession): void {
    const conversation = this.#options.transcripts.read(agentId, session.sessionId)
    if (conversation && !session.isLive) session.conversation.catchUp(conversation)
  }
}

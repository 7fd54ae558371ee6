import type { SessionId } from '../../common/session-key.ts'
import type { SessionActivity } from '../../conversation/state.ts'
import type { SessionReference } from '../open-session.ts'

/** A session in lists. Immutable: a change creates a new object. */
export interface HistoryItem extends SessionReference {
  agentName: string
  /** milliseconds since the epoch */
  updatedAt?: number
  /** earlier and other titles by which the session can be found */
  formerTitles?: string[]
  /** whether the session is open in this window */
  open: boolean
  activity?: SessionActivity
  /** the agent's report about a session that isn't open in this window */
  status?: SessionStatus
  /** whether the session is archived */
  archived: boolean
  /** whether lists show the session first */
  pinned: boolean
  /** The conversation continues in this session, which lists show instead. */
  continuedIn?: SessionId
  /** The agent has listed all of its sessions, without this one. `saved`: Parley has a copy. */
  unlisted?: 'saved' | 'gone'
  canLoad: boolean
  canResume: boolean
  canClose: boolean
  /** whether the agent runs and can delete the session, or Parley has saved data of the session */
  canDelete: boolean
  /** whether only Parley's copy can be deleted, and the agent keeps its own */
  deletesCopy: boolean
  /** whether the agent runs and can fork the session */
  canFork: boolean
  /** whether the agent runs and can archive the session */
  canArchive: boolean
}

/** What an agent reports about a session that isn't open in this window. */
export interface SessionStatus {
  /** `open`: the session is loaded in the agent for another client; `saved`: it's only stored */
  status: string
  activity?: string
}

/** Data of History that the extension host sends to pages. The pages' own messages are in `history-messages.ts`. */

export interface HistoryRow {
  agentId: string
  agentName: string
  sessionId: string
  title: string
  /** there is no title yet: `title` is a placeholder and drawn as one */
  untitled: boolean
  /** earlier titles, by which the session can be found */
  formerTitles?: string[]
  cwd: string
  /** the folder's name */
  folder: string
  /** whether it belongs to a folder that is open in this window, or to a worktree of its repository */
  here: boolean
  /** the worktree in which the session works, if it isn't open in this window; without a branch, it was removed */
  worktree?: { name: string; branch?: string }
  /** milliseconds since the epoch */
  updatedAt?: number
  /** the session is open in this window */
  open: boolean
  /** displayed in a view of this window */
  shown?: true
  activity?: 'idle' | 'running' | 'requires_action'
  /** the result of the last work, until the user views it; `interrupted`: its window closed */
  ended?: 'done' | 'failed' | 'interrupted'
  canLoad: boolean
  canResume: boolean
  canClose: boolean
  canDelete: boolean
  /** only Parley's copy is deleted: the agent keeps its own */
  deletesCopy: boolean
  canFork: boolean
  canArchive: boolean
  /** archived sessions are shown only on request */
  archived: boolean
  /** listed first */
  pinned: boolean
  /** The agent's report about a session that isn't open in this window. */
  elsewhere?: 'open' | 'running' | 'requires_action' | 'saved'
  /**
   * another window has the session open and works in it, or finished the work unseen; `only`: this window's list doesn't have the session
   */
  inWindow?: true | 'only'
  /** the agent's list lacks this session; `saved`: Parley has a copy */
  unlisted?: 'saved' | 'gone'
}

/** A note about one agent in the list, besides its rows. */
export interface HistoryAgentNote {
  agentId: string
  name: string
  /** as in `AgentChoice` */
  icon?: string
  state: 'loading' | 'listed' | 'cannot-list' | 'failed' | 'sign-in' | 'not-started'
  /** one sentence for failed and sign-in */
  message?: string
  /** there are more pages, and nobody has requested them yet */
  more: boolean
  /** further pages are being requested */
  paging: boolean
  /** who is signed in, as text; absent if sign-in isn't required or it isn't known */
  account?: string
}

/** Where a text was found in a conversation. */
export interface HistoryHit {
  agentId: string
  sessionId: string
  /** the id of the entry that matches best */
  entry: string
  /** a part of its text: every second element is a match */
  excerpt: string[]
  /** the number of entries that match */
  count: number
}

/** The start and the end of a saved conversation. */
export interface HistoryPreview {
  agentId: string
  sessionId: string
  /** in order; `gap`: entries are omitted; empty if nothing is saved */
  parts: Array<{ kind: 'user' | 'agent' | 'tool'; text: string } | { kind: 'gap' }>
}

/** The results so far, the best first. */
export interface HistoryHits {
  /** of the request */
  id: number
  hits: HistoryHit[]
  /** only the newest messages were searched */
  isLimited: boolean
}

/** The data of History besides its rows. */
export interface HistorySummary {
  agents: HistoryAgentNote[]
  trusted: boolean
  hasFolder: boolean
  /** size of all saved conversations in bytes, and its limit; 0 for no limit */
  storage: { used: number; max: number }
  /** sessions that were deleted a moment ago, and that the user can bring back */
  deleted: Array<Pick<HistoryRow, 'agentName' | 'title' | 'deletesCopy'>>
  /** number of searchable conversations, and of all; or why none can be searched */
  search: { progress?: { done: number; total: number }; problem?: string }
}

export interface HistoryChanges extends HistorySummary {
  /** the sessions that are new or changed */
  rows: HistoryRow[]
  /** the removed sessions; absent if `rows` are all sessions and replace the page's rows */
  removed?: Array<{ agentId: string; sessionId: string }>
  /** more changes follow once the page requests them */
  more?: true
}

/** The content of the side bar's view. */
export type ViewPage = 'conversation' | 'history'

/** Where a list of sessions is shown. */
export type HistorySurface = 'sideBar' | 'tab'

/** Data of History that the extension host sends to pages. The pages' own messages are in `history-messages.ts`. */

export interface HistoryRow {
  agentId: string
  agentName: string
  sessionId: string
  title: string
  /** whether there is no title yet: `title` is then a placeholder, which is drawn differently */
  untitled: boolean
  /** earlier titles, by which the session can be found */
  formerTitles?: string[]
  cwd: string
  /** the folder's name */
  folder: string
  /** whether the session belongs to a folder that is open in this window, or to a worktree of its repository */
  here: boolean
  /** the worktree in which the session works, if it isn't open in this window; without a branch, the worktree was removed */
  worktree?: { name: string; branch?: string }
  /** milliseconds since the epoch */
  updatedAt?: number
  /** whether the session is open in this window */
  open: boolean
  /** a view of this window shows the session */
  shown?: true
  activity?: 'idle' | 'running' | 'requires_action'
  /** how the last work ended, until the user views the session; `interrupted` means that its window closed */
  ended?: 'done' | 'failed' | 'interrupted'
  canLoad: boolean
  canResume: boolean
  canClose: boolean
  canDelete: boolean
  /** whether only Parley's copy is deleted, because the agent keeps its own */
  deletesCopy: boolean
  canFork: boolean
  canArchive: boolean
  /** whether the session is archived: archived sessions are listed only on request */
  archived: boolean
  /** whether the session is listed first */
  pinned: boolean
  /** what the agent reports about a session that isn't open in this window */
  elsewhere?: 'open' | 'running' | 'requires_action' | 'saved'
  /**
   * another window has the session open and works in it, or finished the work unseen; `only` means that this window's list doesn't contain
   * the session
   */
  inWindow?: true | 'only'
  /** the agent's list doesn't contain this session; `saved` means that Parley has a copy */
  unlisted?: 'saved' | 'gone'
}

/** The state of one agent in the list, besides its rows. */
export interface HistoryAgentNote {
  agentId: string
  name: string
  /** as in `AgentChoice` */
  icon?: string
  state: 'loading' | 'listed' | 'cannot-list' | 'failed' | 'sign-in' | 'not-started'
  /** a sentence, in the states `failed` and `sign-in` */
  message?: string
  /** whether there are more pages, which nobody has requested yet */
  more: boolean
  /** whether further pages are being requested */
  paging: boolean
  /** who is signed in, as text; absent if the agent doesn't require sign-in, or if it's unknown */
  account?: string
}

/** Where a text was found in a conversation. */
export interface HistoryHit {
  agentId: string
  sessionId: string
  /** the id of the entry that matches best */
  entry: string
  /** a part of the entry's text: every second element is a match */
  excerpt: string[]
  /** the number of entries that match */
  count: number
}

/** The start and the end of a saved conversation. */
export interface HistoryPreview {
  agentId: string
  sessionId: string
  /** the parts in order; `gap` stands for omitted entries; empty if nothing is saved */
  parts: Array<{ kind: 'user' | 'agent' | 'tool'; text: string } | { kind: 'gap' }>
}

/** The results of a search so far, the best first. */
export interface HistoryHits {
  /** the id of the request */
  id: number
  hits: HistoryHit[]
  /** whether only the newest messages were searched */
  isLimited: boolean
}

/** The data of History besides its rows. */
export interface HistorySummary {
  agents: HistoryAgentNote[]
  trusted: boolean
  hasFolder: boolean
  /** size of all saved conversations in bytes, and its limit; 0 for no limit */
  storage: { used: number; max: number }
  /** sessions that were deleted a moment ago and that the user can bring back */
  deleted: Array<Pick<HistoryRow, 'agentName' | 'title' | 'deletesCopy'>>
  /** the number of searchable conversations and of all conversations; or the reason why none can be searched */
  search: { progress?: { done: number; total: number }; problem?: string }
}

export interface HistoryChanges extends HistorySummary {
  /** the sessions that are new or changed */
  rows: HistoryRow[]
  /** the removed sessions; absent if `rows` contains all sessions and replaces the page's rows */
  removed?: Array<{ agentId: string; sessionId: string }>
  /** more changes follow once the page requests them */
  more?: true
}

/** The content of the side bar's view. */
export type ViewPage = 'conversation' | 'history'

/** Where a list of sessions is shown. */
export type HistorySurface = 'sideBar' | 'tab'

/** What the extension host sends to a page that shows History. What the page sends is in `history-messages.ts`. */
import { NotificationType } from 'vscode-jsonrpc'

export interface HistoryRow {
  agentId: string
  agentName: string
  sessionId: string
  title: string
  /** no title came from the agent: `title` is a placeholder and drawn as one */
  untitled: boolean
  /** titles that it had before: it is found by them */
  formerTitles?: string[]
  cwd: string
  /** the folder's name */
  folder: string
  /** belongs to a folder that is open in this window */
  here: boolean
  /** milliseconds since the epoch */
  updatedAt?: number
  /** the session is open in this window */
  open: boolean
  activity?: 'idle' | 'running' | 'requires_action'
  /** how its work ended, until the user views it; `interrupted`: its window closed */
  ended?: 'done' | 'failed' | 'interrupted'
  canLoad: boolean
  canResume: boolean
  canClose: boolean
  canDelete: boolean
  /** only what Parley has saved is deleted: the agent keeps its own */
  deletesCopy: boolean
  canFork: boolean
  canArchive: boolean
  /** put away: shown only when the user wants to see those */
  archived: boolean
  /** What the agent says of one that is not open in this window. */
  elsewhere?: 'open' | 'running' | 'requires_action' | 'saved'
}

/** A note about one agent in the list, besides its rows. */
export interface HistoryAgentNote {
  agentId: string
  name: string
  state: 'loading' | 'listed' | 'cannot-list' | 'failed' | 'sign-in' | 'not-started'
  /** one sentence for failed and sign-in */
  message?: string
  /** more pages can be asked for */
  more: boolean
  /** who is signed in, as text; absent if sign-in isn't required or it isn't known */
  account?: string
}
/** What History shows besides its rows. */
export interface HistorySummary {
  agents: HistoryAgentNote[]
  trusted: boolean
  hasFolder: boolean
  /** bytes of all saved conversations, and the most that they may be; 0: any number */
  storage: { used: number; max: number }
}

export interface HistoryChanges extends HistorySummary {
  /** the sessions that are new or changed */
  rows: HistoryRow[]
  /** the sessions that are gone; absent where `rows` are all there are, and the page forgets what it knew */
  removed?: Array<{ agentId: string; sessionId: string }>
}

/** What the view in the side bar shows. */
export type ViewPage = 'conversation' | 'history'

/** host → webview, in the side bar: shows that page; `focus`: and gives it the keyboard's focus */
export const ShowPage = new NotificationType<{ page: ViewPage; focus: boolean }>('view/page')

/** Where a list of sessions is shown. */
export type HistoryPlace = 'sideBar' | 'tab'

/** host → webview: what changed in the list; sent when the view is visible */
export const HistoryUpdate = new NotificationType<HistoryChanges>('history/state')

/** host → webview: lets the user write a session's name, or asks whether it is to be deleted */
export const HistoryAsk = new NotificationType<{
  what: 'rename' | 'delete'
  agentId: string
  sessionId: string
}>('history/ask')

/** The messages between the extension host and the History webview. See `conversation.ts`. */
import { NotificationType } from 'vscode-jsonrpc'

export interface HistoryRow {
  agentId: string
  agentName: string
  sessionId: string
  title: string
  /** no title came from the agent: `title` is a stand-in and drawn so */
  untitled: boolean
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
  canLoad: boolean
  canResume: boolean
  canClose: boolean
  canDelete: boolean
  canFork: boolean
}
/** What stands of one agent in the list besides its rows. */
export interface HistoryAgentNote {
  agentId: string
  name: string
  state: 'loading' | 'listed' | 'cannot-list' | 'failed' | 'not-started'
  /** one sentence for failed */
  message?: string
  /** more pages can be asked for */
  more: boolean
}
export interface HistoryState {
  rows: HistoryRow[]
  agents: HistoryAgentNote[]
  trusted: boolean
  hasFolder: boolean
}

/** host → webview: the whole list; sent when it changed and the view is visible */
export const HistoryUpdate = new NotificationType<HistoryState>('history/state')

// webview → host
export const HistoryReady = new NotificationType<void>('history/ready')
export const HistoryRefresh = new NotificationType<void>('history/refresh')
export const HistoryMore = new NotificationType<{ agentId: string }>('history/more')
export const HistoryAct = new NotificationType<{
  action: 'load' | 'resume' | 'close' | 'show' | 'delete' | 'fork'
  agentId: string
  sessionId: string
}>('history/act')
/** Lists an agent that is not running: asks the host to start it. */
export const HistoryStartAgent = new NotificationType<{ agentId: string }>('history/start')
/** A button of the empty states. */
export const HistoryCommand = new NotificationType<{ command: string }>('history/command')

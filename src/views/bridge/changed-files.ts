/** The messages about the files that a session's agent changed. */
import { NotificationType } from 'vscode-jsonrpc'

export interface ChangedFileNote {
  /** absolute */
  path: string
  status: 'added' | 'modified' | 'deleted'
  /** It changed while the agent worked, which said nothing of it: by a command of its, or by others. */
  meanwhile?: boolean
  /** lines; absent when there is too much to compare */
  added?: number
  removed?: number
}

/** host → webview: all of them, whenever one changed or another conversation is shown */
export const ChangedFilesShown = new NotificationType<{ key: string; files: ChangedFileNote[] }>(
  'changes/shown',
)

/** Opens a file's diff against its text from before the session's first touch. */
export const OpenChange = new NotificationType<{ key: string; path: string }>('changes/open')
/** Opens all of them in one editor. */
export const ReviewChanges = new NotificationType<{ key: string }>('changes/review')
/** Brings back the texts from before, after the person confirmed it; absent: of all files. */
export const UndoChanges = new NotificationType<{ key: string; path?: string }>('changes/undo')
/** Takes what the agent left for good; absent: of all files. */
export const KeepChanges = new NotificationType<{ key: string; path?: string }>('changes/keep')

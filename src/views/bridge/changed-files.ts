/** The messages about the files that a session's agent changed. */
import { NotificationType } from 'vscode-jsonrpc'

export interface ChangedFileNote {
  /** absolute */
  path: string
  status: 'added' | 'modified' | 'deleted'
  /** All of it changed while a turn ran, and nothing says that the agent did it. */
  uncertain?: boolean
  /** lines */
  added: number
  removed: number
}

/** host → webview: all of them, whenever one changed or another conversation is shown */
export const ChangedFilesShown = new NotificationType<{
  key: string
  files: ChangedFileNote[]
  /** files that changed during the turn and aren't listed: too many, or too large */
  omitted?: number
}>('changes/shown')

/** Opens a file's diff against its text from before the session's first touch. */
export const OpenChange = new NotificationType<{ key: string; path: string }>('changes/open')
/** Opens all of them in one editor. */
export const ReviewChanges = new NotificationType<{ key: string }>('changes/review')
/** Brings back the texts from before, after the person confirmed it; absent: of all files. */
export const UndoChanges = new NotificationType<{ key: string; path?: string }>('changes/undo')
/** Takes what the agent left for good; absent: of all files. */
export const KeepChanges = new NotificationType<{ key: string; path?: string }>('changes/keep')

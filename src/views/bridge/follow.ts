/** The messages about following the agent: the editor shows where it works. */
import { NotificationType } from 'vscode-jsonrpc'

/** host → webview: whether this window follows its agents */
export const FollowShown = new NotificationType<{ on: boolean }>('follow/shown')
/** webview → host */
export const SetFollow = new NotificationType<{ on: boolean }>('follow/set')

/** The messages about agents that are installed from the empty state. See `conversation.ts`. */
import { NotificationType } from 'vscode-jsonrpc'

/** webview → host: `stated` is the `action` of the offer, as the user has seen it. */
export const InstallOffered = new NotificationType<{ id: string; stated?: string }>('agents/install')
/** webview → host */
export const CancelInstall = new NotificationType<{ id: string }>('agents/cancelInstall')

/** Naming the session of a conversation. See `conversation.ts`. */
import { NotificationType } from 'vscode-jsonrpc'

/** webview → host. An empty title gives the session back the name it had without the person. */
export const RenameSession = new NotificationType<{ key: string; title: string }>('conversation/rename')

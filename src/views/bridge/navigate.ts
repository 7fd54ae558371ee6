/** Moving through a conversation by command. */
import { NotificationType } from 'vscode-jsonrpc'

/** `question`: the next one that waits for the person, after the one in view */
export type NavigateTo = 'previousTurn' | 'nextTurn' | 'first' | 'latest' | 'question'

/** host → webview */
export const Navigate = new NotificationType<{ to: NavigateTo }>('conversation/navigate')

/** webview → host: the keyboard's focus came into the page, or left it */
export const FocusChanged = new NotificationType<{ focused: boolean }>('conversation/focused')

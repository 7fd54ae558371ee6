/** The messages about config options between the extension host and a conversation's webview. See `conversation.ts`. */
import { NotificationType } from 'vscode-jsonrpc'

/** Which values of an option the person marked, and used, the last one first. */
export interface RememberedOption {
  favorites: string[]
  recent: string[]
}

/** Marks a value of an option as a favorite, or no longer. */
export const ToggleFavorite = new NotificationType<{ key: string; optionId: string; value: string }>(
  'options/favorite',
)

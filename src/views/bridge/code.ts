/** What a person does with a piece of code or text of the conversation. See `conversation.ts`. */
import { NotificationType } from 'vscode-jsonrpc'

/** Puts code where the cursor is in the editor. */
export const InsertCode = new NotificationType<{ text: string }>('conversation/insertCode')
/** Opens a text as a document that has no file yet. `language`: as a fence names it. */
export const OpenText = new NotificationType<{ text: string; language: string }>('conversation/openText')
/** A piece of code for the file that it names, or for the one in the editor. */
export interface CodeToApply {
  text: string
  /** as a fence names it */
  language: string
  path?: string
  /** the first and the last line that it replaces, from 1 */
  from?: number
  to?: number
}
/** Shows what a file would be with the code in it, and writes it when the person says so. */
export const ApplyCode = new NotificationType<CodeToApply>('conversation/applyCode')

/** Opens a file that is in the conversation alone with whatever VS Code has for it. `data` is base64. */
export const OpenBlob = new NotificationType<{ name: string; mimeType: string; data: string }>(
  'conversation/openBlob',
)

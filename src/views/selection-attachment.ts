import { currentSelection } from '../editor/open.ts'
import type { Attachment } from './bridge/conversation.ts'

let last = 0

/**
 * What is selected in the active editor, as context for a prompt. Embedded where it is taken along whole: the selection
 * may not be saved yet, and the file may have changed when the agent looks.
 */
export function selectionAttachment(): Attachment | undefined {
  const selection = currentSelection()
  if (!selection) return undefined
  const { label, detail, uri, text, startLine, endLine } = selection
  return {
    id: `selection-${++last}`,
    label,
    icon: 'list-selection',
    detail,
    block: { type: 'resource', uri: `${uri}#L${startLine}-L${endLine}`, mimeType: 'text/plain', text },
  }
}

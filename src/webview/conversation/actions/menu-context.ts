import type { EntryContext } from '../../../views/bridge/conversation.ts'
import type { Row } from '../rows/row.ts'

type Section = 'conversation' | 'prompt' | 'message' | 'work'

/** What VS Code's context menu is told of where it was opened: `when` clauses and commands see it. */
function context(section: Section, more: Partial<EntryContext & { parleyCanFork: boolean }>): string {
  return JSON.stringify({ webviewSection: section, preventDefaultContextMenuItems: false, ...more })
}

export function conversationContext(key: string, canFork: boolean): string {
  return context('conversation', { conversation: key, parleyCanFork: canFork })
}

/** Of one row; the conversation it is in is told by what is around it. */
export function rowContext(row: Row): string | undefined {
  if (row.kind === 'missing' || row.kind === 'run') return undefined
  const entry = row.slot.entry.peek()
  const section = row.kind === 'prompt' ? 'prompt' : entry.kind === 'message' ? 'message' : 'work'
  return context(section, { entry: row.slot.id })
}

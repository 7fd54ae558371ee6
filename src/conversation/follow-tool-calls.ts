import type { Disposable } from '../common/disposable.ts'
import type { Session } from './session.ts'
import type { EntryId, ToolCallEntry } from './state.ts'

/**
 * Calls `check` with each tool call that changes while the agent works; ignores replays, which report old work. `differs`: whether the text
 * that the listener reports about the tool call differs from the last one, so that nothing is reported twice.
 */
export function followToolCalls(
  session: Session,
  check: (call: ToolCallEntry, differs: (reported: string) => boolean) => void,
): Disposable {
  const last = new Map<EntryId, string>()
  return session.onDidChange(changes => {
    for (const change of changes) {
      if (change.type === 'reset') last.clear()
      if (change.type !== 'entry' || session.phase !== 'ready') continue
      const { id } = change
      const entry = session.state.entries[session.state.index.get(id) ?? -1]
      if (entry?.kind !== 'tool_call' || entry.startedAt === undefined) continue
      check(entry, reported => {
        if (last.get(id) === reported) return false
        last.set(id, reported)
        return true
      })
    }
  })
}

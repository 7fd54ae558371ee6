import type { FileChange } from '../../acp/model.ts'
import type { Disposable } from '../../common/disposable.ts'
import { isFinalStatus } from '../../conversation/reducer/reduce-tool-calls.ts'
import type { Session } from '../../conversation/session.ts'
import type { ToolCallEntry } from '../../conversation/state.ts'
import type { SessionChanges } from '../../editor/changes/session-changes.ts'

/** Kinds of tools that change the files they name. */
const CHANGING = new Set<ToolCallEntry['toolKind']>(['edit', 'delete', 'move'])

/**
 * Tells the change tracker which files the session's tool calls name and what they say that they change: when they say
 * it, when they begin and when they are over. A replay tells of changes long made, and is not listened to.
 */
export function followChanges(session: Session, changes: SessionChanges): Disposable {
  /** by tool call: what was told, so that nothing is looked at twice */
  const told = new Map<string, string>()
  return session.onDidChange(updates => {
    for (const update of updates) {
      if (update.type === 'reset') told.clear()
      if (update.type !== 'entry' || session.phase !== 'ready') continue
      const entry = session.state.entries[session.state.index.get(update.id) ?? -1]
      if (entry?.kind !== 'tool_call' || entry.startedAt === undefined) continue
      const { toolCallId, status } = entry
      const diffs = diffsOf(entry)
      const named = CHANGING.has(entry.toolKind) ? entry.locations.map(({ path }) => path) : []
      if (diffs.length === 0 && named.length === 0) continue
      const done = isFinalStatus(status)
      // an agent that asks before it acts has done nothing yet
      const begun = done || (status !== 'pending' && session.state.activity !== 'requires_action')
      const paths = [...named, ...diffs.flatMap(({ changes }) => changes.map(({ path }) => path))]
      const mark = `${done} ${begun} ${paths.join('\n')}`
      if (told.get(toolCallId) === mark) continue
      told.set(toolCallId, mark)
      void changes.tool({ toolCallId, begun, done }, diffs, named)
    }
  })
}

function diffsOf(
  entry: ToolCallEntry,
): Array<{ changes: FileChange[]; patch?: { format: string; text: string } }> {
  return entry.content.flatMap(content =>
    content.type === 'diff'
      ? [{ changes: content.changes, ...(content.patch && { patch: content.patch }) }]
      : [],
  )
}

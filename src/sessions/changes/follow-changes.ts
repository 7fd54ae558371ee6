import type { FileChange } from '../../acp/model.ts'
import type { Disposable } from '../../common/disposable.ts'
import { isFinalStatus } from '../../conversation/reducer/reduce-tool-calls.ts'
import type { Session } from '../../conversation/session.ts'
import type { ToolCallEntry } from '../../conversation/state.ts'
import type { ChangedFiles } from '../../editor/changes/changed-files.ts'

/**
 * Tells the changed files of what the session's tool calls say that they change: once when they say it, once when they
 * are over. A replay tells of changes long made, and is not listened to.
 */
export function followChanges(session: Session, files: ChangedFiles): Disposable {
  /** by tool call: what was told, so that nothing is looked at twice */
  const told = new Map<string, string>()
  return session.onDidChange(changes => {
    for (const change of changes) {
      if (change.type === 'reset') told.clear()
      if (change.type !== 'entry' || session.phase !== 'ready') continue
      const entry = session.state.entries[session.state.index.get(change.id) ?? -1]
      if (entry?.kind !== 'tool_call' || entry.startedAt === undefined) continue
      const diffs = diffsOf(entry)
      if (diffs.length === 0) continue
      const done = isFinalStatus(entry.status)
      const mark = `${done} ${diffs.map(({ changes }) => changes.map(({ path }) => path).join('\n')).join('\n')}`
      if (told.get(entry.toolCallId) === mark) continue
      told.set(entry.toolCallId, mark)
      for (const { changes, patch } of diffs) void files.told(changes, patch, done)
    }
  })
}

function diffsOf(
  entry: ToolCallEntry,
): Array<{ changes: FileChange[]; patch: { format: string; text: string } | undefined }> {
  return entry.content.flatMap(content =>
    content.type === 'diff' ? [{ changes: content.changes, patch: content.patch }] : [],
  )
}

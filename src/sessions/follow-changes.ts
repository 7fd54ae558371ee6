import type { FileChange } from '../acp/model.ts'
import type { SessionChanges } from '../changes/session-changes.ts'
import type { Disposable } from '../common/disposable.ts'
import { isFinalStatus } from '../conversation/entries/tool-call.ts'
import { followToolCalls } from '../conversation/follow-tool-calls.ts'
import type { Session } from '../conversation/session.ts'
import type { ToolCallEntry } from '../conversation/state.ts'
import { CHANGING } from './detected-turn.ts'

/**
 * Notifies the change tracker of the files that the session's tool calls name and of the changes that they report, also when tool calls
 * start and end. A replay reports old changes and is ignored.
 */
export function followChanges(session: Session, changes: SessionChanges): Disposable {
  return followToolCalls(session, (entry, differs) => {
    const { toolCallId, status } = entry
    const diffs = diffsOf(entry)
    const named = CHANGING.has(entry.toolKind) ? entry.locations.map(({ path }) => path) : []
    if (diffs.length === 0 && named.length === 0) return
    const done = isFinalStatus(status)
    // an agent that asks for permission has done nothing yet
    const begun = done || (status !== 'pending' && session.state.activity !== 'requires_action')
    const paths = [...named, ...diffs.flatMap(({ changes }) => changes.map(({ path }) => path))]
    if (differs(`${done} ${begun} ${paths.join('\n')}`))
      void changes.tool({ toolCallId, begun, done }, diffs, named)
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

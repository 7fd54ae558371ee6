import type { ToolCallLocation } from '../acp/model.ts'
import type { Disposable } from '../common/disposable.ts'
import type { Session } from '../conversation/session.ts'

/**
 * Hears where the session's agent works: the newest location of each tool call, once, as it comes. A replay tells of work
 * long done, and is not listened to.
 */
export function onAgentLocation(session: Session, hear: (location: ToolCallLocation) => void): Disposable {
  /** by tool call: how many locations were heard, and the last of them */
  const heard = new Map<string, string>()
  return session.onDidChange(changes => {
    for (const change of changes) {
      if (change.type === 'reset') heard.clear()
      if (change.type !== 'entry' || session.phase !== 'ready') continue
      const entry = session.state.entries[session.state.index.get(change.id) ?? -1]
      if (entry?.kind !== 'tool_call' || entry.startedAt === undefined) continue
      const location = entry.locations.at(-1)
      if (!location) continue
      const mark = `${location.path}:${location.line ?? ''}`
      if (heard.get(entry.toolCallId) === mark) continue
      heard.set(entry.toolCallId, mark)
      hear(location)
    }
  })
}

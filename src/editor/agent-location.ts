import type { ToolCallLocation } from '../acp/model.ts'
import type { Disposable } from '../common/disposable.ts'
import { isElsewhere } from '../common/path-mapping.ts'
import { followToolCalls } from '../conversation/follow-tool-calls.ts'
import type { Session } from '../conversation/session.ts'

/**
 * Reports where the session's agent works: the newest location of each tool call, once. Ignores replays, which report old work, and files
 * of another machine.
 */
export function onAgentLocation(session: Session, report: (location: ToolCallLocation) => void): Disposable {
  return followToolCalls(session, ({ locations }, differs) => {
    const location = locations.at(-1)
    const { pathMappings } = session.agent.capabilities
    if (!location || isElsewhere(pathMappings, location.path, session.setup.cwd)) return
    if (differs(`${location.path}:${location.line ?? ''}`)) report(location)
  })
}

/** Chooses the editor group that shows where an agent works, without disturbing the user. */

export interface EditorGroup {
  viewColumn: number
  isActive: boolean
  /** the kind of the group's active tab: a text or diff, another kind such as a conversation, or no tab */
  shows: 'text' | 'other' | 'nothing'
  /** Whether the file of the group's active tab has unsaved changes. */
  isDirty: boolean
  /** when the user last typed or moved the cursor in the group, in milliseconds since the epoch */
  usedAt?: number
}

/** Time without a key or click after which the editor group may be used. Milliseconds. */
export const IDLE_AFTER_MS = 5000

/**
 * Returns the view column of the group in which to show a file, `beside` for a new group, or `undefined` if the user is working where the
 * file would be shown. A conversation in a tab is never covered.
 */
export function chooseEditorGroup(
  groups: readonly EditorGroup[],
  now: number,
): number | 'beside' | undefined {
  const free = groups.filter(group => group.shows !== 'other')
  if (free.length === 0) return groups.length === 0 ? 1 : 'beside'
  const idle = free.filter(
    group => !group.isDirty && (group.usedAt === undefined || now - group.usedAt >= IDLE_AFTER_MS),
  )
  return (idle.find(group => group.isActive) ?? idle[0])?.viewColumn
}

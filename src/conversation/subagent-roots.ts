import type { Roots } from '../acp/model.ts'
import type { ReducingState } from './reducer/reducing-state.ts'

/**
 * The folders that a subagent works in: its own, as far as the agent reported them, else those of the session (`around`).
 * `undefined` when the id is no subagent's.
 */
export function subagentRoots(
  state: ReducingState,
  sessionId: string,
  around: Roots,
  isAbsolute: (path: string) => boolean,
): Roots | undefined {
  for (const { memory } of [state, ...state.memory.subagentStates.values()]) {
    const entry = state.entries[memory.subagents.get(sessionId) ?? -1]
    if (entry?.kind !== 'subagent') continue
    const { cwd, additionalDirectories } = entry
    const own = cwd !== undefined && isAbsolute(cwd) ? cwd : undefined
    return {
      cwd: own ?? around.cwd,
      additionalDirectories:
        additionalDirectories?.filter(isAbsolute) ?? (own === undefined ? around.additionalDirectories : []),
    }
  }
  return undefined
}

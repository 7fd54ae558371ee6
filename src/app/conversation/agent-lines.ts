import type { FileChange } from '../../acp/model.ts'
import { type Disposable, toDisposable } from '../../common/disposable.ts'
import { MAX_HIGHLIGHT_TEXT, MAX_HIGHLIGHTED_CALLS } from '../../common/limits.ts'
import { isElsewhere } from '../../common/path-mapping.ts'
import type { ToolCallEntry } from '../../conversation/state.ts'
import type { OpenSession } from '../../sessions/open-session.ts'
import type { SessionManager } from '../../sessions/session-manager.ts'
import { watchSessions } from '../../sessions/watch-sessions.ts'

/** How long the lines stay marked after the turn, in milliseconds. */
const STAY_MS = 3000

/** The lines that a tool call read or wrote, with the path as the agent wrote it. */
export type AgentLine = { path: string } & (
  | { type: 'read'; line: number }
  | { type: 'edit'; change: FileChange }
)

/**
 * The lines of one tool call of a session, which replace the tool call's earlier lines. Without a tool call, the session's turn is over.
 */
export type AgentLines = { session: string } & (
  | { toolCallId: string; cwd: string; lines: AgentLine[] }
  | { toolCallId?: never }
)

/** Reports the lines of files on this machine that agents read and edit from now on. */
export function followAgentLines(
  manager: Pick<SessionManager, 'list' | 'onDidChange'>,
  tell: (lines: AgentLines) => void,
): Disposable {
  return watchSessions(manager, open => follow(open, tell))
}

function follow(open: OpenSession, tell: (lines: AgentLines) => void): Disposable {
  const { session, key } = open
  /** the sent lines by tool call, the newest last */
  const sent = new Map<string, AgentLine[]>()
  let fade: NodeJS.Timeout | undefined
  const clear = () => {
    if (sent.size === 0) return
    sent.clear()
    tell({ session: key })
  }
  const note = (call: ToolCallEntry) => {
    const { toolCallId } = call
    const { pathMappings } = session.agent.capabilities
    const { cwd } = open.plan.setup
    const lines = linesOf(call).filter(({ path }) => !isElsewhere(pathMappings, path, cwd))
    const before = sent.get(toolCallId) ?? []
    if (lines.length === before.length && lines.every((line, at) => isSame(line, before[at]!))) return
    sent.delete(toolCallId)
    sent.set(toolCallId, lines)
    const [oldest] = sent.keys()
    if (sent.size > MAX_HIGHLIGHTED_CALLS && oldest !== undefined) sent.delete(oldest)
    tell({ session: key, toolCallId, cwd, lines })
  }
  const following = session.onDidChange(changes => {
    for (const change of changes) {
      if (change.type === 'reset') clear()
      if (change.type === 'head' && change.key === 'activity') {
        clearTimeout(fade)
        if (session.state.activity === 'idle') fade = setTimeout(clear, STAY_MS)
        else if (fade) {
          fade = undefined
          clear()
        }
      }
      // a replay reports earlier work
      if (change.type !== 'entry' || session.phase !== 'ready') continue
      const entry = session.state.entries[session.state.index.get(change.id) ?? -1]
      if (entry?.kind === 'tool_call' && entry.startedAt !== undefined) note(entry)
    }
  })
  return toDisposable(() => {
    following.dispose()
    clearTimeout(fade)
    clear()
  })
}

function linesOf({ toolKind, status, content, locations }: ToolCallEntry): AgentLine[] {
  // an edit that was rejected or stopped changed nothing
  if (status === 'failed' || status === 'cancelled') return []
  const edits = content.flatMap(block => (block.type === 'diff' ? block.changes : []))
  const isReading = toolKind === 'read' || toolKind === 'search'
  return [
    ...edits.flatMap((change): AgentLine[] =>
      (change.newText?.length ?? MAX_HIGHLIGHT_TEXT) < MAX_HIGHLIGHT_TEXT
        ? [{ type: 'edit', path: change.path, change }]
        : [],
    ),
    ...(isReading ? locations : []).flatMap(({ path, line }): AgentLine[] =>
      line === undefined ? [] : [{ type: 'read', path, line }],
    ),
  ]
}

function isSame(one: AgentLine, other: AgentLine): boolean {
  if (one.type === 'edit') return other.type === 'edit' && one.change === other.change
  return other.type === 'read' && one.path === other.path && one.line === other.line
}

import * as z from 'zod'
import type { SessionNote } from '../../acp/agent.ts'
import { deferred } from '../../common/async.ts'
import { RELOAD_CLOSE_MS } from '../../common/limits.ts'
import type { SessionId } from '../../common/session-key.ts'
import { createSessionState } from '../../conversation/reducer/reducing-state.ts'
import { continueState } from '../../conversation/replay/restore-state.ts'
import type { Session } from '../../conversation/session.ts'
import { disposePlan } from '../open-session.ts'
import type {
  EarlierServers,
  SavedConversations,
  SessionPlan,
  SessionPlanner,
  SessionRecords,
} from '../ports.ts'
import type { HeldSessions } from '../session-leases.ts'
import type { SessionManager } from '../session-manager.ts'
import { applyStartOptions } from '../start-options.ts'
import { readUnsaved, withUnsaved } from '../unsaved-conversation.ts'
import type { AgentRunner, RunningAgent } from './agent-runner.ts'

/**
 * Delay before the editor's tools are served again in sessions of an earlier window, so that views show the agents' output first.
 * Milliseconds.
 */
const REOPEN_TOOLS_MS = 100

const startOptionsSchema = z.record(z.string(), z.union([z.string(), z.boolean()]))

export interface ReattachOptions {
  manager: SessionManager
  held: HeldSessions
  planner: SessionPlanner
  records: SessionRecords
  transcripts: Pick<SavedConversations, 'read'>
}

/**
 * Continues the sessions that an earlier window had open with the same process. Resolves when all of the agent's output since then has
 * arrived. `onSession`: called for each session before its prompts are sent.
 */
export async function reattachSessions(
  options: ReattachOptions,
  { agentId, name: agentName }: Pick<AgentRunner, 'agentId' | 'name'>,
  { agent, sessions }: RunningAgent,
  onSession: (session: Session, note: SessionNote) => void,
): Promise<void> {
  const { manager, held, planner, records, transcripts } = options
  const { attached, hosted } = agent
  if (!attached || !hosted) return
  const lost = new AbortController()
  const watching = hosted.onDidLose(() => lost.abort())
  const reattached: Session[] = []
  /** Whether the host must keep the agent's frames: another window may need frames that this window doesn't. */
  let isNeeded = !attached.isOver
  const failures: unknown[] = []
  const begun = deferred()
  for (const one of attached.sessions) {
    const { sessionId } = one
    const id = { agentId, sessionId }
    const unsaved = readUnsaved(one.note.unsaved, hosted.id)
    const record = records.get(agentId, sessionId) ?? (unsaved && { sessionId, ...unsaved })
    if (!record) continue
    if (attached.isOver && !unsaved && continuesElsewhere(options, id, hosted.id)) continue
    if (!(await held.acquireWithin(RELOAD_CLOSE_MS, id, lost.signal).catch(() => false))) {
      // The previous window has left the agent, but may take long to close. Without its sessions, this window would refuse the agent's
      // requests. If the agent has exited, another process may have continued the session.
      if (attached.isOver || lost.signal.aborted) {
        isNeeded = true
        continue
      }
      held.seize(id)
    }
    let plan: SessionPlan | undefined
    try {
      const servers = one.note as EarlierServers
      plan = await planner.forReattached({ ...record, agentId }, agent.capabilities, servers)
      const stored = transcripts.read(agentId, sessionId)
      const saved = unsaved ? withUnsaved(stored, unsaved.changes) : stored
      const said = saved?.said?.hostedId === hosted.id ? saved.said.frame : 0
      const state = saved ? continueState(saved) : createSessionState()
      const session = sessions.reattachSession(one, plan.setup, state, said)
      // it isn't known whether the agent took a prompt sent during the turn, so the user decides whether to send the prompt again
      const isUndecided = saved?.entries.some(entry => entry.kind === 'message' && entry.steering === 'sent')
      onSession(session, isUndecided ? { ...one.note, isPaused: true } : one.note)
      const open = manager.create(agentId, agentName, session, plan)
      open.allowance.restore(one.note.allowance)
      const { data: defaults } = startOptionsSchema.safeParse(one.note.startOptions)
      open.startOptions = defaults
      if (defaults)
        session.beginAfter(async () => {
          await begun.promise
          await applyStartOptions(open, { defaults, lastUsed: {} }, new Set())
        })
      manager.admit(open, saved === stored ? 'known' : 'unsaved')
      if (unsaved) manager.record(open)
      reattached.push(session)
    } catch (error) {
      isNeeded = true
      failures.push(error)
      if (plan) disposePlan(plan)
      held.release(id)
    }
  }
  watching.dispose()
  // also after a failure, since the agent's other sessions continue
  await attached.begin().finally(begun.resolve)
  if (!isNeeded) hosted.confirm(hosted.handled)
  for (const session of reattached) session.requests.repeated()
  // delayed, since loading the tools would delay the agent's output
  setTimeout(() => {
    for (const { sessionId } of reattached)
      void manager.find(agentId, sessionId)?.plan.editorTools?.reopen?.(port => hosted.serve(port))
  }, REOPEN_TOOLS_MS)
  if (failures.length > 0) throw failures[0]
}

/** Whether another process has continued a session after the process with this id exited. */
function continuesElsewhere(
  { manager, transcripts }: ReattachOptions,
  { agentId, sessionId }: SessionId,
  hostedId: string,
): boolean {
  if (manager.find(agentId, sessionId)) return true
  const saved = transcripts.read(agentId, sessionId)
  return saved !== undefined && saved.said?.hostedId !== hostedId
}

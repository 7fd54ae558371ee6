import { RecordedSession } from '../../acp/recorded-session.ts'
import { isRecord } from '../../common/is-record.ts'
import { reduce } from '../../conversation/reducer/reduce.ts'
import type { LocalEvent } from '../../conversation/reducer/reduce-local.ts'
import { reduceLocalWithin } from '../../conversation/reducer/reduce-within.ts'
import { createSessionState, type ReducingState } from '../../conversation/reducer/reducing-state.ts'
import type { SteppedWork } from '../../conversation/replay/stepped-work.ts'
import type { RecordedFrame, RecordedFrames } from './recorded-frames.ts'

interface ListedSession {
  connection: number
  sessionId: string
  /** the agent's name */
  agent: string
}

/** Further sessions aren't listed. */
const MAX_SESSIONS = 1000

/** The sessions that frames are about, in the order of their first frames. */
export function sessionsIn(frames: RecordedFrames): ListedSession[] {
  const found = new Map<string, ListedSession>()
  for (let n = frames.first; n < frames.next && found.size < MAX_SESSIONS; n++) {
    const { sessionId, source: { agent, connection } = {} } = frames.get(n) ?? {}
    if (sessionId !== undefined && connection !== undefined && agent !== undefined)
      found.set(`${connection} ${sessionId}`, { connection, sessionId, agent })
  }
  return [...found.values()]
}

/** How many frames are read in a step. */
const STEP = 16

/**
 * The conversation of a recorded session, with the reducers of a running one, in steps. `connection`: two agents may use the same session
 * ID. `jsonOf`: the message without secrets.
 */
export function* replayFrames(
  frames: RecordedFrames,
  { connection, sessionId }: { connection: number; sessionId: string },
  jsonOf: (frame: RecordedFrame) => string,
): SteppedWork<ReducingState> {
  const state = createSessionState()
  let now = 0
  const local = (event: LocalEvent) => void reduceLocalWithin(state, event, now)
  const session = new RecordedSession(sessionId, {
    prompt: content => local({ type: 'prompt', content }),
    update: update => void reduce(state, update, now),
    permissionAsked: (requestId, request) => local({ type: 'permission_asked', requestId, request }),
    permissionAnswered: (requestId, outcome) => local({ type: 'request_answered', requestId, outcome }),
  })
  for (let n = frames.first; n < frames.next; n++) {
    if (n % STEP === 0) yield
    const frame = frames.get(n)
    if (frame?.sessionId !== sessionId || frame.source.connection !== connection) continue
    now = Math.max(now, frame.at)
    const message = parsed(jsonOf(frame))
    if (message) session.add(frame, message)
  }
  // what no frame has ended
  local({ type: 'agent_gone' })
  return state
}

function parsed(json: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(json)
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}

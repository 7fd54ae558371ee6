import * as l10n from '@vscode/l10n'
import { RecordedSession } from '../../acp/recorded-session.ts'
import { elicitationCompleteSchema } from '../../acp/wire/elicitation.ts'
import { isRecord } from '../../common/is-record.ts'
import { reduce } from '../../conversation/reducer/reduce.ts'
import type { LocalEvent } from '../../conversation/reducer/reduce-local.ts'
import { reduceLocalWithin, reduceWithin } from '../../conversation/reducer/reduce-within.ts'
import { createSessionState, type ReducingState } from '../../conversation/reducer/reducing-state.ts'
import type { SteppedWork } from '../../conversation/replay/stepped-work.ts'
import { messageIn, type RecordedFrame, type RecordedFrames } from './recorded-frames.ts'

interface ListedSession {
  connection: number
  sessionId: string
  agentId: string
  /** the agent's name */
  agent: string
}

/** The maximum number of sessions that are listed. */
const MAX_SESSIONS = 1000

/** Returns the sessions that the frames are about, in the order of their first frames. */
export function sessionsIn(frames: RecordedFrames): ListedSession[] {
  const found = new Map<string, ListedSession>()
  for (let n = frames.first; n < frames.next && found.size < MAX_SESSIONS; n++) {
    const { sessionId, source } = frames.get(n) ?? {}
    if (sessionId === undefined || !source) continue
    const { agent, agentId, connection } = source
    found.set(`${connection} ${sessionId}`, { connection, sessionId, agent, agentId })
  }
  return [...found.values()]
}

/** The number of frames to read in a step. */
const STEP = 16

/**
 * Rebuilds the conversation of a recorded session and its subagents in steps, with the same reducers as for a running session. `connection`
 * is needed because two agents may use the same session ID. `jsonOf` returns a message without secrets. Notices in the conversation say
 * what a recording can't show.
 */
export function* replayFrames(
  frames: RecordedFrames,
  { connection, sessionId }: { connection: number; sessionId: string },
  jsonOf: (frame: RecordedFrame) => string,
): SteppedWork<ReducingState> {
  let state = createSessionState()
  let now = 0
  let isCut = false
  let isWhole = false
  const local = (event: LocalEvent) => void reduceLocalWithin(state, event, now)
  const reader = (id: string, within?: string) =>
    new RecordedSession(id, {
      // users send prompts only to the session itself, not to its subagents
      prompt: content => within === undefined && local({ type: 'prompt', content }),
      update: update => void reduceWithin(state, within, update, now),
      permissionAsked: (requestId, request) => local({ type: 'permission_asked', requestId, request }),
      elicitationAsked: (requestId, request) => local({ type: 'elicitation_asked', requestId, request }),
      answered: (requestId, outcome) => local({ type: 'request_answered', requestId, outcome }),
      steering: (promptId, content) => local({ type: 'prompt_steering', promptId, content }),
      steered: (promptId, outcome) => local({ type: 'prompt_steered', promptId, outcome }),
      terminal: terminal => local({ type: 'terminal', terminal }),
      opened: () => within === undefined && local({ type: 'load_finished' }),
    })
  const readers = new Map([[sessionId, reader(sessionId)]])
  for (let n = frames.first; n < frames.next; n++) {
    if (n % STEP === 0) yield
    const frame = frames.get(n)
    if (frame?.source.connection !== connection) continue
    const id = frame.sessionId
    const isVisit = frame.method === 'elicitation/complete'
    if (!isVisit && (id === undefined || (id !== sessionId && !state.memory.subagentStates.has(id)))) continue
    now = Math.max(now, frame.at)
    isCut ||= frame.isCut
    const message = messageIn(jsonOf(frame))
    if (!message) continue
    const opening = openingOf(frame, message)
    isWhole ||= opening !== undefined
    if (opening === 'replayed') {
      state = createSessionState()
      readers.clear()
    }
    if (isVisit) {
      const visit = elicitationCompleteSchema.safeParse(message.params).data
      if (visit) local({ type: 'visit_done', elicitationId: visit.elicitationId })
    } else if (id !== undefined) {
      const known = readers.get(id) ?? reader(id, id === sessionId ? undefined : id)
      readers.set(id, known)
      known.add(frame, message)
    }
  }
  const isOver = !state.memory.running
  // ends what is still running because no recorded frame has ended it
  local({ type: 'agent_gone' })
  if (state.entries.length === 0) return state
  const notices = [
    ...(isWhole ? [] : [l10n.t("The recording doesn't contain the session's start.")]),
    ...(isOver ? [] : [l10n.t('The recording ends before the turn does.')]),
    ...(isCut ? [l10n.t('Some messages were too long to be recorded completely.')] : []),
  ]
  for (const title of notices) reduce(state, { type: 'notice', severity: 'info', title }, now)
  return state
}

/** Returns how a request opened the session; `replayed` means that the session's history follows. */
function openingOf(
  { kind, method, failed, pair }: RecordedFrame,
  { params }: Record<string, unknown>,
): 'created' | 'replayed' | undefined {
  if (kind !== 'request' || pair === undefined || failed) return undefined
  if (method === 'session/new') return 'created'
  const isReplayed = method === 'session/resume' && isRecord(params) && isRecord(params.replayFrom)
  return method === 'session/load' || isReplayed ? 'replayed' : undefined
}

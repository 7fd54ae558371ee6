import * as l10n from '@vscode/l10n'
import type { ContentBlock } from '../acp/model.ts'
import { MAX_CONVERSATION_CONTEXT } from '../common/limits.ts'
import { sessionKey, sessionOfKey } from '../common/session-key.ts'
import {
  allOriginsOf,
  continuedState,
  earlierSessions,
  knownUntil,
  type Origin,
  untold,
} from '../conversation/continuations.ts'
import { type LatestTurns, latestTurns } from '../conversation/markdown-export.ts'
import type { ReducingState } from '../conversation/reducer/reducing-state.ts'
import type { SessionState } from '../conversation/state.ts'
import type { LocalSession } from '../history/session-store.ts'
import { type OpenSession, referenceOf, type SessionReference } from './open-session.ts'
import type { SessionRecords } from './ports.ts'
import type { HeldSessions } from './session-leases.ts'
import { fileNameOfTitle, titleOf } from './session-title.ts'

/** What the URIs of conversations begin with that are context of a prompt. */
export const CONVERSATION_URI = 'parley:/'

/** A conversation that goes on in another session. */
export interface Continuing {
  from: OpenSession
  /** by its agent, of what the next session gets no text of */
  summary?: string
}

/**
 * The conversation for the session that it goes on in: a new one of the agent with this name, or an earlier one of this
 * conversation, with this key.
 */
export function stateToContinue(
  { from, summary }: Continuing,
  agentName: string,
  earlier?: string,
): ReducingState {
  const { state } = from.session
  const part = partFor(state, earlier === undefined ? 0 : knownUntil(allEntries(from), earlier), from)
  const isAgain = earlier === undefined && agentName === from.agentName
  return continuedState(
    state,
    { session: from.key, agentName: from.agentName, ...(summary !== undefined && { summary }) },
    {
      title: isAgain
        ? l10n.t('Continued with {0} in a new session', agentName)
        : l10n.t('Continued with {0}', agentName),
      description: [
        describe(part, agentName, earlier !== undefined),
        ...(summary === undefined ? [] : [l10n.t('{0} has summarized the rest:', from.agentName), summary]),
      ].join('\n\n'),
    },
  )
}

/** The entries as they are once the conversation has left the session. */
function allEntries({ key, agentName, session: { state } }: OpenSession) {
  const left = { kind: 'notice', id: '', turn: state.turn, severity: 'info', title: '' } as const
  return [...state.entries, { ...left, continues: { session: key, turn: state.turn, agentName } }]
}

function describe({ turns, of, isPart }: LatestTurns, agentName: string, knows: boolean): string {
  if (of === 0) return l10n.t('It knows the conversation up to here.')
  if (isPart) return l10n.t('With your next prompt, {0} gets the end of the last turn.', agentName)
  if (turns < of)
    return l10n.t('With your next prompt, {0} gets the last {1} of {2} turns.', agentName, turns, of)
  return knows
    ? l10n.t('With your next prompt, {0} gets what was said since it was here.', agentName)
    : l10n.t('With your next prompt, {0} gets the conversation up to here.', agentName)
}

function partFor(
  state: Pick<SessionState, 'entries' | 'terminals'>,
  from: number,
  open: OpenSession,
): LatestTurns {
  const entries = state.entries.slice(from)
  const about = { title: titleOf(open.session) ?? '', agentName: open.agentName }
  return latestTurns({ entries, terminals: state.terminals }, about, MAX_CONVERSATION_CONTEXT)
}

/**
 * The part of its conversation that the session's agent hasn't got, to go with the next prompt; `undefined` if there is none. As
 * text if the agent doesn't support files.
 */
export function contextToTell({ session, key, plan }: OpenSession): ContentBlock | undefined {
  const { state } = session
  const part = untold(state, key)
  if (!part) return undefined
  const { agentName, summary } = part.continued
  const title = titleOf(session) ?? l10n.t('Conversation')
  const { text } = latestTurns(
    { entries: state.entries.slice(part.from, part.to), terminals: state.terminals },
    { title, agentName, cwd: plan.setup.cwd, ...(summary !== undefined && { summary }) },
    MAX_CONVERSATION_CONTEXT,
  )
  const uri = `${CONVERSATION_URI}${encodeURIComponent(fileNameOfTitle(title))}.md`
  return session.agent.capabilities.prompt.embeddedContext
    ? { type: 'resource', uri, mimeType: 'text/markdown', text, agentOnly: true }
    : { type: 'text', text, agentOnly: true }
}

/** The session of this agent in which the conversation was before, the latest; `undefined` if there is none. */
export function earlierSessionOf(
  agentId: string,
  from: OpenSession,
  records: Pick<SessionRecords, 'get'>,
): SessionReference | undefined {
  for (const { session } of earlierSessions(from.session.state).reverse()) {
    const id = sessionOfKey(session)
    const record = id.agentId === agentId ? records.get(agentId, id.sessionId) : undefined
    if (record && leadsTo(record, from.key)) return { ...id, cwd: record.cwd }
  }
  return undefined
}

/**
 * The sessions that the conversation of the session with this key was forked from or was in before. What another one changed isn't
 * for this conversation to decide because a fork or an imported file says so.
 */
export function originsOf(
  state: Pick<SessionState, 'entries'>,
  key: string,
  records: Pick<SessionRecords, 'get'>,
): Origin[] {
  return allOriginsOf(state).map(origin => {
    const { session, turn, continued } = origin
    if (!continued) return origin
    const { agentId, sessionId } = sessionOfKey(session)
    const record = records.get(agentId, sessionId)
    return record && leadsTo(record, key) ? origin : { session, turn }
  })
}

/** Lists show one row for the conversation: that of the session that it's in now. */
export function recordContinuation(
  records: Pick<SessionRecords, 'get' | 'noted'>,
  held: Pick<HeldSessions, 'acquire' | 'release'>,
  from: OpenSession,
  to: OpenSession,
): void {
  const reference = referenceOf(from)
  const next = { agentId: to.agentId, sessionId: to.session.sessionId }
  const record = records.get(from.agentId, reference.sessionId)
  const givenTitle = record?.givenTitle ?? reference.title
  records.noted(to.agentId, referenceOf(to), {
    ...(givenTitle !== undefined && { givenTitle }),
    pinned: record?.pinned === true,
  })
  if (givenTitle !== undefined) to.session.conversation.giveTitle(givenTitle)
  // a crash or a full disk must not leave a row without its conversation
  to.recorder?.flush()
  if (to.recorder?.isStored === false) return
  // in another window, it goes on
  if (!held.acquire(reference)) return
  held.release(reference)
  records.noted(from.agentId, reference, { continuedIn: next })
  for (const { session } of earlierSessions(to.session.state)) {
    const id = sessionOfKey(session)
    const earlier = session === to.key ? undefined : records.get(id.agentId, id.sessionId)
    if (earlier && leadsTo(earlier, from.key)) records.noted(id.agentId, earlier, { continuedIn: next })
  }
}

/** Not if the user has opened it as a conversation of its own since, or has imported the other one. */
function leadsTo({ continuedIn: next }: LocalSession, key: string): boolean {
  return next !== undefined && sessionKey(next.agentId, next.sessionId) === key
}

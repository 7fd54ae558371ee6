import * as l10n from '@vscode/l10n'
import type { ContentBlock } from '../acp/model.ts'
import { MAX_CONVERSATION_CONTEXT } from '../common/limits.ts'
import { type SessionId, sessionKey, sessionOfKey } from '../common/session-key.ts'
import {
  allOriginsOf,
  continuedState,
  earlierSessions,
  entriesToTell,
  type Origin,
  unknownPart,
} from '../conversation/continuations.ts'
import { continuedIn } from '../conversation/entries/notice.ts'
import { type LatestTurns, latestTurns } from '../conversation/markdown-export.ts'
import type { ReducingState } from '../conversation/reducer/reducing-state.ts'
import type { Continued, EntryId, SessionState } from '../conversation/state.ts'
import type { LocalSession } from '../history/session-store.ts'
import { type OpenSession, referenceOf, type SessionReference } from './open-session.ts'
import type { AgentDirectory, AgentEntry, SessionRecords } from './ports.ts'
import type { HeldSessions } from './session-leases.ts'
import { fileNameOfTitle, titleOf } from './session-title.ts'

/** The start of the URIs of conversations that are attached to a prompt as context. */
export const CONVERSATION_URI = 'parley:/'

/** A conversation that continues in another session, and which part of the conversation that session gets. */
export interface Continuing extends Pick<Continued, 'summary' | 'max' | 'without'> {
  from: OpenSession
}

/**
 * Returns the state of the session in which a conversation continues: a new session of the agent with this name, or the conversation's
 * earlier session with the key `earlier`.
 */
export function stateToContinue(continuing: Continuing, agentName: string, earlier?: string): ReducingState {
  const { from, summary } = continuing
  const isAgain = earlier === undefined && agentName === from.agentName
  return continuedState(from.session.state, continuedFrom(continuing), {
    title: isAgain
      ? l10n.t('Continued with {0} in a new session', agentName)
      : l10n.t('Continued with {0}', agentName),
    description: [
      describe(partFor(continuing, earlier), agentName, earlier !== undefined),
      ...(summary === undefined ? [] : [l10n.t('{0} has summarized the rest:', from.agentName), summary]),
    ].join('\n\n'),
  })
}

function continuedFrom({ from: { key, agentName }, ...how }: Continuing): Omit<Continued, 'turn'> {
  return { session: key, agentName, ...how }
}

function describe({ turns, of, isPart }: LatestTurns, agentName: string, knows: boolean): string {
  if (of === 0)
    return knows
      ? l10n.t('It knows the conversation up to here.')
      : l10n.t('{0} gets only your next prompt: there was no room for more.', agentName)
  if (isPart) return l10n.t('With your next prompt, {0} gets the end of the last turn.', agentName)
  if (turns < of)
    return l10n.t('With your next prompt, {0} gets the last {1} of {2} turns.', agentName, turns, of)
  return knows
    ? l10n.t('With your next prompt, {0} gets what was said since it was here.', agentName)
    : l10n.t('With your next prompt, {0} gets the conversation up to here.', agentName)
}

/**
 * Returns the part that the next session gets: a new session, or the session with the key `earlier`, which already knows a part of the
 * conversation.
 */
function partFor(continuing: Continuing, earlier?: string): LatestTurns {
  const { from, max } = continuing
  return latestTurns(missingIn(continuing, earlier), conversationInfo(from), boundedLimit(max))
}

/** Returns the text of the latest turns that the next session doesn't get, up to a length limit; `undefined` if it gets all turns. */
export function omittedTurns(continuing: Continuing, earlier?: string): string | undefined {
  const { from: first } = partFor(continuing, earlier)
  if (first === 0) return undefined
  const { entries, terminals } = missingIn(continuing, earlier)
  const { from, max } = continuing
  return latestTurns(
    { terminals, entries: entries.slice(0, first) },
    conversationInfo(from),
    boundedLimit(max),
  ).text
}

function missingIn(continuing: Continuing, earlier: string | undefined) {
  const { entries, terminals, turn } = continuing.from.session.state
  const notice = { kind: 'notice', id: '', turn, severity: 'info', title: '' } as const
  const all = [...entries, { ...notice, continues: { ...continuedFrom(continuing), turn } }]
  return { terminals, entries: entriesToTell(all, earlier) }
}

/** Returns the stored limit, which may have any value, bounded by the maximum. */
function boundedLimit(max = MAX_CONVERSATION_CONTEXT): number {
  return Math.min(max, MAX_CONVERSATION_CONTEXT)
}

/** Returns the data for the header of a document with the conversation's text. */
export function conversationInfo({ session, agentName, plan }: OpenSession) {
  return { title: titleOf(session) || l10n.t('Conversation'), agentName, cwd: plan.setup.cwd }
}

/**
 * Returns the part of the conversation that the session's agent hasn't received, to send with the next prompt; `undefined` if there is
 * none. The part is sent as text if the agent doesn't support embedded files.
 */
export function contextToTell(open: OpenSession): ContentBlock | undefined {
  const { session, key } = open
  const { state } = session
  const part = unknownPart(state, key)
  if (!part) return undefined
  const { agentName, summary, max } = part.continued
  const about = { ...conversationInfo(open), agentName, ...(summary !== undefined && { summary }) }
  const { text } = latestTurns(
    { entries: part.entries, terminals: state.terminals },
    about,
    boundedLimit(max),
  )
  const uri = `${CONVERSATION_URI}${encodeURIComponent(fileNameOfTitle(about.title))}.md`
  return session.agent.capabilities.prompt.embeddedContext
    ? { type: 'resource', uri, mimeType: 'text/markdown', text, agentOnly: true }
    : { type: 'text', text, agentOnly: true }
}

/**
 * Returns the latest session of this agent that the conversation used before; `undefined` if there is none. If the conversation continues
 * with the same agent, for example because the context is full, it doesn't return to an older session.
 */
export function earlierSessionOf(
  agentId: string,
  from: OpenSession,
  records: Pick<SessionRecords, 'get'>,
): SessionReference | undefined {
  if (agentId === from.agentId) return undefined
  for (const { session } of earlierSessions(from.session.state).reverse()) {
    const id = sessionOfKey(session)
    const record = id.agentId === agentId ? records.get(agentId, id.sessionId) : undefined
    if (record && leadsTo(record, from.key)) return { ...id, cwd: record.cwd }
  }
  return undefined
}

/**
 * Returns the previous agent of the conversation, to which the user can return, and the notice about the switch; `undefined` while the
 * user can't return.
 */
export function agentBefore(
  { agentId, session: { state, phase } }: OpenSession,
  agents: Pick<AgentDirectory, 'get'>,
): { agent: AgentEntry; notice: EntryId } | undefined {
  if (phase !== 'ready' || state.activity !== 'idle') return undefined
  if (!allOriginsOf(state).some(({ continued }) => continued)) return undefined
  const notice = state.entries.findLast(entry => continuedIn(entry) !== undefined)
  const before = notice && sessionOfKey(continuedIn(notice)!.session).agentId
  const agent = before === undefined || before === agentId ? undefined : agents.get(before)
  return agent && { agent, notice: notice!.id }
}

/**
 * Returns the sessions that the conversation of the session with this key was forked from or used before. A fork or an imported file alone
 * doesn't give this conversation the right to decide about another session's changes.
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

/** Returns the session in which this session's conversation has continued; `undefined` if the conversation is still in this session. */
export function whereNow(
  { agentId, sessionId }: SessionId,
  records: Pick<SessionRecords, 'get'>,
): SessionReference | undefined {
  const next = records.get(agentId, sessionId)?.continuedIn
  const record = next && records.get(next.agentId, next.sessionId)
  return record && { ...next, cwd: record.cwd }
}

/** Returns the keys of the sessions that the conversation was in before the session with this key. */
export function sessionsBefore(key: string, records: Pick<SessionRecords, 'agentIds' | 'list'>): string[] {
  const all = records.agentIds().flatMap(agentId => records.list(agentId))
  return all
    .filter(record => leadsTo(record, key))
    .map(({ agentId, sessionId }) => sessionKey(agentId, sessionId))
}

/** Records the new session of the conversation, so that lists show one row for the conversation. */
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
  // store first: a crash or a full disk must not leave a row in lists without its conversation
  to.recorder?.flush()
  if (to.recorder?.isStored === false) return
  // if another window has the previous session, the conversation continues there
  if (!held.acquire(reference)) return
  held.release(reference)
  records.noted(from.agentId, reference, { continuedIn: next })
  for (const { session } of earlierSessions(to.session.state)) {
    const id = sessionOfKey(session)
    const earlier = session === to.key ? undefined : records.get(id.agentId, id.sessionId)
    if (earlier && leadsTo(earlier, from.key)) records.noted(id.agentId, earlier, { continuedIn: next })
  }
}

/** Whether the session continues in the session with this key: not if the user has since opened it separately or imported the other. */
function leadsTo({ continuedIn: next }: LocalSession, key: string): boolean {
  return next !== undefined && sessionKey(next.agentId, next.sessionId) === key
}

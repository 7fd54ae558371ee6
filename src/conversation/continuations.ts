/**
 * A conversation may continue in another session, usually one of another agent. The new session starts with a copy of the entries, followed
 * by a notice. With the next prompt, its agent gets the part of the conversation that it doesn't know.
 */

import { isContextFullAnswer } from './context-full.ts'
import { messageText } from './entries/message.ts'
import { continuedIn, NOTICE } from './entries/notice.ts'
import { reduce } from './reducer/reduce.ts'
import type { ReducingState } from './reducer/reducing-state.ts'
import { restoreState } from './replay/restore-state.ts'
import { isCommand } from './rewinds.ts'
import type { Continued, Entry, ForkOrigin, NoticeEntry, SessionState } from './state.ts'
import { isPrompt } from './user-prompts.ts'

type Conversation = Pick<SessionState, 'entries'>

/** The entries of a conversation that the agent of its current session doesn't know. */
export interface UnknownPart {
  entries: Entry[]
  /** the session in which the conversation was before */
  continued: Continued
}

/** Returns a copy of a conversation, without running work, for the session in which it continues. */
export function continuedState(
  { entries, terminals, title }: SessionState,
  from: Omit<Continued, 'turn'>,
  notice: Pick<NoticeEntry, 'title' | 'description'>,
): ReducingState {
  const { description } = notice
  const copy = restoreState(
    structuredClone({
      entries,
      terminals: [...terminals.values()],
      head: { ...(title !== undefined && { title }) },
    }),
  )
  reduce(copy, {
    ...{ type: 'notice', severity: 'info', title: notice.title },
    ...(description !== undefined && { description }),
  })
  const note = copy.entries.at(-1)
  if (note?.kind === 'notice') {
    note.continues = { ...from, turn: copy.turn }
    NOTICE.restore?.(copy, note, copy.entries.length - 1)
  }
  return copy
}

/** Returns the part of the conversation that the session with this key hasn't received yet; `undefined` if there is none. */
export function unknownPart({ entries }: Conversation, key: string): UnknownPart | undefined {
  const to = entries.findLastIndex(entry => continuedIn(entry) !== undefined)
  const last = entries[to]
  const continued = last && continuedIn(last)
  if (!continued || hasAnswer(entries, to + 1, entries.length)) return undefined
  const missing = entriesToTell(entries.slice(0, to + 1), key)
  return missing.length > 0 ? { entries: missing, continued } : undefined
}

/**
 * Returns the entries of a continued conversation that the session with this key, or a new session, doesn't know yet. The last entry is the
 * notice about the continuation.
 */
export function entriesToTell(entries: readonly Entry[], key?: string): Entry[] {
  const targets = entries.flatMap(entry => continuedIn(entry) ?? [])
  if (targets.at(-1)?.max === 0) return []
  const again = new Set(targets.map(({ without }) => without))
  const before = entries.slice(0, -1)
  const missing = before.slice(knownUntil(before, key)).filter(({ turn }) => !again.has(turn))
  return missing.some(({ kind }) => kind === 'message' || kind === 'tool_call') ? missing : []
}

/**
 * Returns how many of the first entries the session with this key knows; 0 if it has no part of the conversation, or its agent has never
 * answered.
 */
export function knownUntil(entries: readonly Entry[], key: string | undefined): number {
  let known = 0
  let from = 0
  for (const [at, entry] of entries.entries()) {
    const continued = continuedIn(entry)
    if (!continued) continue
    if (continued.session === key && hasAnswer(entries, from, at)) known = at + 1
    from = at + 1
  }
  return known
}

/** Returns the sessions that the conversation was in before, oldest first. */
export function earlierSessions({ entries }: Conversation): Continued[] {
  return entries.flatMap(entry => continuedIn(entry) ?? [])
}

/** the origins among the first `searched` entries, the last of which is `last`; by the list of entries */
const found = new WeakMap<
  readonly Entry[],
  { searched: number; last: Entry | undefined; origins: Origin[] }
>()

/** A session that a conversation comes from. `continued`: the user accepts or reverts that session's file changes in this conversation. */
export type Origin = ForkOrigin & { continued?: true }

/**
 * Returns the sessions that a conversation was forked from or was in before, each with the last of its turns that is part of the
 * conversation.
 */
export function allOriginsOf({ entries }: Conversation): readonly Origin[] {
  let known = found.get(entries)
  // entries are only appended, unless another window's entries replace the last ones
  if (!known || entries[known.searched - 1] !== known.last)
    known = { searched: 0, last: undefined, origins: [] }
  const added = entries.slice(known.searched).flatMap((entry): Origin[] => {
    const continued = continuedIn(entry)
    if (continued) return [{ session: continued.session, turn: continued.turn, continued: true }]
    return entry.kind === 'notice' && entry.forkedFrom ? [entry.forkedFrom] : []
  })
  const origins = added.length > 0 ? [...known.origins, ...added] : known.origins
  found.set(entries, { searched: entries.length, last: entries.at(-1), origins })
  return origins
}

/** Whether the agent answered in a turn. A slash command is sent without context, so its answer doesn't count. */
function hasAnswer(entries: readonly Entry[], from: number, to: number): boolean {
  let isAlone = false
  for (let at = from; at < to; at++) {
    const entry = entries[at]!
    if (isPrompt(entry)) isAlone = isCommand(entry.blocks)
    if (isAlone || entry.turn === 0 || entry.outOfTurn) continue
    if (entry.kind === 'tool_call') return true
    if (entry.kind === 'message' && entry.role !== 'user' && !isContextFullAnswer(messageText(entry)))
      return true
  }
  return false
}

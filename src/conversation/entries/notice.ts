import * as z from 'zod'
import type { Open } from '../../acp/model.ts'
import { markdownText } from '../../common/markdown-text.ts'
import { lines } from '../block-text.ts'
import { contained, escaped, quoted } from '../markdown.ts'
import type { EntryBase } from '../state-base.ts'
import { append, type Reducers } from '../step.ts'
import type { EntryKind } from './entry-kind.ts'

export interface NoticeEntry extends EntryBase {
  kind: 'notice'
  severity: Open<'info' | 'warning' | 'error'>
  title: string
  description?: string
  /** The entries above come from Parley's saved copy. */
  savedCopy?: true
  /** absolute paths of the changed files that the notice is about */
  files?: string[]
  rewind?: Rewind
  /** The conversation is a fork: the entries above are from another session. */
  forkedFrom?: ForkOrigin
  /** The conversation continues here from another session: the entries above belong to the other session and earlier ones. */
  continues?: Continued
}

/** The session that a conversation was in before it continued in another session. */
export interface Continued extends ForkOrigin {
  /** name of the session's agent */
  agentName: string
  /** a summary of the part of the conversation that the next session doesn't get as text */
  summary?: string
  /** how much of the conversation the next session gets at most, in characters; 0: nothing */
  max?: number
  /** The turn of a prompt that is sent again: the next session gets no entries of that turn. */
  without?: number
}

/** The session that a conversation was forked from. */
export interface ForkOrigin {
  /** key of the other session in this window */
  session: string
  /** the last turn of the other session that is part of the conversation */
  turn: number
}

/** The user went back to the point before the turn `from`: the turns `from` to `to` are set aside. */
export interface Rewind {
  from: number
  to: number
  /** the id with which the user can undo the restore of files; absent if no files were restored */
  restored?: string
  /** Neither the agent nor this conversation has the rewound turns: the session was forked before them. */
  forgotten?: true
  /** The user undid the rewind. */
  withdrawn?: true
}

export const NOTICE: EntryKind<NoticeEntry> = {
  kind: 'notice',
  schema: () => ({ severity: z.string(), title: z.string() }),
  isWork: () => false,
  mergeKey: ({ title, description }) => [title, description],
  restore: ({ memory }, { continues }) => {
    if (!continues) return
    // another agent may use the same ids as the earlier agent
    for (const names of [memory.positions, memory.messages, memory.messageParts, memory.roles, memory.visits])
      names.clear()
    memory.answers.clear()
    memory.openMessage = undefined
  },
  markdown: ({ title, description }) =>
    [`> **${escaped(title)}**`, ...(description ? [quoted(contained(description))] : [])].join('\n>\n'),
  text: ({ title, description }) => ({
    head: lines([title, description && markdownText(description)]),
    body: '',
  }),
}

export const NOTICE_REDUCERS: Reducers<'notice'> = {
  notice: (step, { severity, title, description }) => {
    append(step, NOTICE, description === undefined ? { severity, title } : { severity, title, description })
  },
}

/** Returns the session of the entries above a notice, if the conversation continued in another session. Checks the stored data. */
export function continuedIn(entry: EntryBase): Continued | undefined {
  const continues = entry.kind === 'notice' ? (entry as NoticeEntry).continues : undefined
  if (!continues || typeof continues !== 'object') return undefined
  const { session, turn, agentName, summary, max, without } = continues
  if (typeof session !== 'string' || !session.includes('/') || typeof turn !== 'number') return undefined
  return {
    ...{ session, turn, agentName: typeof agentName === 'string' ? agentName : '' },
    ...(typeof summary === 'string' && { summary }),
    ...(typeof max === 'number' && max >= 0 && { max }),
    ...(typeof without === 'number' && { without }),
  }
}

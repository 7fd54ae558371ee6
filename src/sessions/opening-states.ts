import type { Deferred } from '../common/async.ts'
import type { OpeningStep } from '../conversation/phases.ts'
import type { ConversationEnd } from '../conversation/replay/restore-state.ts'
import type { Attempt, Reopening } from './failures.ts'
import type { OpenSession, SessionReference } from './open-session.ts'

/**
 * The states of opening a session in a view, and every transition between them. A transition that isn't in the table is a defect, and
 * throws.
 * - `idle`: no session is being opened; the view displays an open session, a saved conversation, or nothing.
 * - `preparing`: an agent is being installed; its session starts then.
 * - `searching`: a session starts once the available agents are known.
 * - `restoring`: the session from before a reload is reopened once the available agents are known.
 * - `replacing`: the displayed session is reopened once its agent's new process can start.
 * - `restarting`: the process of the displayed session's agent is being ended.
 * - `takingOver`: another window closes the session, which is reopened then.
 * - `opening`: an agent starts, or hasn't answered yet.
 * - `elsewhere`: another window has the session.
 * - `failed`: an attempt failed; the view stays empty, and the next prompt retries.
 */
export type Opening =
  | { readonly type: 'idle' | 'restarting' }
  | { readonly type: 'preparing'; readonly task: Task; readonly agentName: string }
  | { readonly type: 'searching' | 'replacing' | 'takingOver'; readonly task: Task }
  | {
      readonly type: 'restoring'
      readonly task: Task
      readonly reference: SessionReference
      isSearching: boolean
    }
  | CurrentAttempt
  | { readonly type: 'elsewhere'; readonly attempt: Extract<Attempt, { type: Reopening }> }
  | {
      readonly type: 'failed'
      readonly attempt: Attempt
      /** a session to which the user can return */
      readonly before: OpenSession | undefined
    }

export interface CurrentAttempt {
  readonly type: 'opening'
  readonly task: Task
  readonly attempt: Attempt
  /** the agent replays the session's history */
  replays: boolean
  /** reports that the agent is slow */
  slow?: NodeJS.Timeout
  /** the end of a long conversation, shown until the whole conversation was read */
  end?: ShownEnd | undefined
}

/** An operation that the user or a reload began. It may pass through several states. */
export interface Task {
  readonly abort: AbortController
  /** the session that is displayed again if the task fails or is canceled */
  before: OpenSession | undefined
  /** settles when the task has succeeded or failed, or another task replaces it */
  readonly over: Deferred<void>
}

export interface ShownEnd {
  readonly conversation: ConversationEnd
  /** settles when a page has drawn the end of the conversation, or the opener no longer waits for the page */
  readonly drawn: Deferred<void>
  /** settles when the whole conversation or another session is displayed */
  readonly over: Deferred<void>
}

type OpeningType = Opening['type']

/** States that can follow every state: a new operation of the user replaces the one in progress, and every operation can be stopped. */
const ALWAYS = ['idle', 'preparing', 'searching', 'opening', 'restarting', 'takingOver'] as const

export const OPENING_TRANSITIONS: Readonly<Record<OpeningType, readonly OpeningType[]>> = {
  idle: [...ALWAYS, 'restoring', 'replacing', 'elsewhere'],
  preparing: [...ALWAYS, 'replacing'],
  // a new session was requested, so changes of the displayed session don't matter
  searching: ALWAYS,
  restoring: ALWAYS,
  replacing: ALWAYS,
  restarting: ALWAYS,
  takingOver: ALWAYS,
  opening: [...ALWAYS, 'elsewhere', 'failed'],
  elsewhere: [...ALWAYS, 'replacing'],
  failed: ALWAYS,
}

export function canBecome(from: Opening, to: OpeningType): boolean {
  return OPENING_TRANSITIONS[from.type].includes(to)
}

/** Returns the operation in progress. */
export function taskOf(opening: Opening): Task | undefined {
  return 'task' in opening ? opening.task : undefined
}

/** Returns the attempt in progress, or the failed attempt that the next prompt retries. */
export function attemptOf(opening: Opening): Attempt | undefined {
  return opening.type === 'opening' || opening.type === 'failed' ? opening.attempt : undefined
}

/** Returns the progress of opening a session; `undefined` if the view isn't opening a session. */
export function stepOf(opening: Opening): OpeningStep | undefined {
  switch (opening.type) {
    case 'searching':
      return 'searching'
    case 'restoring':
      return opening.isSearching ? 'searching' : 'starting'
    case 'replacing':
      return 'starting'
    case 'opening':
      return opening.replays ? 'loading' : 'starting'
    default:
      return undefined
  }
}

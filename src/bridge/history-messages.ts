/** Messages from a page that shows History. The host's messages are in `history.ts`. */
import * as z from 'zod'
import { agentsId, nothing, type Params } from './contract.ts'
import type { HistoryChanges, HistoryHits, HistoryPreview } from './history.ts'

const agent = z.object({ agentId: agentsId })
const session = agent.extend({ sessionId: agentsId })

export type HistoryMessages = typeof historyMessages

/** Actions for a session that need no input from the user. */
export type HistoryAction = Params<HistoryMessages['history/act']>['action']

/** Actions for several sessions at once. */
export type ActionForMany = Params<HistoryMessages['history/actOnMany']>['action']

export const historyMessages = {
  /** The page can draw, and asks for the list. */
  'history/ready': nothing,
  /** The page has drawn the rows, and requests the remaining changes. */
  'history/rest': nothing,
  /** Requests the next page of an agent's sessions. */
  'history/more': agent,
  'history/act': session.extend({
    action: z.enum([
      'load',
      'resume',
      'close',
      'show',
      'delete',
      'fork',
      'archive',
      'unarchive',
      'pin',
      'unpin',
    ]),
  }),
  /** Runs an action for several sessions. Sessions that don't support the action are skipped. */
  'history/actOnMany': z.object({
    action: z.enum(['delete', 'archive', 'unarchive', 'pin', 'unpin']),
    sessions: z.array(session).max(100_000),
  }),
  /** Searches the conversations; an empty text ends the search. With `here`, searches only sessions of the open folders. */
  'history/search': z.object({ id: z.number(), text: z.string().max(1000), here: z.boolean() }),
  /** Asks for the start and the end of a saved conversation. */
  'history/preview': session,
  /** Shows the session at this entry, and searches for these texts in it. */
  'history/showHit': session.extend({
    entry: agentsId,
    matches: z.array(z.string().max(1000)).min(1).max(100),
  }),
  /** Renames a session. An empty title restores the automatic title. */
  'history/rename': session.extend({ title: z.string().max(4096) }),
  /** Brings back the sessions that were deleted a moment ago. */
  'history/undoDeletion': nothing,
  /** Starts an agent that isn't running, so that its sessions can be listed. */
  'history/startAgent': agent,
  /** Shows the agent's sign-in methods in the conversation. */
  'history/signIn': agent,
  /** Shows the setting that limits the size of all saved conversations. */
  'history/openSizeSetting': nothing,
  /** Runs one of Parley's commands. The host has a list of allowed commands. */
  'history/command': z.object({ command: z.string().max(256) }),
} as const

/** The host's messages to a page that shows History. */
export interface HistoryHostMessages {
  /** Changes of the list, sent while the page is visible. */
  'history/state': HistoryChanges
  'history/hits': HistoryHits
  'history/preview': HistoryPreview
  /** Lets the user edit a session's title in its row. */
  'history/editTitle': { agentId: string; sessionId: string }
}

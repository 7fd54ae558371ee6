/** The messages between the host and the Manage Agents page. */
import * as z from 'zod'
import type { AgentsState } from './agents.ts'
import { nothing, type Params } from './contract.ts'

export type AgentsMessages = typeof agentsMessages

export type AgentAction = Params<AgentsMessages['manageAgents/act']>['action']

/** the key of a row */
const key = z.string().min(1).max(512)

export const agentsMessages = {
  /** The page can draw, and asks for the agents. */
  'manageAgents/ready': nothing,
  /** Reads the registry again. */
  'manageAgents/refresh': nothing,
  /** Runs an action for the agent whose row has the key. */
  'manageAgents/act': z.object({
    action: z.enum([
      'install',
      'cancel',
      'remove',
      'newSession',
      'setDefault',
      'signIn',
      'signOut',
      'configure',
      'restart',
      'showLog',
      'check',
      'checkConformance',
      'openRepository',
      'addAccount',
      'showFolder',
      'removeAccount',
    ]),
    key,
  }),
  /** The user confirmed the installation that the question with this id describes. */
  'manageAgents/confirmInstall': z.object({ key, question: z.number().int() }),
} as const

/** The host's messages to the Manage Agents page. */
export interface AgentsHostMessages {
  /** The whole state, sent when it changed and the page is visible. */
  'manageAgents/state': AgentsState
}

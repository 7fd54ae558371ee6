/** The state of an agent in a comparison. Pure functions compute the next state from a state and an event. */

import * as z from 'zod'
import { isBusy, RUN_STATES } from '../../bridge/compare.ts'

export const run = z.object({
  state: z.enum(RUN_STATES),
  reason: z.string().max(4096).optional(),
  needsSignIn: z.literal(true).optional(),
  /** the total duration of the finished turns, in milliseconds */
  worked: z.number().nonnegative(),
  /** when the running turn began, in milliseconds since the epoch */
  since: z.number().optional(),
})

export type Run = z.infer<typeof run>

export type RunEvent =
  | { type: 'start' }
  | { type: 'turn'; since: number; isWaiting: boolean }
  /** The running turn ended. */
  | { type: 'end'; how: 'done' | 'stopped'; at: number }
  | { type: 'fail'; reason: string; needsSignIn?: boolean; at: number }
  /** The user stopped the start. */
  | { type: 'stop' }
  /** The session or the start was lost, for example with its window. */
  | { type: 'lose'; at: number }

export const NEW_RUN: Run = { state: 'starting', worked: 0 }

const MAX_REASON = 1000

export function nextRun(run: Run, event: RunEvent): Run {
  const workedUntil = (at: number) => run.worked + (run.since === undefined ? 0 : Math.max(0, at - run.since))
  switch (event.type) {
    case 'start':
      return isBusy(run) ? run : { state: 'starting', worked: run.worked }
    case 'turn': {
      const { since = event.since, worked } = run
      return { state: event.isWaiting ? 'waiting' : 'working', worked, since }
    }
    case 'end':
      return run.since === undefined ? run : { state: event.how, worked: workedUntil(event.at) }
    case 'fail':
      return {
        state: 'failed',
        reason: event.reason.slice(0, MAX_REASON),
        ...(event.needsSignIn && { needsSignIn: true }),
        worked: workedUntil(event.at),
      }
    case 'stop':
      return run.state === 'starting' ? { state: 'stopped', worked: run.worked } : run
    case 'lose':
      return isBusy(run) ? { state: 'interrupted', worked: workedUntil(event.at) } : run
  }
}

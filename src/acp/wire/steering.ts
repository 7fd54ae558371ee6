import { isRecord } from '../../common/is-record.ts'
import type { SteeringOutcome } from '../model.ts'

/**
 * The method that adds a prompt to the running turn: an extension of claude-agent-acp and codex-acp, the same in v1 and v2 of ACP, which has
 * only a proposal for steering.
 */
export const STEERING_METHOD = '_session/steering'

/** Whether an agent supports steering. `meta` is the `_meta` of its answer to `initialize`. */
export function canSteer(meta: unknown): boolean {
  return isRecord(meta) && isRecord(meta.steering) && meta.steering.supported === true
}

/**
 * Returns the parameters of a steering request. `promptRequired`: if no turn runs, the agent must not take the prompt. Otherwise, it would
 * start a turn whose end it doesn't report.
 */
export function steeringToWire(sessionId: string, prompt: readonly object[]) {
  return { sessionId, prompt, _meta: { steering: { idleBehavior: 'promptRequired' } } }
}

/** Returns what the agent did with a steering prompt; `undefined` if the agent didn't say. */
export function readSteering(result: unknown): SteeringOutcome | undefined {
  const outcome = isRecord(result) ? result.outcome : undefined
  switch (outcome) {
    case 'injected':
    case 'startedNewTurn':
    case 'promptRequired':
    case 'failed':
      return outcome
    default:
      return undefined
  }
}

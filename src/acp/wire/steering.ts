import { isRecord } from '../../common/is-record.ts'
import type { SteeringOutcome } from '../model.ts'

/**
 * Sends a prompt into the running turn: an extension of claude-agent-acp and codex-acp, the same in both versions. ACP has only a proposal
 * for this.
 */
export const STEERING_METHOD = '_session/steering'

/** Whether an agent advertises steering. `meta`: the `_meta` of its answer to `initialize`. */
export function canSteer(meta: unknown): boolean {
  return isRecord(meta) && isRecord(meta.steering) && meta.steering.supported === true
}

/** `promptRequired`: without a running turn, the agent takes nothing. Otherwise it would start a turn without an end. */
export function steeringToWire(sessionId: string, prompt: readonly object[]) {
  return { sessionId, prompt, _meta: { steering: { idleBehavior: 'promptRequired' } } }
}

/** The agent's reaction to a steering prompt; `undefined` if the agent didn't say. */
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

import type { ReducingState } from './books.ts'
import { reduceLocal } from './reduce-local.ts'

/** A conversation of its own with all that another holds now. What goes on there does not go on here. */
export function forkState(state: ReducingState): ReducingState {
  const copy = structuredClone(state)
  reduceLocal(copy, { type: 'agent_gone' })
  return copy
}

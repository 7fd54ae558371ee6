import type { SessionState } from '../state.ts'
import { createMemory, type ReducerMemory } from '../step.ts'

/** The state of a session with its reducer's indexes; created only by {@link createSessionState}. */
export interface ReducingState extends SessionState {
  readonly memory: ReducerMemory
}

export function createSessionState(): ReducingState {
  return {
    entries: [],
    index: new Map(),
    terminals: new Map(),
    plans: [],
    configOptions: [],
    commands: [],
    activity: 'idle',
    turn: 0,
    memory: createMemory({ openRequests: new Map(), subagentStates: new Map() }),
  }
}

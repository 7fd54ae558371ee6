import type { SessionUpdate } from '../../acp/model.ts'
import { ENTRY_REDUCERS } from '../entries/entry-kinds.ts'
import { endMessage, releaseHeld } from '../entries/message.ts'
import {
  configOptions,
  configValue,
  head,
  info,
  planRemoved,
  planUpsert,
  suggest,
  usage,
} from '../reduce-head.ts'
import type { Change } from '../state-base.ts'
import { type ReducerState, type Reducers, type Step, withoutRepeated } from '../step.ts'
import { terminalOutput, terminalUpsert } from './reduce-terminals.ts'
import { endWork, reportWork } from './reduce-turn.ts'

export { createSessionState, type ReducingState } from './reducing-state.ts'

const REDUCERS: Reducers<SessionUpdate['type']> = {
  ...ENTRY_REDUCERS,
  terminal: (step, { terminal }) => terminalUpsert(step, terminal),
  terminal_output: (step, { terminalId, text }) => terminalOutput(step, terminalId, text),
  plan: (step, { plan }) => {
    // for an agent without message ids, a plan ends the current message
    endMessage(step)
    planUpsert(step, plan)
  },
  plan_removed: (step, { planId }) => planRemoved(step, planId),
  commands: (step, { commands }) => {
    step.state.commands = commands
    head(step, 'commands')
  },
  config_options: (step, { options }) => configOptions(step, options),
  config_value: (step, { category, value }) => configValue(step, category, value),
  info,
  usage: (step, update) => usage(step, update.usage),
  suggestion: (step, { text }) => suggest(step, text),
  state: (step, update) => {
    if (isIdle(update)) endWork(step, update)
    else reportWork(step, update.state, update)
  },
}

/** Updates of the agent that may come in the middle of a word of its text. */
const WITHIN_TEXT: ReadonlySet<SessionUpdate['type']> = new Set([
  'message_chunk',
  'terminal',
  'terminal_output',
  'commands',
  'config_options',
  'config_value',
  'info',
  'usage',
  'suggestion',
  'unknown',
])

/**
 * Applies one update to the state and returns its changes.
 *
 * The state is changed in place, so that the cost of an update doesn't grow with the number of earlier updates: lists grow at their end,
 * entities are found by their ids, adjacent text is appended. The content of an update is never changed. A list of changes reports an entry
 * either as a whole or by its appended text, never both.
 *
 * @param now milliseconds since the epoch; absent in a replay, whose entries get no times.
 */
export function reduce(state: ReducerState, update: SessionUpdate, now?: number): Change[] {
  const step: Step = { state, now, changes: [] }
  const reducer = REDUCERS[update.type] as (step: Step, update: SessionUpdate) => void
  const isRelease = state.memory.holding !== undefined && !WITHIN_TEXT.has(update.type)
  if (isRelease) releaseHeld(step)
  reducer(step, update)
  if (isRelease) withoutRepeated(step)
  return step.changes
}

type StateUpdate = Extract<SessionUpdate, { type: 'state' }>

export function isIdle(update: StateUpdate): update is Extract<StateUpdate, { state: 'idle' }> {
  return update.state === 'idle'
}

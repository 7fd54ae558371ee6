import * as l10n from '@vscode/l10n'
import { reduce } from './reducer/reduce.ts'
import { reduceLocalWithin } from './reducer/reduce-within.ts'
import type { ReducingState } from './reducer/reducing-state.ts'

/** A conversation of its own with all that another holds now, and a line that parts the two. What goes on there does not go on here. */
export function forkState(state: ReducingState): ReducingState {
  const copy = structuredClone(state)
  reduceLocalWithin(copy, { type: 'agent_gone' })
  const title = l10n.t('Forked session. New messages stay in this session.')
  reduce(copy, { type: 'notice', severity: 'info', title })
  return copy
}

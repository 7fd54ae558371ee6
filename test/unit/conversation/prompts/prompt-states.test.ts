import assert from 'node:assert/strict'
import {
  isQueued,
  isReturned,
  nextState,
  PROMPT_TRANSITIONS,
  type PromptEvent,
  type PromptState,
} from '../../../../src/conversation/prompts/prompt-states.ts'

const states = Object.keys(PROMPT_TRANSITIONS) as PromptState[]
const followers = (state: PromptState) => Object.values(PROMPT_TRANSITIONS[state])

/** All states that a prompt in `from` can still have. */
function reachable(from: PromptState): Set<PromptState> {
  const found = new Set([from])
  for (const state of found) for (const next of followers(state)) found.add(next)
  return found
}

describe('the states of a prompt', () => {
  it('can all be reached from the composer', () => {
    assert.deepEqual([...reachable('sending')].sort(), [...states].sort())
  })

  it('never lead from the composer or from removal to the agent', () => {
    for (const state of states.filter(one => isReturned(one) || one === 'removed'))
      assert.ok(!reachable(state).has('sent'), state)
  })

  it('lead to the agent only from the queue, and back only for a sign-in', () => {
    for (const state of states)
      assert.equal(followers(state).includes('sent'), isQueued(state) || state === 'steering', state)
    assert.deepEqual(PROMPT_TRANSITIONS.steering, {
      ...{ send: 'sent', notTaken: 'queued', return: 'returned', leave: 'removed' },
    })
    assert.deepEqual(followers('sent'), ['awaitingSignIn'])
  })

  it('have no change that the table lacks', () => {
    const impossible: Array<[PromptState, PromptEvent]> = [
      ['sent', 'return'],
      ['returned', 'send'],
      ['sending', 'send'],
      ['removed', 'moveToComposer'],
    ]
    for (const [state, event] of impossible) assert.throws(() => nextState(state, event), Error)
  })
})

import assert from 'node:assert/strict'
import type { UsageLimit } from '../../../src/acp/model.ts'
import { createSessionState, reduce } from '../../../src/conversation/reducer/reduce.ts'
import { reduceLocal } from '../../../src/conversation/reducer/reduce-local.ts'
import {
  currentLimits,
  isNearlyUsed,
  limitName,
  limitReset,
  limitState,
} from '../../../src/conversation/usage-limit.ts'
import { text } from './updates.ts'

describe('what agents add to the protocol', () => {
  it('limits are kept by their kind, and a later report of the usage keeps them', () => {
    const state = createSessionState()
    const report = (limit?: UsageLimit) =>
      reduce(state, { type: 'usage', usage: { used: 1, size: 9, ...(limit && { limit }) } })
    report({ kind: 'five_hour', status: 'allowed', share: 0.2 })
    report({ kind: 'seven_day', status: 'allowed', share: 0.1 })
    report({ kind: 'five_hour', status: 'allowed_warning', share: 0.9 })
    report()
    assert.deepEqual(state.usage?.limits, [
      { kind: 'seven_day', status: 'allowed', share: 0.1 },
      { kind: 'five_hour', status: 'allowed_warning', share: 0.9 },
    ])
    for (let n = 0; n < 50; n++) report({ kind: `made up ${n}`, status: 'allowed' })
    assert.equal(state.usage?.limits?.length, 10)
  })

  it('limits say how they stand, until they start anew', () => {
    const t = (message: string, ...args: Array<string | number>) =>
      message.replace(/\{(\d)\}/g, (_, n) => String(args[Number(n)]))
    const limit = (rest: Partial<UsageLimit>): UsageLimit => ({
      kind: 'five_hour',
      status: 'allowed',
      ...rest,
    })
    assert.equal(limitState(limit({ share: 0.924 }), t), '92% used')
    assert.equal(limitState(limit({ status: 'rejected', share: 1 }), t), 'Limit reached')
    assert.equal(limitState(limit({ status: 'allowed_warning' }), t), 'Almost reached')
    assert.equal(limitState(limit({}), t), 'Available')
    assert.deepEqual(
      [limit({ share: 0.89 }), limit({ share: 0.9 }), limit({ status: 'rejected' })].map(isNearlyUsed),
      [false, true, true],
    )
    assert.deepEqual(currentLimits([limit({ resetsAt: 10 }), limit({ resetsAt: 30 }), limit({})], 20), [
      limit({ resetsAt: 30 }),
      limit({}),
    ])
    assert.equal(currentLimits(undefined, 0).length, 0)
    assert.equal(limitName(limit({ kind: 'monthly' }), t), 'monthly')
    assert.equal(limitReset(limit({ resetsAt: 8.64e20 }), 'en', t), undefined)
    assert.match(
      limitReset(limit({ resetsAt: Date.UTC(2026, 10, 25, 12) }), 'en', t) ?? '',
      /^Resets Nov 25, 2026/,
    )
  })

  it('a suggestion is for the next prompt alone', () => {
    const state = createSessionState()
    reduce(state, { type: 'suggestion', text: 'Run the tests' })
    assert.equal(state.suggestion, 'Run the tests')
    assert.deepEqual(reduce(state, { type: 'suggestion', text: 'Run the tests' }), [])
    reduceLocal(state, { type: 'prompt', content: [text('No')] })
    assert.equal(state.suggestion, undefined)
    reduce(state, { type: 'suggestion', text: 'Run the tests' })
    reduce(state, { type: 'suggestion' })
    assert.equal(state.suggestion, undefined)
  })
})

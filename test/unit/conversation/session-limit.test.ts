import assert from 'node:assert/strict'
import {
  changedLimit,
  isUndecided,
  limitState,
  lowestLimits,
  raiseLimits,
  reachedLimits,
  readLimits,
  stopAtLimits,
  takeWarnings,
} from '../../../src/conversation/session-limit.ts'

const used = (amount: number) => ({ costs: [{ amount, currency: 'USD' }], minutes: 0, tokens: 0 })

describe('the limits of a session', () => {
  it('are those of the settings that are numbers, the lowest of all scopes', () => {
    const user = readLimits({ cost: 5, minutes: 0, tokens: '100', other: 1 })
    assert.deepEqual(user, { cost: 5 })
    for (const value of [null, 'cost', { cost: -1 }, { cost: Number.NaN }, { cost: 1e300 }, { cost: null }])
      assert.deepEqual(readLimits(value), {}, JSON.stringify(value))
    // a workspace can neither raise nor remove it
    assert.deepEqual(lowestLimits([user, { cost: 500, minutes: 3 }, {}]), { cost: 5, minutes: 3 })
    assert.deepEqual(lowestLimits([user, { cost: 2 }]), { cost: 2 })
  })

  it('are raised by the same amount again, or beyond what is used already', () => {
    const first = raiseLimits(limitState({ cost: 5, tokens: 10 }), used(5))
    assert.deepEqual(first.limits, { cost: 10, tokens: 10 })
    assert.deepEqual(raiseLimits(first, used(27)).limits, { cost: 30, tokens: 10 })
    // not to what is reached a moment later
    assert.deepEqual(raiseLimits(first, used(99.9)).limits, { cost: 105, tokens: 10 })
    assert.ok(raiseLimits(limitState({ cost: 0.0001 }), used(5)).limits.cost! >= 5.25)
    const tiny = raiseLimits(limitState({ cost: 1e-9 }), used(1e12))
    assert.deepEqual(reachedLimits(tiny, used(1e12)), [])
  })

  it('have a warning each time they are raised, and none once they are reached', () => {
    const start = limitState({ cost: 5 })
    const near = takeWarnings(start, used(4))
    assert.deepEqual(near.kinds, ['cost'])
    assert.deepEqual(takeWarnings(near.state, used(4.5)).kinds, [])
    assert.deepEqual(takeWarnings(start, used(6)).kinds, [])
    const next = raiseLimits(near.state, used(5))
    assert.deepEqual(takeWarnings(next, used(7.9)).kinds, [])
    assert.deepEqual(takeWarnings(next, used(8)).kinds, ['cost'])
  })

  it('are decided about once, until another one is set', () => {
    const start = limitState({ cost: 5 })
    assert.ok(isUndecided(start, used(5)))
    const over = stopAtLimits(start, used(5))
    assert.ok(!isUndecided(over, used(7)))
    assert.ok(isUndecided(changedLimit(over, 'cost', 6), used(7)))
    assert.deepEqual(changedLimit(over, 'cost', undefined).limits, {})
  })
})

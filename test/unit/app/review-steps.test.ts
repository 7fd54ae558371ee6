import assert from 'node:assert/strict'
import { ReviewSteps } from '../../../src/app/changes/review-steps.ts'
import { deferred } from '../../../src/common/async.ts'

describe('the steps through changes', () => {
  it('are taken one after the other, and those of a key that is held down only as far as two wait', async () => {
    const seen = deferred()
    const taken: number[] = []
    const steps = new ReviewSteps(() => taken.push(0))
    const all = [1, 2, 3, 4, 5, 6, 7].map(number =>
      steps.take(async () => {
        taken.push(number)
        if (number === 1) await seen.promise
      }),
    )
    seen.resolve()
    await Promise.all(all)
    assert.deepEqual(
      taken.filter(number => number > 0),
      [1, 2],
    )
    await steps.take(async () => void taken.push(8))
    assert.equal(taken.at(-2), 8)
  })

  it('go on after one that fails', async () => {
    let ends = 0
    const steps = new ReviewSteps(() => ends++)
    const failing = steps.take(async () => {
      throw new Error('gone')
    })
    const next = steps.take(async () => {})
    await assert.rejects(failing, /gone/)
    await next
    assert.equal(ends, 2)
  })
})

import assert from 'node:assert/strict'
import { judgedTime, observe, type SeenClock, UNSEEN_CLOCK } from '../../../src/history/retention-clock.ts'

const DAY = 86_400_000
const FIRST = 20_000

describe('the clock by which the age of conversations is judged', () => {
  /** By which day age is judged after these ones; 0 is the first day that Parley has run. */
  const judged = (days: readonly number[], from: SeenClock = UNSEEN_CLOCK) => {
    let seen = from
    for (const day of days) seen = observe(seen, (FIRST + day) * DAY, 30 * DAY)
    return judgedTime(seen, (FIRST + days.at(-1)!) * DAY) / DAY - FIRST
  }

  it('is accepted on the third later day, also if it is only seen once a week', () => {
    assert.equal(judged([0, 1, 2]), -FIRST)
    assert.equal(judged([0, 1, 2, 3]), 3)
    assert.equal(judged([0, 1, 2, 3, 5, 8]), 8)
    assert.equal(judged([0, 7, 14, 21]), 0)
    assert.equal(judged([0, 7, 14, 21, 28, 35]), 14)
  })

  it("isn't accepted if it's wrong on a day on which the right one would be", () => {
    const ahead = 3650
    for (const days of [
      [0, 1, 2],
      [0, 7, 14],
      [0, 1, 2, 3, 100, 101, 102],
    ]) {
      const right = days.at(-1)!
      for (const wrong of [[0], [0, 1], [0, 0.5, 1, 2]])
        assert.ok(judged([...days, ...wrong.map(day => ahead + day)]) <= right)
      assert.ok(judged([...days, ahead, right + 1, ahead + 1, right + 2, ahead + 2]) <= right + 2)
    }
    assert.equal(judged([0, 1, 2, ahead, ahead + 1, ahead + 2, ahead + 3]), ahead + 3)
  })
})

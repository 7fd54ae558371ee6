import assert from 'node:assert/strict'
import fc from 'fast-check'
import { ageOf, observe, type SeenClock, UNSEEN_CLOCK } from '../../../src/history/stored-clock.ts'

const DAY = 86_400_000
const FIRST = 20_000

describe('the age of what is stored', () => {
  const seen = (days: readonly number[], from: SeenClock = UNSEEN_CLOCK) =>
    days.reduce((clock, day) => observe(clock, (FIRST + day) * DAY), from)
  const age = (days: readonly number[], of: number) => ageOf(seen(days), (FIRST + of) * DAY) / DAY

  it('is what the clock says while it goes on, with nights and weekends', () => {
    assert.equal(age([0, 1, 2, 3, 6], 1), 5)
    assert.equal(age([0, 1, 2, 3, 6], 6), 0)
  })

  it('of what is older than the first look counts from that', () => {
    assert.equal(age([0, 1, 2], -1000), 2)
  })

  it('does not count most of the time in which Parley was not used', () => {
    assert.equal(age([0, 1, 31, 32], 0), 1 + 3 + 1)
    assert.equal(age([0, 1, 300, 301], 0), 1 + 1)
    assert.equal(age([0, 1, 31, 32], 20), 1)
  })

  it('is no more after the clock was ahead or behind, for what was stored before, then and since', () => {
    assert.equal(age([0, 1, 1095, 1096, 2, 3], 0), 1 + 1 + 1)
    assert.equal(age([0, 1, 1095, 1096, 2, 3], 1095.5), 0.5 + 1)
    assert.equal(age([-100, -99, 0, 1], -99.5), 0.5 + 1)
    assert.equal(age([0, 1, 11, 2, 3], 0), 1 + 1)
  })

  it('is never more than it really is, however often the clock is set (property)', () => {
    const step = fc.record({
      // milliseconds that really pass, and by how many the clock is set then
      passes: fc.integer({ min: 0, max: 3 * DAY }),
      jump: fc.oneof(
        { arbitrary: fc.constant(0), weight: 3 },
        fc.integer({ min: 32, max: 4000 }),
        fc.integer({ min: -4000, max: -32 }),
      ),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), steps => {
        let real = 0
        let offset = 0
        let clock = observe(UNSEEN_CLOCK, FIRST * DAY)
        const stored = [{ real, shown: FIRST * DAY }]
        for (const { passes, jump } of steps) {
          real += passes
          offset += jump * DAY
          const shown = FIRST * DAY + real + offset
          clock = observe(clock, shown)
          stored.push({ real, shown })
        }
        for (const one of stored) {
          const found = ageOf(clock, one.shown)
          assert.ok(found <= real - one.real && found >= 0, `${found} of ${real - one.real}`)
        }
      }),
    )
  })
})

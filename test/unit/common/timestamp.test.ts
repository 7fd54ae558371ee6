import { strict as assert } from 'node:assert'
import fc from 'fast-check'
import { parseTimestamp } from '../../../src/common/timestamp.ts'

const base = Date.UTC(2026, 10, 20, 9, 33, 9)

describe('parseTimestamp', () => {
  it('quirk 22: reads seconds, milliseconds, microseconds and nanoseconds', () => {
    assert.equal(parseTimestamp('2026-11-20T09:33:09Z'), base)
    assert.equal(parseTimestamp('2026-11-20T09:33:09.874Z'), base + 874)
    assert.equal(parseTimestamp('2026-11-20T10:33:09.874572+01:00'), base + 874)
    assert.equal(parseTimestamp('2026-11-20T09:33:09.874572231Z'), base + 874)
  })

  it('reads offsets with or without a colon, and assumes UTC without one', () => {
    assert.equal(parseTimestamp('2026-11-20T04:03:09-05:30'), base)
    assert.equal(parseTimestamp('2026-11-20T04:03:09-0530'), base)
    assert.equal(parseTimestamp('2026-11-20 09:33:09'), base)
    assert.equal(parseTimestamp('2026-11-20T09:33Z'), base - 9000)
  })

  it('reads the epoch in any unit', () => {
    for (const value of [base / 1000, base, base * 1000, base * 1e6])
      assert.equal(parseTimestamp(value), base)
    assert.equal(parseTimestamp(String(base)), base)
  })

  it('rejects everything else', () => {
    const values = [
      '',
      'yesterday',
      '2026-11-20',
      '2026-13-01T00:00:00Z',
      '2026-02-30T00:00:00Z',
      '2026-11-20T25:00Z',
    ]
    for (const value of [...values, null, undefined, {}, [], true, Number.NaN, Number.POSITIVE_INFINITY]) {
      assert.equal(parseTimestamp(value), undefined, String(value))
    }
  })

  it('reads every time that JavaScript writes, and never throws', () => {
    fc.assert(
      fc.property(fc.date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true }), date => {
        assert.equal(parseTimestamp(date.toISOString()), date.getTime())
      }),
    )
    fc.assert(
      fc.property(fc.anything(), value => {
        const time = parseTimestamp(value)
        assert(time === undefined || !Number.isNaN(new Date(time).getTime()))
      }),
    )
  })
})

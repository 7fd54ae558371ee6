import { strict as assert } from 'node:assert'
import fc from 'fast-check'
import { groupByDate } from '../../../src/common/date-groups.ts'

/** A local time, so that the tests pass in every time zone. */
const at = (...parts: [number, number, number, number?, number?]) =>
  new Date(parts[0], parts[1] - 1, parts[2], parts[3] ?? 12, parts[4] ?? 0).getTime()

const groups = (now: number, times: Array<number | undefined>) =>
  groupByDate(
    times.map(updatedAt => (updatedAt === undefined ? {} : { updatedAt })),
    now,
  ).map(group => [group.id, group.rows.length])

describe('groupByDate', () => {
  const now = at(2026, 11, 20, 15)

  it('returns groups for today, yesterday, the last seven days, months, and no date', () => {
    const times = [
      at(2026, 11, 20, 0, 0),
      at(2026, 11, 19, 23, 59),
      at(2026, 11, 19, 0, 0),
      at(2026, 11, 18, 23, 59),
      at(2026, 11, 13, 0, 0),
      at(2026, 11, 12, 23, 59),
      at(2026, 10, 31),
      at(2025, 11, 20),
      undefined,
    ]
    assert.deepEqual(groups(now, times), [
      ['today', 1],
      ['yesterday', 2],
      ['previous-7-days', 2],
      ['2026-11', 1],
      ['2026-10', 1],
      ['2025-11', 1],
      ['undated', 1],
    ])
  })

  it('puts the newest first, whatever the order of the input', () => {
    const rows = [{ updatedAt: at(2026, 11, 20, 1) }, {}, { updatedAt: at(2026, 11, 20, 9) }]
    assert.deepEqual(
      groupByDate(rows, now).map(group => group.rows),
      [[rows[2], rows[0]], [rows[1]]],
    )
  })

  it('treats the future as today', () => {
    assert.deepEqual(groups(now, [at(2027, 1, 1)]), [['today', 1]])
  })

  it('starts days at midnight, even if a day has 23 or 25 hours or a year ends', () => {
    // clocks change in these nights in Europe and America; in other time zones the test passes anyway
    for (const [year, month, day] of [
      [2026, 3, 29],
      [2026, 10, 25],
      [2026, 3, 8],
      [2026, 11, 1],
      [2026, 1, 1],
    ] as const) {
      const times = [
        at(year, month, day, 0, 0),
        at(year, month, day - 1, 0, 0),
        at(year, month, day - 1, 23, 59),
      ]
      assert.deepEqual(groups(at(year, month, day, 23), times), [
        ['today', 1],
        ['yesterday', 2],
      ])
    }
  })

  it('returns each row once, in descending order', () => {
    const row = fc.record(
      { updatedAt: fc.integer({ min: 0, max: now + 1e9 }), id: fc.nat() },
      { requiredKeys: ['id'] },
    )
    fc.assert(
      fc.property(fc.array(row, { maxLength: 40 }), rows => {
        const grouped = groupByDate(rows, now)
        const flat = grouped.flatMap(group => group.rows)
        assert.equal(new Set(flat).size, rows.length)
        assert.equal(flat.length, rows.length)
        assert.equal(new Set(grouped.map(group => group.id)).size, grouped.length)
        const times = flat.map(one => one.updatedAt ?? Number.NEGATIVE_INFINITY)
        assert.deepEqual(
          times,
          times.toSorted((a, b) => b - a),
        )
      }),
    )
  })
})

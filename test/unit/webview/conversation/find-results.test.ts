import assert from 'node:assert/strict'
import fc from 'fast-check'
import { FoundEntries } from '../../../../src/webview/conversation/find/results.ts'

describe('find results', () => {
  it('are visited in order and wrap around', () => {
    const found = new FoundEntries()
    found.take({ part: 'whole', hits: [2, 1, 2, 7, 0, 1] })
    assert.equal(found.total, 3)
    assert.deepEqual(found.from(3), { entry: 7, occurrence: 0 })
    assert.deepEqual(found.from(8), { entry: 2, occurrence: 0 })
    assert.deepEqual(found.after({ entry: 7, occurrence: 0 }), { entry: 2, occurrence: 0 })
    assert.deepEqual(found.before({ entry: 2, occurrence: 0 }), { entry: 7, occurrence: 0 })
    assert.equal(found.ordinal({ entry: 7, occurrence: 0 }), 3)
  })

  it('stay the same as a list of all matches when entries change', () => {
    const change = fc.array(fc.tuple(fc.nat(12), fc.nat(3)), { maxLength: 8 })
    fc.assert(
      fc.property(fc.array(change, { maxLength: 6 }), changes => {
        const found = new FoundEntries()
        const model = new Map<number, number>()
        for (const one of changes) {
          found.take({ part: 'change', hits: one.flatMap(([entry, all]) => [entry, 0, all]) })
          for (const [entry, all] of one) model.set(entry, all)
        }
        const all = [...model]
          .sort(([a], [b]) => a - b)
          .flatMap(([entry, count]) =>
            Array.from({ length: count }, (_, occurrence) => ({ entry, occurrence })),
          )
        assert.equal(found.total, all.length)
        for (const [i, place] of all.entries()) {
          assert.equal(found.ordinal(place), i + 1)
          assert.deepEqual(found.after(place), all[(i + 1) % all.length])
          assert.deepEqual(found.before(place), all.at(i - 1))
        }
        if (all.length === 0) assert.equal(found.from(0), undefined)
      }),
    )
  })

  it('keep the current match if it still exists', () => {
    const found = new FoundEntries()
    found.take({ part: 'whole', hits: [1, 0, 5, 4, 0, 1] })
    found.take({ part: 'change', hits: [1, 0, 2] })
    assert.deepEqual(found.clamp({ entry: 1, occurrence: 4 }), { entry: 1, occurrence: 1 })
    found.take({ part: 'change', hits: [1, 0, 0] })
    assert.deepEqual(found.clamp({ entry: 1, occurrence: 1 }), { entry: 4, occurrence: 0 })
  })
})

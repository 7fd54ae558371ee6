import assert from 'node:assert/strict'
import fc from 'fast-check'
import { ListWindow, type WindowItem } from '../../../../src/webview/list/window.ts'

function item(key: string, height: number): WindowItem {
  return { key, height, measured: false, index: -1 }
}
const items = (...heights: number[]) => heights.map((height, i) => item(`${i}`, height))

describe('list window', () => {
  it('knows the position of each row and which rows are visible', () => {
    const window = new ListWindow<WindowItem>()
    window.splice(0, 0, items(10, 20, 30, 40))
    assert.equal(window.height, 100)
    assert.deepEqual(
      [0, 1, 2, 3, 4].map(i => window.offsetOf(i)),
      [0, 10, 30, 60, 100],
    )
    assert.deepEqual(window.range(10, 59), { start: 1, end: 3 })
    assert.deepEqual(window.range(-50, 5), { start: 0, end: 1 })
    assert.deepEqual(window.range(500, 900), { start: 3, end: 4 })
    assert.deepEqual(new ListWindow().range(0, 100), { start: 0, end: 0 })
  })

  it('replaces all rows, however many there are', () => {
    const window = new ListWindow<WindowItem>()
    window.splice(0, 0, items(10, 20))
    window.splice(1, 1, items(...Array.from({ length: 100_000 }, () => 1)))
    window.splice(1, 100_000, [
      ...window.items.slice(1),
      ...items(...Array.from({ length: 100_000 }, () => 1)),
    ])
    assert.equal(window.count, 200_001)
    assert.equal(window.height, 200_010)
  })

  it('keeps the anchor in place when heights above it change', () => {
    const window = new ListWindow<WindowItem>()
    const rows = items(10, 20, 30, 40)
    window.splice(0, 0, rows)
    const anchor = window.anchorAt(35)!
    assert.equal(anchor.item, rows[2])
    window.setHeight(rows[0]!, 110)
    assert.equal(window.topOf(anchor), 135)
    window.splice(1, 1, [])
    assert.equal(window.topOf(anchor), 115)
    window.splice(1, 1, [])
    assert.equal(window.topOf(anchor), undefined)
  })

  it('matches a plain sum after any changes', () => {
    const height = fc.integer({ min: 0, max: 500 })
    const change = fc.oneof(
      fc.record({
        type: fc.constant('splice' as const),
        at: fc.nat(),
        remove: fc.nat(5),
        add: fc.array(height, { maxLength: 6 }),
      }),
      fc.record({ type: fc.constant('height' as const), at: fc.nat(), height }),
      fc.record({ type: fc.constant('ask' as const), at: fc.nat() }),
    )
    fc.assert(
      fc.property(fc.array(change, { maxLength: 40 }), changes => {
        const window = new ListWindow<WindowItem>()
        const plain: WindowItem[] = []
        let next = 0
        for (const one of changes) {
          const at = plain.length === 0 ? 0 : one.at % plain.length
          if (one.type === 'splice') {
            const add = one.add.map(each => item(`${next++}`, each))
            const remove = Math.min(one.remove, plain.length - at)
            plain.splice(at, remove, ...add)
            window.splice(at, remove, add)
          } else if (one.type === 'height' && plain[at]) window.setHeight(plain[at], one.height)
          else if (one.type === 'ask') window.offsetOf(at)
          let sum = 0
          for (const [i, row] of plain.entries()) {
            assert.equal(row.index, i)
            assert.equal(window.offsetOf(i), sum)
            sum += row.height
          }
          assert.equal(window.height, sum)
          const middle = window.indexAt(sum / 2)
          if (plain.length > 0) assert.ok(window.offsetOf(middle) <= sum / 2)
        }
      }),
    )
  })
})

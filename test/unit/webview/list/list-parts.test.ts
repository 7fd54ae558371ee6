import assert from 'node:assert/strict'
import { DrawnRows } from '../../../../src/webview/list/drawn-rows.ts'
import { ListSpace } from '../../../../src/webview/list/list-space.ts'
import { anchorOn, ScrollAnchor } from '../../../../src/webview/list/scroll-anchor.ts'
import { ListWindow, type WindowItem } from '../../../../src/webview/list/window.ts'

const row = (index: number): WindowItem => ({ key: `r${index}`, height: 20, measured: true, index })

describe('parts of a long list', () => {
  let window: ListWindow<WindowItem>
  beforeEach(() => {
    window = new ListWindow()
    window.splice(
      0,
      0,
      Array.from({ length: 1000 }, (_, index) => row(index)),
    )
  })

  it('keeps the space of a row that got smaller, but not more than half of the view', () => {
    const space = new ListSpace(window)
    const parentElement = { style: { minHeight: '' } }
    const element = () => ({ style: { height: '' }, parentElement }) as unknown as HTMLElement
    const [top, bottom] = [element(), element()]
    const place = () => space.place({ start: 10, end: 990 }, { clientHeight: 400 })
    space.attach(top, bottom)
    place()
    assert.deepEqual([top.style.height, bottom.style.height], ['200px', '200px'])
    space.keep()
    window.setHeight(window.items[500]!, 10)
    place()
    assert.equal(parentElement.style.minHeight, '20000px')
    window.splice(100, 300, [])
    place()
    assert.equal(parentElement.style.minHeight, '14190px')
    window.splice(
      0,
      0,
      Array.from({ length: 20 }, (_, index) => row(index)),
    )
    place()
    assert.equal(parentElement.style.minHeight, '')
  })

  it('keep the pressed row in place, and after that the row where the user scrolled to', () => {
    const anchor = new ScrollAnchor(window)
    anchor.set(anchorOn(window, window.items[50]!, 1000))
    anchor.press(window.items[60], 1000)
    window.setHeight(window.items[55]!, 100)
    assert.deepEqual([anchor.isPressed, anchor.top], [true, 1080])
    // dragging a selection beyond the edge
    anchor.scrolled(1500)
    assert.equal(anchor.top, 1500)
    anchor.unpress()
    assert.deepEqual([anchor.isPressed, anchor.top], [false, 1000])
  })

  it('find the row in place again after it was recreated', () => {
    const anchor = new ScrollAnchor(window)
    anchor.press(window.items[60], 1190)
    window.splice(
      0,
      window.count,
      Array.from({ length: 100 }, (_, index) => row(index + 10)),
    )
    assert.equal(anchor.top, 990)
    window.splice(0, window.count, [])
    assert.equal(anchor.top, undefined)
  })

  it('draw what is in view first, and more in the direction in which the user scrolls', () => {
    const drawn = new DrawnRows(window, { extend: range => range })
    const view = { top: 8000, height: 400, follows: false, upwards: true }
    drawn.update(view)
    assert.deepEqual(drawn.toDraw(undefined), { start: 370, end: 441 })
    assert.ok(drawn.covers(8000, 8400) && !drawn.covers(7000, 7400))
    const ranges: unknown[] = []
    drawn.onRange = range => ranges.push(range)
    drawn.mounted()
    drawn.mounted()
    assert.deepEqual(ranges, [{ start: 370, end: 441 }])
    // what is mounted suffices
    drawn.update({ ...view, top: 7900 })
    assert.deepEqual(drawn.toDraw(undefined), { start: 370, end: 441 })
    drawn.update({ ...view, top: 8300, upwards: false })
    assert.deepEqual(drawn.toDraw(undefined), { start: 395, end: 466 })
  })
})

import assert from 'node:assert/strict'
import { JSDOM } from 'jsdom'
import { ListController } from '../../../../src/webview/list/controller.ts'
import { ListWindow, type WindowItem } from '../../../../src/webview/list/window.ts'

describe('a selection in a long list', () => {
  const { window } = new JSDOM(
    '<div id="list"><div id="top"></div><div id="content"></div><div id="bottom"></div></div>',
  )
  const { document } = window
  const by = (id: string) => document.getElementById(id)!
  const before = Reflect.get(globalThis, 'ResizeObserver')
  let rows: ListWindow<WindowItem>
  let list: ListController<WindowItem>
  let detach: () => void

  beforeEach(() => {
    Reflect.set(
      globalThis,
      'ResizeObserver',
      class {
        observe(): void {}
        unobserve(): void {}
        disconnect(): void {}
      },
    )
    rows = new ListWindow<WindowItem>()
    rows.splice(
      0,
      0,
      Array.from({ length: 1000 }, (_, index) => ({ key: `r${index}`, height: 20, measured: true, index })),
    )
    list = new ListController(rows, { follow: false })
    Object.defineProperty(by('list'), 'clientHeight', { value: 400, configurable: true })
    detach = list.attach(by('list'), by('top'), by('content'), by('bottom'))
    by('content').replaceChildren()
  })
  afterEach(() => {
    detach()
    document.getSelection()!.removeAllRanges()
    Reflect.set(globalThis, 'ResizeObserver', before)
  })

  /** Adds rows to the page and selects from the first to the last. */
  function select(from: number, to: number): void {
    for (const index of [from, to]) {
      const element = document.createElement('div')
      element.textContent = `row ${index}`
      by('content').append(element)
      list.rows.mount(element, rows.items[index]!)
    }
    const { firstChild, lastChild } = by('content')
    document.getSelection()!.setBaseAndExtent(firstChild!.firstChild!, 0, lastChild!.firstChild!, 3)
    document.dispatchEvent(new window.Event('selectionchange'))
  }

  function scrollTo(top: number): { start: number; end: number } {
    by('list').scrollTop = top
    list.onScroll()
    return list.toDraw()
  }

  it("keeps its rows in the page while it's near the view", () => {
    select(3, 8)
    const { start, end } = scrollTo(2000)
    assert.equal(start, 3)
    assert.ok(end > 100)
  })

  it("releases them when it's far from the view", () => {
    select(3, 8)
    assert.ok(scrollTo(15_000).start > 700)
  })

  it('keeps nothing without a selection', () => {
    select(3, 8)
    document.getSelection()!.collapseToStart()
    document.dispatchEvent(new window.Event('selectionchange'))
    assert.ok(scrollTo(2000).start > 50)
  })
})

import assert from 'node:assert/strict'
import type { Signal } from '@preact/signals'
import * as esbuild from 'esbuild'
import { type DOMWindow, JSDOM } from 'jsdom'
import type { h, options, render } from 'preact'
import type { ListController } from '../../../../src/webview/list/controller.ts'
import type { VirtualList } from '../../../../src/webview/list/virtual-list.tsx'
import type { ListWindow, WindowItem } from '../../../../src/webview/list/window.ts'

const view = 800
const height = 20

interface Bundle {
  h: typeof h
  options: typeof options
  render: typeof render
  signal: <T>(value: T) => Signal<T>
  ListController: typeof ListController
  ListWindow: typeof ListWindow
  VirtualList: typeof VirtualList<WindowItem>
}

async function bundle(): Promise<string> {
  const contents = `
    export { signal } from '@preact/signals'
    export { h, options, render } from 'preact'
    export { ListController } from './src/webview/list/controller.ts'
    export { VirtualList } from './src/webview/list/virtual-list.tsx'
    export { ListWindow } from './src/webview/list/window.ts'`
  const { outputFiles } = await esbuild.build({
    stdin: { contents, resolveDir: '.' },
    bundle: true,
    write: false,
    format: 'iife',
    globalName: 'parts',
    jsx: 'automatic',
    jsxImportSource: 'preact',
  })
  return `${outputFiles[0]!.text};window.parts = parts`
}

describe('virtual list', () => {
  let code: string
  let parts: Bundle
  let page: DOMWindow
  let root: Element
  let window: ListWindow<WindowItem>
  let controller: ListController<WindowItem>
  let version: Signal<number>
  /** keys of the drawn rows, in order */
  let drawn: string[]
  /** events with listeners that may keep the browser from scrolling */
  let listened: Array<[type: string, options: boolean | AddEventListenerOptions | undefined]>

  before(async () => {
    code = await bundle()
  })
  beforeEach(() => {
    const dom = new JSDOM('<div id="root"></div>', { pretendToBeVisual: true, runScripts: 'outside-only' })
    page = dom.window
    Object.assign(page, {
      ResizeObserver: class {
        observe(): void {}
        unobserve(): void {}
        disconnect(): void {}
      },
    })
    listened = []
    const { addEventListener } = page.EventTarget.prototype
    page.EventTarget.prototype.addEventListener = function (type, listener, options) {
      if (/^(wheel|touch)/.test(type)) listened.push([type, options])
      addEventListener.call(this, type, listener, options)
    }
    page.eval(code)
    parts = page.parts as Bundle
    // rows are drawn immediately
    parts.options.debounceRendering = draw => draw()
    root = page.document.getElementById('root')!
    window = new parts.ListWindow()
    controller = new parts.ListController(window, { follow: true })
    version = parts.signal(0)
    drawn = []
    const Row = ({ item }: { item: WindowItem }) => {
      drawn.push(item.key)
      return parts.h('p', null, item.key)
    }
    const list = parts.h(parts.VirtualList, {
      window,
      controller,
      version,
      class: 'test',
      label: 'Test',
      role: 'log',
      rowClass: () => 'row',
      renderRow: item => parts.h(Row, { item }),
    })
    parts.render(list, root)
    // a page without layout needs only this
    Object.defineProperties(root.querySelector('.list')!, {
      clientHeight: { get: () => view },
      scrollHeight: { get: () => window.height },
    })
  })
  afterEach(() => parts.render(null, root))

  function add(count: number): void {
    const from = window.count
    const row = (_: unknown, i: number) => ({ key: `row ${from + i}`, height, measured: false, index: -1 })
    window.splice(from, 0, Array.from({ length: count }, row))
    version.value++
  }
  const mounted = () => [...root.querySelectorAll('p')].map(element => element.textContent)

  it('draws only rows near the end, once each, when many arrive at once', () => {
    add(10_000)
    assert.equal(mounted().at(-1), 'row 9999')
    assert.ok(mounted().length >= view / height && mounted().length < (view / height) * 2, mounted().join())
    assert.equal(drawn.length, mounted().length)
  })

  it('draws the first rows together with the list, and only those that can be seen', () => {
    parts.render(null, root)
    add(1000)
    drawn = []
    const row = (item: WindowItem) => parts.h(() => void drawn.push(item.key), null)
    const list = { window, controller, version, class: 'test', label: 'Test', role: 'log' as const }
    parts.render(parts.h(parts.VirtualList, { ...list, rowClass: () => 'row', renderRow: row }), root)
    assert.equal(drawn.length, view / height)
    assert.equal(new Set(drawn).size, drawn.length)
    assert.equal(drawn.at(-1), 'row 999')
  })

  it('draws only the row that was added', () => {
    add(30)
    drawn = []
    for (let i = 0; i < 20; i++) add(1)
    assert.deepEqual(
      drawn,
      Array.from({ length: 20 }, (_, i) => `row ${30 + i}`),
    )
  })

  it("doesn't redraw rows that many new ones moved away", () => {
    add(100)
    drawn = []
    add(1000)
    assert.equal(mounted().at(-1), 'row 1099')
    assert.ok(
      drawn.every(key => Number(key.slice(4)) >= 1000),
      drawn.join(),
    )
  })

  it('draws no row if none changed', () => {
    add(100)
    drawn = []
    version.value++
    assert.deepEqual(drawn, [])
  })

  it("mounts the visible rows and keeps its position if it doesn't follow the end", () => {
    add(1000)
    controller.toItem(window.items[300]!)
    assert.ok(mounted().includes('row 300') && mounted().length < 200, mounted().join())
    add(1000)
    assert.ok(mounted().includes('row 300') && mounted().length < 200, mounted().join())
  })

  it('draws visible rows immediately, and nearby ones after the frame', async () => {
    add(1000)
    const scrollTo = (top: number) => {
      const list = root.querySelector('.list')!
      list.scrollTop = top
      list.dispatchEvent(new page.Event('scroll'))
    }
    scrollTo(10_000)
    assert.ok(mounted().includes('row 500') && mounted().includes('row 539'), mounted().join())
    await new Promise(resolve => page.setTimeout(resolve))
    // most of them are in the direction of scrolling
    assert.equal(mounted()[0], `row ${500 - (1.5 * view) / height}`)
    drawn = []
    scrollTo(10_000 - view)
    assert.deepEqual(drawn, [])
    await new Promise(resolve => page.setTimeout(resolve))
    assert.equal(mounted()[0], `row ${460 - (1.5 * view) / height}`)
    scrollTo(10_000 + view * 3)
    scrollTo(10_000 + view * 4)
    await new Promise(resolve => page.setTimeout(resolve))
    assert.ok(mounted().includes(`row ${699 + view / height}`), mounted().join())
  })

  it('stops following the end as soon as the wheel turns up', () => {
    add(100)
    const list = root.querySelector('.list')!
    list.dispatchEvent(new page.WheelEvent('wheel', { deltaY: -10, bubbles: true }))
    assert.equal(controller.following.peek(), false)
    add(50)
    assert.equal(list.scrollTop, 100 * height - view)
  })

  it("doesn't block scrolling in the browser", () => {
    assert.ok(listened.some(([type]) => type === 'wheel'))
    for (const [type, options] of listened)
      assert.ok(typeof options === 'object' && options.passive, `${type} is waited for`)
  })

  it("knows that it's at the end even if it doesn't follow it", () => {
    add(100)
    controller.release()
    assert.deepEqual([controller.following.peek(), controller.atEnd.peek()], [false, true])
    add(1)
    assert.deepEqual([controller.following.peek(), controller.atEnd.peek()], [false, false])
    controller.toEnd()
    assert.deepEqual([controller.following.peek(), controller.atEnd.peek()], [true, true])
  })

  it("doesn't move rows while the pointer is pressed, and follows the end after the click", async () => {
    add(100)
    const list = root.querySelector('.list')!
    const before = list.scrollTop
    assert.equal(before, 100 * height - view)
    const seen = new Map<string, number>()
    const point = (type: string, more: MouseEventInit = {}) =>
      [...root.querySelectorAll('p')]
        .find(row => row.textContent === 'row 90')!
        .dispatchEvent(new page.MouseEvent(type, { bubbles: true, ...more }))
    list.addEventListener('click', () => seen.set('click', list.scrollTop))
    point('pointerdown')
    add(50)
    assert.equal(list.scrollTop, before)
    assert.ok(mounted().includes('row 90'), mounted().join())
    window.setHeight(window.items[3]!, height + 100)
    version.value++
    assert.equal(list.scrollTop, before + 100)
    point('pointermove', { buttons: 1 })
    point('pointerup')
    point('click')
    assert.equal(seen.get('click'), before + 100)
    await new Promise(resolve => page.setTimeout(resolve))
    assert.equal(list.scrollTop, window.height - view)
    assert.equal(mounted().at(-1), 'row 149')
  })

  it('stays where the browser scrolled for the focus, whatever arrives before the scroll event', () => {
    add(100)
    const list = root.querySelector('.list')!
    const row = root.querySelector('p')!
    list.scrollTop -= 300
    const there = list.scrollTop
    row.dispatchEvent(new page.FocusEvent('focusin', { bubbles: true }))
    add(50)
    assert.equal(list.scrollTop, there)
    assert.equal(controller.following.peek(), false)
  })

  it('follows the end when the pointer was released outside of the page', async () => {
    add(100)
    const list = root.querySelector('.list')!
    const row = root.querySelector('p')!
    row.dispatchEvent(new page.MouseEvent('pointerdown', { bubbles: true }))
    add(50)
    assert.notEqual(list.scrollTop, window.height - view)
    page.document.body.dispatchEvent(new page.MouseEvent('pointermove', { bubbles: true, buttons: 0 }))
    await new Promise(resolve => page.setTimeout(resolve))
    assert.equal(list.scrollTop, window.height - view)
  })
})

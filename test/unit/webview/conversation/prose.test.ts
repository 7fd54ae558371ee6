import assert from 'node:assert/strict'
import { JSDOM } from 'jsdom'
import { selectedDiff } from '../../../../src/webview/conversation/actions/prose.ts'

describe('text copied from a diff', () => {
  const { window } = new JSDOM(`
    <p id="before">text</p>
    <div class="diff-lines"><button class="diff-line diff-fold">4 unchanged lines</button><div
      class="diff-line diff-same" data-gutter="1 1">const a = 1</div><del
      class="diff-line diff-removed" data-gutter="2 −"><span>const</span> b = 2</del><div
      class="diff-line diff-nothing"></div><ins
      class="diff-line diff-added" data-gutter="2 +"></ins><ins
      class="diff-line diff-added" data-gutter="3 +">const b = <span class="diff-word">3</span></ins></div>`)
  const { document } = window
  const element = Reflect.get(globalThis, 'Element')
  before(() => Reflect.set(globalThis, 'Element', window.Element))
  after(() => Reflect.set(globalThis, 'Element', element))

  function copied(from: Node, start: number, to: Node, end: number): string | undefined {
    const selection = window.getSelection()!
    selection.setBaseAndExtent(from, start, to, end)
    return selectedDiff(selection)
  }
  const line = (at: number) => document.querySelectorAll('.diff-line:not(.diff-fold, .diff-nothing)')[at]!

  it('is the code of whole lines, including empty ones, without line numbers, signs and folds', () => {
    const lines = document.querySelector('.diff-lines')!
    assert.equal(copied(lines, 0, lines, lines.childNodes.length), 'const a = 1\nconst b = 2\n\nconst b = 3')
  })

  it('is the selected part of a line', () => {
    assert.equal(copied(line(0).firstChild!, 6, line(1).lastChild!, 2), 'a = 1\nconst b')
    assert.equal(copied(line(0).firstChild!, 6, line(0).firstChild!, 7), 'a')
  })

  it('is left to the browser if the selection exceeds the diff', () => {
    assert.equal(copied(document.querySelector('#before')!, 0, line(0), 1), undefined)
  })
})

import assert from 'node:assert/strict'
import type * as bridge from '../../../../src/bridge/conversation.ts'
import type { Entry } from '../../../../src/conversation/state.ts'
import { head, message, permission, toolCall } from '../conversation/entries.ts'
import { openPage, type Page } from './page.ts'

/** A stand-in for the browser's highlighted ranges. */
class Marked extends Set<Range> {
  constructor(...ranges: Range[]) {
    super(ranges)
  }
}

describe('conversation page: find', () => {
  let page: Page
  let searches: Array<{
    key: string
    id: number
    query: { text: string; regex: boolean; matchCase: boolean }
  }> = []
  let stops = 0

  const show = (entries: Entry[], key = 'k1') =>
    page.send('conversation/snapshot', {
      revision: 1,
      head: head({ key }),
      entries,
      first: 0,
      total: entries.length,
      terminals: [],
      draft: { text: '', chips: [], items: [] },
    })
  const input = () => page.document.querySelector<HTMLInputElement>('.find input')!
  const count = () => page.document.querySelector('.find-count')?.textContent
  const type = (text: string) => {
    input().value = text
    input().dispatchEvent(new page.window.Event('input', { bubbles: true }))
  }
  const answer = (hits: number[], more = {}) =>
    page.send('find/results', {
      id: searches.at(-1)!.id,
      hits,
      part: 'whole',
      searching: false,
      limited: false,
      ...more,
    })
  const open = async () => {
    await page.send('find/show', {})
    await page.until(() => page.document.activeElement === input() && input())
  }

  /** the browser's highlights in the page, by name */
  let marks: Map<string, Set<Range>>
  const current = () => [...(marks.get('parley-find-current') ?? [])][0]
  const currentText = () => current()?.toString()
  let revision = 1
  const patch = (ops: bridge.PatchOp[]) => page.send('conversation/patch', { revision: ++revision, ops })

  beforeEach(async () => {
    marks = new Map()
    revision = 1
    page = await openPage('conversation', {
      prepare: window => Object.assign(window, { Highlight: Marked, CSS: { highlights: marks } }),
    })
    searches = []
    stops = 0
    page.hear('find/start', search => void searches.push(search))
    page.hear('find/stop', () => void stops++)
    await show([
      message('u', 'user', 'find the word'),
      message('t', 'thought', 'a word in a thought'),
      toolCall('c1', { toolKind: 'read', title: 'Read word.ts' }),
      toolCall('c2', { toolKind: 'read', title: 'Read other.ts' }),
      message('a', 'agent', 'First part.\n\nThe word **wo**rd.'),
    ])
    await page.until(() => page.document.querySelector('.row-prompt'))
  })
  afterEach(() => page.close())

  it('searches as the user types, counts matches, and wraps around', async () => {
    await open()
    type('word')
    await page.until(() => searches.at(-1)?.query.text === 'word')
    await answer([0, 1, 1, 1, 0, 1, 2, 1, 1, 4, 2, 2])
    await page.until(() => count() === '1 of 5')
    for (const expected of ['2 of 5', '3 of 5', '4 of 5', '5 of 5', '1 of 5']) {
      page.key(input(), 'Enter')
      await page.until(() => count() === expected)
    }
    page.key(input(), 'Enter', { shiftKey: true })
    await page.until(() => count() === '5 of 5')
  })

  it('highlights the current match, also after its text was drawn again', async () => {
    await open()
    type('word')
    await page.until(() => searches.at(-1)?.query.text === 'word')
    await answer([4, 2, 2])
    await page.until(() => currentText() === 'word')
    page.key(input(), 'Enter')
    await page.until(() => count() === '2 of 2' && currentText() === 'word')
    const before = current()
    await patch([
      { op: 'entry', index: 4, entry: message('a', 'agent', 'Other words.\n\nNow the word **wo**rd.') },
    ])
    await page.until(() => page.document.body.textContent?.includes('Now the'))
    await page.until(() => current() !== before && currentText() === 'word')
    assert.ok(page.document.contains(current()!.startContainer))
    assert.equal(current()!.startContainer.parentElement?.closest('strong')?.textContent, 'wo')
  })

  it('keeps text out of the composer that is typed before the widget opens', async () => {
    const area = page.document.querySelector<HTMLElement>('.composer [contenteditable]')!
    area.focus()
    page.key(area, 'f', { ctrlKey: true })
    for (const key of ['w', 'x', 'Backspace', 'o', 'Enter'])
      assert.ok(page.key(area, key).defaultPrevented, key)
    await open()
    await page.until(() => searches.at(-1)?.query.text === 'wo')
    assert.equal(input().value, 'wo')
    assert.equal(page.written, '')
    page.key(input(), 'f', { ctrlKey: true })
    page.key(input(), 'y')
    await page.send('find/show', {})
    await page.until(() => searches.at(-1)?.query.text === 'y')
    assert.ok(!page.key(input(), 'z').defaultPrevented, 'the widget has its keys again')
  })

  it('moves text to the composer that was typed after Ctrl+F had no effect', async () => {
    const area = page.document.querySelector<HTMLElement>('.composer [contenteditable]')!
    area.focus()
    page.key(area, 'f', { ctrlKey: true })
    page.key(area, 'h')
    page.key(area, 'i')
    await page.until(() => page.written === 'hi')
    assert.equal(input(), null)
  })

  it('expands the thought and the run that contain a match', async () => {
    await open()
    type('word')
    await page.until(() => searches.at(-1)?.query.text === 'word')
    await answer([1, 0, 1, 2, 1, 1])
    await page.until(() => page.document.querySelector('.row-thought [aria-expanded="true"]'))
    assert.ok(page.document.querySelector('.row-run [aria-expanded="false"]'))
    page.key(input(), 'Enter')
    await page.until(() => page.document.querySelector('.row-run [aria-expanded="true"]'))
    assert.equal(page.document.querySelector('.row-tool [aria-expanded="true"]'), null, 'the title shows it')
  })

  it('expands a tool call for a match in its diff, but not for one in its title', async () => {
    const change = { operation: 'modify', path: 'a.ts', oldText: 'one\n', newText: 'a word\n' }
    await show([toolCall('d', { title: 'Edit word', content: [{ type: 'diff', changes: [change] }] })], 'k3')
    await page.until(() => page.document.querySelector('.row-tool'))
    await open()
    type('word')
    await page.until(() => searches.at(-1)?.query.text === 'word')
    await answer([0, 1, 2])
    await page.until(() => count() === '1 of 2')
    assert.equal(page.document.querySelector('.row-tool .diff'), null)
    page.key(input(), 'Enter')
    // waits until everything is loaded
    await page.until(
      () => currentText() === 'word' && current()!.startContainer.parentElement?.closest('.diff'),
    )
  })

  it('keeps its position while matches arrive, and shows an invalid expression', async () => {
    await open()
    type('word')
    await page.until(() => searches.at(-1)?.query.text === 'word')
    await answer([0, 1, 1])
    await page.until(() => count() === '1 of 1')
    await answer([4, 2, 2], { part: 'change' })
    await page.until(() => count() === '1 of 3')
    page.key(input(), 'r', { code: 'KeyR', altKey: true })
    await page.until(() => searches.at(-1)?.query.regex === true)
    await answer([], { problem: 'Invalid regular expression.' })
    await page.until(() => count() === 'Invalid regular expression.')
    assert.equal(input().getAttribute('aria-invalid'), 'true')
  })

  it("closes with Escape, restores the focus and doesn't stop the turn", async () => {
    const area = page.document.querySelector<HTMLElement>('.composer :is(textarea, [contenteditable])')!
    area.focus()
    await open()
    type('word')
    page.key(input(), 'Escape')
    await page.until(() => !input() && stops === 1)
    assert.equal(page.document.activeElement, area)
  })

  it('shows a match of a search elsewhere with the focus, except while the user writes a prompt', async () => {
    const match = { query: { text: 'word', matchCase: false, wholeWord: false, regex: false }, from: 0 }
    const area = page.document.querySelector<HTMLElement>('.composer [contenteditable]')!
    area.focus()
    await page.send('find/show', { match })
    await page.until(() => page.document.activeElement === input() && input())
    page.key(input(), 'Escape')
    await page.until(() => !input())
    page.type('I was about to')
    const before = searches.length
    await page.send('find/show', { match })
    await page.until(() => searches.length > before)
    await answer([0, 1, 1])
    await page.until(() => count() === '1 of 1')
    await new Promise(done => page.window.requestAnimationFrame(done))
    assert.ok(page.document.activeElement === area)
    // asked for, it gets the focus
    await open()
  })

  it('searches the next displayed conversation', async () => {
    await open()
    type('word')
    await page.until(() => searches.at(-1)?.query.text === 'word')
    await show([message('x', 'user', 'word')], 'k2')
    await page.until(() => searches.at(-1)?.key === 'k2')
    assert.equal(searches.at(-1)?.query.text, 'word')
  })

  it('reveals an answered permission in the line of its edit, which is in a folded run', async () => {
    const edits = [1, 2, 3, 4].flatMap(i => [
      toolCall(`e${i}`, { toolKind: 'edit', title: `Edit f${i}.ts` }),
      permission(`p${i}`, {
        title: `Edit f${i}.ts`,
        toolCallId: `call-e${i}`,
        outcome: { type: 'selected', optionId: 'yes' },
      }),
    ])
    await show([message('u2', 'user', 'Go'), ...edits])
    await page.until(() => page.document.querySelector('.row-run'))
    await open()
    type('f3.ts')
    await page.until(() => searches.at(-1)?.query.text === 'f3.ts')
    // the permission, not its edit
    await answer([6, 1, 1])
    await page.until(() => currentText() === 'f3.ts')
    assert.ok(current()?.startContainer.parentElement?.closest('.row-tool'))
  })

  it('reveals the next pending request', async () => {
    await show([message('u', 'user', 'Go'), permission('p1'), permission('p2')])
    const focused = () => page.document.activeElement?.closest('[data-request]')?.getAttribute('data-request')
    await page.until(() => page.document.querySelectorAll('.permission').length === 2)
    await page.send('conversation/navigate', { to: 'question' })
    await page.until(focused)
    const first = focused()
    await page.send('conversation/navigate', { to: 'question' })
    await page.until(() => focused() !== first)
    await page.send('conversation/navigate', { to: 'question' })
    await page.until(() => focused() === first)
  })
})

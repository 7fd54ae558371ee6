import assert from 'node:assert/strict'
import type { Entry } from '../../../../src/conversation/state.ts'
import { head, message, toolCall } from '../conversation/entries.ts'
import { openPage, type Page } from './page.ts'

describe('conversation page: actions', () => {
  let page: Page
  let ran: Array<{ command: string; key: string; entryId: string }> = []
  const drafts: string[] = []

  const show = (entries: Entry[], more = {}) =>
    page.send('conversation/snapshot', {
      revision: 1,
      head: head(more),
      entries,
      first: 0,
      total: entries.length,
      terminals: [],
      draft: { text: '', chips: [], items: [] },
    })
  const press = (name: string) => page.document.querySelector<HTMLElement>(`[aria-label="${name}"]`)!.click()

  beforeEach(async () => {
    page = await openPage('conversation')
    ran = []
    drafts.length = 0
    page.hear('actions/entry', command => void ran.push(command))
    page.hear('conversation/draft', ({ text }) => void drafts.push(text))
    await show([message('u', 'user', 'Do it'), toolCall('c'), message('a', 'agent', 'It is **done**.')])
    await page.until(() => page.document.querySelector('.row-markdown strong'))
  })
  afterEach(() => page.close())

  it('apply to the entry next to them', async () => {
    press('Resend')
    press('Copy Message')
    await page.until(() => ran.length === 2)
    assert.deepEqual(ran, [
      { command: 'parley.sendAgain', key: 'k1', entryId: 'u' },
      { command: 'parley.copyMessage', key: 'k1', entryId: 'a' },
    ])
  })

  it('restore the files from before a prompt, mark discarded messages, and can be undone', async () => {
    press('Restore to Here…')
    const back: Entry = {
      kind: 'notice',
      id: 'n',
      turn: 1,
      severity: 'info',
      title: 'Files restored',
      rewind: { from: 1, to: 1, restored: 'r' },
    }
    const entries = [message('u', 'user', 'Do it'), message('a', 'agent', 'It is done.'), back]
    await show(entries, { rewinds: [{ ...back.rewind, id: 'n', first: 0, end: 2 }] })
    const line = () => page.document.querySelector<HTMLElement>('.aside-line')
    await page.until(line)
    assert.equal(line()!.textContent, '2 entries set aside · Show')
    assert.equal(page.document.querySelector('.prompt'), null)
    line()!.click()
    await page.until(() => page.document.querySelector('.prompt'))
    const undo = () =>
      [...page.document.querySelectorAll('button')].find(one => one.textContent === 'Undo Restore')
    await page.until(undo)
    assert.equal(page.document.querySelectorAll('.rewound').length, 2)
    assert.match(page.document.querySelector('.prompt')!.textContent!, /^You \(set aside\)/)
    assert.equal(page.document.querySelector('[aria-label="Restore to Here…"]'), null)
    undo()!.click()
    await page.until(() => ran.length === 2)
    assert.deepEqual(
      ran.map(({ command, entryId }) => [command, entryId]),
      [
        ['parley.restoreCheckpoint', 'u'],
        ['parley.undoRestore', 'n'],
      ],
    )
    await show([
      entries[0]!,
      entries[1]!,
      { ...back, rewind: { from: 1, to: 1, restored: 'r', withdrawn: true } },
    ])
    await page.until(() => page.document.querySelectorAll('.rewound').length === 0)
    assert.equal(undo(), undefined)
  })

  it('offer to retry the prompt only after a failure at the end', async () => {
    const end: Entry = {
      kind: 'turn_end',
      id: 'e',
      turn: 1,
      stopReason: 'error',
      error: { code: 1, message: 'No' },
    }
    const offered = () => page.document.querySelector<HTMLElement>('.turn-retry')
    await show([message('u', 'user', 'Do it'), end])
    await page.until(offered)
    offered()!.click()
    await page.until(() => ran[0]?.command === 'parley.sendAgain' && ran[0].entryId === 'e')
    await show([message('u', 'user', 'Do it'), end], { activity: 'running' })
    await page.until(() => !offered())
    await show([message('u', 'user', 'Do it'), end, message('a', 'agent', 'Now.')])
    await page.until(() => page.document.querySelector('.row-markdown') && !offered())
  })

  it('offer to retry the prompt after a turn without a response, and say so', async () => {
    const end: Entry = { kind: 'turn_end', id: 'e', turn: 1, stopReason: 'empty' }
    const offered = () => page.document.querySelector<HTMLElement>('.turn-retry')
    await show([message('u', 'user', 'Do it'), end])
    await page.until(offered)
    assert.match(page.document.body.textContent!, /The turn ended without a response/)
    offered()!.click()
    await page.until(() => ran[0]?.command === 'parley.sendAgain' && ran[0].entryId === 'e')
  })

  it('provide the context of the context menu', () => {
    const contextOf = (selector: string) =>
      JSON.parse(page.document.querySelector(selector)!.getAttribute('data-vscode-context')!)
    assert.equal(contextOf('.row-prompt').webviewSection, 'prompt')
    assert.equal(contextOf('.row-prompt').entry, 'u')
    assert.equal(contextOf('.row-tool').webviewSection, 'work')
    assert.equal(contextOf('.row-markdown').webviewSection, 'message')
    assert.equal(contextOf('main').conversation, 'k1')
  })

  it('append a prompt to the text in the composer', async () => {
    const wrote = (wanted: string) => drafts.at(-1) === wanted
    await page.send('actions/fill', { blocks: [{ type: 'text', text: 'Do it' }] })
    await page.until(() => wrote('Do it'))
    const elsewhere = page.document.querySelector<HTMLElement>('.transcript')!
    elsewhere.focus()
    await page.send('actions/fill', {
      blocks: [{ type: 'text', text: 'again' }],
      quiet: true,
    })
    await page.until(() => wrote('Do it\n\nagain'))
    assert.equal(page.document.activeElement, elsewhere, 'the focus stays where it is')
  })

  it('quote only what is selected in the conversation', async () => {
    const selection = page.window.getSelection()!
    selection.selectAllChildren(page.document.querySelector('.header')!)
    await page.send('actions/quote')
    // a hint, not an error
    await page.until(() => page.document.querySelector('.composer-note.info'))
    selection.selectAllChildren(page.document.querySelector('.row-markdown .prose')!)
    await page.send('actions/quote')
    await page.until(() => drafts.at(-1) === '> It is done.\n\n')
    await page.until(() => !page.document.querySelector('.composer-note'))
    assert.equal(selection.isCollapsed || selection.rangeCount === 0, true)
  })

  it('show a button at the selection', async () => {
    const button = () => page.document.querySelector<HTMLElement>('.selection-quote')
    page.window.Range.prototype.getClientRects = () =>
      [{ left: 5, right: 50, top: 10, bottom: 20, width: 45 }] as unknown as DOMRectList
    page.window.getSelection()!.selectAllChildren(page.document.querySelector('.row-markdown .prose')!)
    await page.until(() => !page.document.querySelector('.loading-part'))
    page.window.dispatchEvent(new page.window.Event('pointerup'))
    await page.until(button)
    button()!.click()
    await page.until(() => drafts.at(-1) === '> It is done.\n\n')
    await page.until(() => !button())
  })
})

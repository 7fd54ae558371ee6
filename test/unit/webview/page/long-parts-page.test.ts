import assert from 'node:assert/strict'
import type { Entry } from '../../../../src/conversation/state.ts'
import { head, message, toolCall } from '../conversation/entries.ts'
import { openPage, type Page } from './page.ts'

/** A stand-in for the browser's highlighted ranges. */
class Marked extends Set<Range> {
  constructor(...ranges: Range[]) {
    super(ranges)
  }
}

const MAX_NODES = 3000
const line = (i: number) => `const value${i} = compute("text ${i}") // and a comment`
const code = Array.from({ length: 5000 }, (_, i) => line(i))

describe('conversation page: long content', () => {
  let page: Page
  let marks: Map<string, Set<Range>>
  let find: { id: number; query: { text: string } } | undefined

  beforeEach(async () => {
    marks = new Map()
    find = undefined
    page = await openPage('conversation', {
      prepare: window => Object.assign(window, { Highlight: Marked, CSS: { highlights: marks } }),
    })
    page.hear('find/start', start => {
      find = start
    })
  })
  afterEach(() => page.close())

  const show = (entry: Entry, output = '') =>
    page.send('conversation/snapshot', {
      revision: 1,
      head: head(),
      entries: [entry],
      first: 0,
      total: 1,
      terminals: output === '' ? [] : [{ terminalId: 't1', output, truncated: false }],
      draft: { text: '', chips: [], items: [] },
    })
  const query = (selector: string) => page.document.querySelector<HTMLElement>(selector)
  const nodes = () => page.document.querySelectorAll('*').length
  /** Searches for a text with this many matches in the entry, the last one in its body. */
  const lookFor = async (text: string, hits: number[]) => {
    await page.send('find/show', {})
    await page.until(() => page.document.activeElement?.closest('.find'))
    const input = query('.find input') as HTMLInputElement
    input.value = text
    input.dispatchEvent(new page.window.Event('input', { bubbles: true }))
    // the field's initial text was searched for too
    await page.until(() => find?.query.text === text)
    await page.send('find/results', {
      id: find!.id,
      hits,
      part: 'whole',
      searching: false,
      limited: false,
    })
  }
  const found = () => [...(marks.get('parley-find-current') ?? [])][0]
  const foundLine = () => {
    const range = found()
    return range?.startContainer.parentElement?.closest('[data-row]')?.textContent
  }

  it('mounts few lines of a code block of 5,000, but copies all', async () => {
    const copies: string[] = []
    page.hear('conversation/copy', ({ text }) => void copies.push(text))
    await show(message('a', 'agent', `Look:\n\n\`\`\`ts\n${code.join('\n')}\n\`\`\`\n\nDone.`))
    await page.until(() => query('.code-lines .hljs-keyword'))
    assert.ok(nodes() < MAX_NODES, `${nodes()} elements`)
    query('[data-action="copy-code"]')!.click()
    await page.until(() => copies.length === 1)
    assert.equal(copies[0], code.join('\n'))
    await lookFor('value4321 ', [0, 1, 1])
    await page.until(() => foundLine() === line(4321))
    assert.ok(nodes() < MAX_NODES, `${nodes()} elements`)
  })

  it('streams to a long code block', async () => {
    const part = code.slice(0, 1000).join('\n')
    await show(message('a', 'agent', `\`\`\`ts\n${part}`))
    await page.until(() => query('.code-lines'))
    await page.send('conversation/patch', {
      revision: 2,
      ops: [{ op: 'text', id: 'a', block: 0, text: '\nlast line\n```\n' }],
    })
    const rows = () => [...page.document.querySelectorAll('.code-line')].map(row => row.textContent)
    await page.until(() => {
      const scroll = query('.code-lines')!
      scroll.scrollTop = 1e6
      scroll.dispatchEvent(new page.window.Event('scroll'))
      return rows().at(-1) === 'last line'
    })
  })

  it('mounts few lines of a terminal with 10,000 colored ones, and finds text in them', async () => {
    const lines = Array.from(
      { length: 10_000 },
      (_, i) => `\u001b[3${i % 8}mline ${i}\u001b[0m of \u001b[1mit\u001b[22m`,
    )
    await show(
      toolCall('t', { toolKind: 'execute', content: [{ type: 'terminal', terminalId: 't1' }] }),
      `${lines.join('\n')}\n`,
    )
    await page.until(() => query('.work .line'))
    query('.work .line')!.click()
    await page.until(() => query('.terminal-line:nth-last-child(2)')?.textContent === 'line 9999 of it')
    assert.ok(nodes() < MAX_NODES, `${nodes()} elements`)
    await lookFor('line 1234 ', [0, 0, 1])
    await page.until(() => foundLine() === 'line 1234 of it')
    assert.ok(nodes() < MAX_NODES, `${nodes()} elements`)
  })

  it('mounts few lines of an output of 5 MB, and finds text in them', async () => {
    const text = Array.from({ length: 100_000 }, (_, i) => `${i}: ${'word '.repeat(9)}`).join('\n')
    await show(toolCall('t', { content: [{ type: 'content', content: { type: 'text', text } }] }))
    await page.until(() => query('.work .line'))
    query('.work .line')!.click()
    await page.until(() => query('.code-line'))
    assert.ok(nodes() < MAX_NODES, `${nodes()} elements`)
    await lookFor('77777:', [0, 0, 1])
    await page.until(() => foundLine()?.startsWith('77777: '))
  })

  it('finds a line in a diff of 100,000 lines', async () => {
    const newText = Array.from({ length: 100_000 }, (_, i) => `line ${i};`).join('\n')
    await show(
      toolCall('t', {
        toolKind: 'edit',
        content: [{ type: 'diff', changes: [{ operation: 'add', path: '/p/a.txt', newText }] }],
      }),
    )
    await page.until(() => query('.work .line'))
    query('.work .line')!.click()
    await page.until(() => query('.diff-line'))
    assert.ok(nodes() < MAX_NODES, `${nodes()} elements`)
    await lookFor('line 65432;', [0, 0, 1])
    await page.until(() => foundLine() === 'line 65432;')
  })
})

import assert from 'node:assert/strict'
import { previewHtml } from '../../../../src/app/page-preview.ts'
import type * as bridge from '../../../../src/bridge/conversation.ts'
import type { Preview } from '../../../../src/bridge/preview.ts'
import { head, message } from '../conversation/entries.ts'
import { openPage, type Page } from './page.ts'

describe('the preview in a page', () => {
  let page: Page
  let taken: Array<{ key: string; revision: number; preview: Preview }>

  const snapshot = (revision: number, more: Partial<bridge.ConversationHead>, text?: string) =>
    page.send('conversation/snapshot', {
      revision,
      head: head({ sessionId: 's', agent: { agentId: 'a', name: 'Agent' }, title: 'About planets', ...more }),
      entries: text === undefined ? [] : [message('m1', 'agent', text)],
      first: 0,
      total: text === undefined ? 0 : 1,
      terminals: [],
      draft: { text: '', chips: [], items: [] },
    })
  const open = async (earlier?: Preview) => {
    taken = []
    page = await openPage('conversation', {
      prepare: ({ document }) => {
        if (earlier) document.getElementById('root')!.insertAdjacentHTML('afterend', previewHtml(earlier, ''))
      },
    })
    page.hear('conversation/preview', params => void taken.push(params))
  }
  /** Opens a page with the preview that was taken of a conversation. */
  const openAgain = async () => {
    await open()
    await snapshot(1, {}, 'Mercury is hot.')
    await page.until(() => taken.length > 0)
    const [{ preview }] = taken as [(typeof taken)[0]]
    page.close()
    await open(preview)
  }
  const shown = () => page.document.getElementById('preview')
  afterEach(() => page.close())

  it('is taken when the conversation stops changing, without what only scripts can create', async () => {
    await open()
    await snapshot(1, { activity: 'running' }, 'Mercury `<b>` is\n\n```js\nconst x = 1\n```\n')
    await snapshot(2, {}, 'Mercury `<b>` is\n\n```js\nconst x = 1\n```\n')
    await page.until(() => taken.length > 0)
    const [{ revision, preview }] = taken as [(typeof taken)[0]]
    assert.equal(taken.length, 1)
    assert.equal(revision, 2)
    assert.equal(preview.title, 'About planets')
    const texts = preview.rows.filter(part => typeof part === 'string').join('')
    assert.match(texts, /Mercury <b> is/)
    assert.match(texts, /const x = 1/)
    const icons = preview.rows.filter(part => typeof part === 'object' && /codicon/.test(part?.class ?? ''))
    assert.ok(icons.every(part => typeof part === 'object' && part?.tag === 'svg'))
  })

  it('is displayed until the conversation is, and then never again', async () => {
    await openAgain()
    const text = () => page.document.querySelector('.row')!.textContent
    assert.match(text(), /Mercury is hot/)
    const before = [...page.document.querySelectorAll('.row')].map(row => row.textContent)
    // assistive technology must find each row exactly once at any time
    const counts: number[] = []
    const { MutationObserver } = page.window
    const count = () => page.document.querySelectorAll('.row').length
    new MutationObserver(() => counts.push(count())).observe(page.document.body, {
      childList: true,
      subtree: true,
    })
    await snapshot(1, {}, 'Mercury is hot.')
    await page.until(() => shown() === null)
    assert.deepEqual(
      [...page.document.querySelectorAll('#root .row')].map(row => row.textContent),
      before,
    )
    assert.ok(
      counts.every(number => number === 1),
      `rows: ${counts}`,
    )
    await snapshot(2, { key: 'a/other' }, 'Venus is hotter.')
    await page.until(() => page.document.querySelector('#root')!.textContent.includes('Venus'))
    assert.equal(shown(), null)
  })

  it('is removed when the view turns out to be empty', async () => {
    await openAgain()
    assert.ok(shown())
    await snapshot(1, { key: 'new', sessionId: undefined, phase: 'empty', title: undefined })
    await page.until(() => shown() === null)
  })
})

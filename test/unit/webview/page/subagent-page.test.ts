import assert from 'node:assert/strict'
import type { Entry } from '../../../../src/conversation/state.ts'
import { head } from '../conversation/entries.ts'
import { openPage, type Page } from './page.ts'

const scout: Entry = {
  kind: 'subagent',
  id: 'e0',
  turn: 1,
  sessionId: 'child',
  title: 'Scout',
  description: 'Looks for tests',
  state: { activity: 'running' },
  canCancel: true,
  cwd: '/w/tests',
}
const said = (id: string, more: Partial<Extract<Entry, { kind: 'session_message' }>>): Entry => ({
  kind: 'session_message',
  id,
  turn: 1,
  messageId: id,
  blocks: [{ type: 'text', text: `Words of ${id}\nand more` }],
  ...more,
})

/** A message of the agent, or of the subagent with this session. */
const says = (id: string, within?: string): Entry => ({
  kind: 'message',
  id,
  turn: 1,
  ...(within === undefined ? {} : { within }),
  role: 'agent',
  blocks: [{ type: 'text', text: `Words of ${id}` }],
})

describe('a subagent in the conversation', () => {
  let page: Page
  let revision = 0
  const work: unknown[] = []

  const show = (entries: Entry[]) =>
    page.send('conversation/snapshot', {
      revision: ++revision,
      head: head({ sessionId: 'parent' }),
      entries,
      first: 0,
      total: entries.length,
      terminals: [],
      draft: { text: '', chips: [], items: [] },
    })
  const text = () => page.document.querySelector('.transcript')?.textContent ?? ''
  const line = (name: RegExp) =>
    [...page.document.querySelectorAll<HTMLElement>('.line')].find(each => name.test(each.textContent ?? ''))

  beforeEach(async () => {
    page = await openPage('conversation')
    work.length = 0
    let ready = false
    page.hear('conversation/ready', () => {
      ready = true
    })
    page.hear('conversation/cancelWork', call => void work.push(call.work))
    await page.until(() => ready)
  })
  afterEach(() => page.close())

  it('shows its name and activity, and expands to its instructions and messages', async () => {
    await show([scout, said('e1', { from: 'parent', to: 'child' }), said('e2', { from: 'child' })])
    await page.until(() => line(/Subagent: Scout.*working/))
    assert.ok(line(/^To Scout/))
    assert.ok(line(/^From Scout/))
    line(/Subagent/)!.click()
    await page.until(() => page.document.querySelectorAll('.subagent-messages li').length === 2)
    assert.match(text(), /Looks for tests/)
    assert.match(text(), /Working directory: \/w\/tests/)
    assert.match(page.document.querySelector('.subagent-messages')!.textContent!, /^Words of e1Words of e2$/)
    line(/^To Scout/)!.click()
    await page.until(() => /and more/.test(text()))
  })

  it('can be stopped while it works, and shows how it ended', async () => {
    await show([scout])
    await page.until(() => page.document.querySelector('.cancel-work'))
    page.document.querySelector<HTMLElement>('.cancel-work')!.click()
    await page.until(() => work.length === 1)
    assert.deepEqual(work, [{ subagentId: 'child' }])
    const error = { code: 1, message: 'It got lost.' }
    await show([{ ...scout, state: { activity: 'idle', stopReason: 'error', error } }])
    await page.until(() => line(/Subagent: Scout.*failed/))
    assert.equal(page.document.querySelector('.cancel-work'), null)
    line(/Subagent/)!.click()
    await page.until(() => /It got lost\./.test(text()))
  })

  it('indents its messages and tool calls, and folds only its own reads', async () => {
    const read = (id: string, within?: string): Entry => ({
      kind: 'tool_call',
      id,
      turn: 1,
      ...(within === undefined ? {} : { within }),
      toolCallId: id,
      title: `Read ${id}`,
      toolKind: 'read',
      status: 'completed',
      content: [],
      locations: [],
      canCancel: false,
    })
    const says = (id: string, words: string, within?: string): Entry => ({
      kind: 'message',
      id,
      turn: 1,
      ...(within === undefined ? {} : { within }),
      role: 'agent',
      blocks: [{ type: 'text', text: words }],
    })
    await show([
      scout,
      says('e1', 'The session says'),
      says('e2', 'The scout says', 'child'),
      read('e3', 'child'),
      read('e4', 'child'),
      read('e5', 'child'),
      read('e6'),
      read('e7'),
      read('e8'),
    ])
    await page.until(() => /The scout says/.test(text()))
    const rows = [...page.document.querySelectorAll<HTMLElement>('.row')]
    const within = rows.filter(row => row.classList.contains('within'))
    assert.equal(within.length, 2)
    assert.match(within[0]!.textContent!, /The scout says/)
    assert.ok(within[1]!.classList.contains('row-run'))
    assert.equal(rows.filter(row => row.classList.contains('row-run')).length, 2)
  })

  it('hides its work except for a pending request, and shows it when expanded', async () => {
    const digger = { ...scout, id: 's2', sessionId: 'grandchild', title: 'Digger', within: 'child' } as Entry
    const question: Entry = {
      kind: 'permission',
      id: 'q',
      turn: 1,
      within: 'grandchild',
      requestId: 'r',
      title: 'May I dig?',
      options: [{ optionId: 'yes', name: 'Allow once', kind: 'allow_once' }],
    }
    const entries = [scout, says('e1', 'child'), digger, says('e2', 'grandchild'), question, says('e3')]
    await show(entries)
    const button = (name: string) =>
      page.document.querySelector<HTMLElement>(`.hide-work[aria-label="${name}"]`)
    await page.until(() => /Words of e3/.test(text()) && button('Hide Messages'))
    button('Hide Messages')!.click()
    await page.until(() => !/Words of e1|Words of e2|Digger(?! )/.test(text().replace('Scout › Digger', '')))
    assert.match(text(), /May I dig\?/)
    assert.match(text(), /Words of e3/)
    button('Show Messages')!.click()
    await page.until(() => /Words of e1/.test(text()) && /Words of e2/.test(text()))
  })

  it('that is a tool call of the session has its calls under it, and can hide them except for a pending request', async () => {
    const call = (id: string, parentId?: string, more = {}): Entry => ({
      kind: 'tool_call',
      id,
      turn: 1,
      toolCallId: id,
      ...(parentId !== undefined && { parentId }),
      title: `Call ${id}`,
      toolKind: 'other',
      status: 'completed',
      content: [],
      locations: [],
      canCancel: false,
      ...more,
    })
    const question: Entry = {
      kind: 'permission',
      id: 'q',
      turn: 1,
      toolCallId: 'a2',
      requestId: 'r',
      title: 'May I dig?',
      options: [{ optionId: 'yes', name: 'Allow once', kind: 'allow_once' }],
    }
    await show([
      call('a', undefined, { title: 'Explore', toolKind: 'think' }),
      call('b', undefined, { title: 'Review', toolKind: 'think' }),
      call('a1', 'a'),
      call('b1', 'b'),
      call('a2', 'a'),
      question,
      call('plain'),
    ])
    await page.until(() => /May I dig\?/.test(text()) && /Call plain/.test(text()))
    const rows = () => [...page.document.querySelectorAll<HTMLElement>('.row')]
    const within = () => rows().filter(row => row.classList.contains('within'))
    assert.deepEqual(
      within().map(row => [
        row.querySelector('.subagent-name')?.textContent,
        /Call \w+$|May I dig/.exec(row.textContent!)?.[0],
      ]),
      [
        ['Explore', 'Call a1'],
        ['Review', 'Call b1'],
        ['Explore', 'Call a2'],
        [undefined, 'May I dig'],
      ],
    )
    const buttons = page.document.querySelectorAll<HTMLElement>('.hide-work[aria-label="Hide Tool Calls"]')
    assert.equal(buttons.length, 2)
    buttons[0]!.click()
    await page.until(() => !/Tool: Call a/.test(text()))
    assert.match(text(), /Call b1.*May I dig\?.*Call plain/s)
    page.document.querySelector<HTMLElement>('.hide-work[aria-label="Show Tool Calls"]')!.click()
    await page.until(() => /Tool: Call a1/.test(text()) && /Tool: Call a2/.test(text()))
  })

  it('labels its work where the author changes, with a link to its start', async () => {
    const digger: Entry = {
      ...scout,
      id: 's2',
      sessionId: 'grandchild',
      title: 'Digger',
      within: 'child',
    } as Entry
    await show([
      scout,
      says('e1', 'child'),
      says('e2', 'child'),
      digger,
      says('e3', 'grandchild'),
      says('e4', 'child'),
      says('e5'),
      says('e6', 'grandchild'),
    ])
    await page.until(() => /Words of e6/.test(text()))
    const named = [...page.document.querySelectorAll<HTMLElement>('.row.named')]
    assert.deepEqual(
      named.map(row => row.textContent?.trim()),
      ['ScoutWords of e4', 'Scout › DiggerWords of e6'],
    )
    const color = (row: HTMLElement) => [...row.classList].find(name => /^subagent-\d$/.test(name))
    assert.notEqual(color(named[0]!), color(named[1]!))
    assert.ok(page.document.querySelector('.subagent-name')!.getAttribute('title')!.includes('Scout'))
  })
})

import assert from 'node:assert/strict'
import type { ElicitationField, ElicitationOutcome } from '../../../../src/acp/model.ts'
import type { ElicitationEntry } from '../../../../src/conversation/state.ts'
import { head } from '../conversation/entries.ts'
import { openPage, type Page } from './page.ts'

const fields = [
  { key: 'name', title: 'Name', type: 'text', required: true, maxLength: 5 },
  { key: 'age', title: 'Age', type: 'integer', required: false, minimum: 18 },
  {
    key: 'when',
    title: 'When',
    type: 'text',
    format: 'date-time',
    required: false,
    default: '2024-02-29T10:00:00Z',
  },
  {
    key: 'color',
    title: 'Color',
    type: 'select',
    required: false,
    choices: [
      { value: '', title: 'None' },
      { value: 'r', title: 'Red' },
    ],
  },
  {
    key: 'tags',
    title: 'Tags',
    type: 'multi_select',
    required: false,
    choices: [{ value: 't', title: 'Tag' }],
  },
  { key: 'sure', title: 'Sure?', type: 'boolean', required: false },
] as ElicitationField[]

function form(id: string, more: Partial<ElicitationEntry> = {}): ElicitationEntry {
  return {
    kind: 'elicitation',
    id,
    turn: 1,
    requestId: `f-${id}`,
    message: 'Tell me',
    ask: { mode: 'form', fields },
    ...more,
  }
}

describe('conversation page: requests of an agent', () => {
  let page: Page
  const answers: Array<[requestId: string, answer: ElicitationOutcome]> = []

  beforeEach(async () => {
    page = await openPage('conversation')
    answers.length = 0
    let ready = false
    page.hear('conversation/ready', () => {
      ready = true
    })
    page.hear('conversation/elicitation', ({ requestId, answer }) => {
      answers.push([requestId, answer])
    })
    await page.until(() => ready)
  })
  afterEach(() => page.close())

  const show = async (...entries: ElicitationEntry[]) => {
    await page.send('conversation/snapshot', {
      revision: 1,
      head: head({ activity: 'requires_action' }),
      entries,
      first: 0,
      total: entries.length,
      terminals: [],
      draft: { text: '', chips: [], items: [] },
    })
    await page.until(
      () => page.document.querySelectorAll('.elicitation, .answered').length === entries.length,
    )
  }
  const box = (requestId: string) => page.document.querySelector(`[data-request="${requestId}"]`)!
  const labeled = (label: string, within: Element = page.document.body) => {
    const found = [...within.querySelectorAll('label')].find(one => one.textContent?.startsWith(label))
    const control = found?.htmlFor
      ? page.document.getElementById(found.htmlFor)
      : found?.querySelector('input')
    assert.ok(control, label)
    return control as HTMLInputElement
  }
  const write = (control: HTMLInputElement | HTMLSelectElement, value: string, event = 'input') => {
    control.value = value
    control.dispatchEvent(new page.window.Event(event, { bubbles: true }))
  }
  const button = (text: string, within: Element = page.document.body) => {
    const found = [...within.querySelectorAll('button')].find(one => one.textContent?.trim() === text)
    assert.ok(found, text)
    return found
  }

  it('shows errors, keeps valid values, and sends what the schema accepts', async () => {
    await show(form('a'))
    write(labeled('Age'), '17')
    button('Submit').click()
    await page.until(() => page.document.querySelectorAll('.field-problem').length === 2)
    const name = labeled('Name')
    assert.equal(name.getAttribute('aria-invalid'), 'true')
    const about = page.document.getElementById(name.getAttribute('aria-describedby') ?? '')
    assert.equal(about?.textContent?.trim(), 'A value is required.')
    await page.until(() => page.document.activeElement === name)
    assert.equal(answers.length, 0)

    write(name, 'Ada')
    write(labeled('Age'), '36')
    await page.until(() => page.document.querySelectorAll('.field-problem').length === 0)
    write(page.document.querySelector('select')!, '0', 'change')
    labeled('Tag').click()
    button('Submit').click()
    await page.until(() => answers.length === 1)
    const [requestId, answer] = answers[0]!
    assert.equal(requestId, 'f-a')
    assert.ok(answer.action === 'accept' && answer.content)
    const { when, ...rest } = answer.content
    assert.deepEqual(rest, { name: 'Ada', age: 36, color: '', tags: ['t'] })
    assert.equal(new Date(String(when)).toISOString(), '2024-02-29T10:00:00.000Z')
  })

  it('keeps several forms and their values apart', async () => {
    await show(form('a'), form('b', { message: 'And again' }))
    write(labeled('Name', box('f-b')), 'Bob')
    button('Decline', box('f-a')).click()
    await page.until(() => answers.length === 1)
    await page.send('conversation/patch', {
      revision: 2,
      ops: [{ op: 'entry', index: 0, entry: form('a', { outcome: { action: 'decline' } }) }],
    })
    await page.until(() => page.document.querySelector('.answered'))
    assert.equal(labeled('Name', box('f-b')).value, 'Bob')
    page.key(labeled('Name', box('f-b')), 'Escape')
    await page.until(() => answers.length === 2)
    assert.deepEqual(answers, [
      ['f-a', { action: 'decline' }],
      ['f-b', { action: 'cancel' }],
    ])
  })

  it('restores the values of a form when its conversation is shown again', async () => {
    await show(form('a'))
    const [name, submit] = [labeled('Name'), button('Submit')]
    write(name, 'Ada')
    await show(form('a'))
    await show(form('a', { message: 'Tell me, please' }))
    await page.until(() => box('f-a').textContent?.includes('Tell me, please'))
    assert.equal(labeled('Name'), name)
    assert.equal(button('Submit'), submit, 'a press that has begun ends on it')
    assert.equal(name.value, 'Ada')
  })

  it("can't send a form with a required field that can't be filled in", async () => {
    const odd = { key: 'x', title: 'Odd', type: 'unknown', raw: {}, required: true } as ElicitationField
    await show(form('a', { ask: { mode: 'form', fields: [odd] } }))
    assert.equal(button('Submit').disabled, true)
    assert.match(box('f-a').textContent ?? '', /doesn't support/)
  })

  it("shows a complete URL with a separate host and warnings, and doesn't open it automatically", async () => {
    const url = 'http://user@xn--80ak6aa92e.com/a/very/long/path'
    await show(form('a', { ask: { mode: 'url', elicitationId: 'v', url } }))
    assert.equal(page.document.querySelector('.address-text')?.textContent, url)
    assert.equal(page.document.querySelector('.address-host')?.textContent, 'xn--80ak6aa92e.com')
    assert.equal(page.document.querySelectorAll('.address-warning').length, 3)
    page.key(page.document.querySelector('.transcript')!, 'Enter')
    page.key(page.document.querySelector('.transcript')!, '1')
    assert.equal(answers.length, 0)
    button('Open xn--80ak6aa92e.com').click()
    await page.until(() => answers.length === 1)
    assert.deepEqual(answers, [['f-a', { action: 'accept' }]])
  })

  it("doesn't open a URL that isn't http or https", async () => {
    const url = 'file:///etc/passwd'
    await show(form('a', { ask: { mode: 'url', elicitationId: 'v', url } }))
    const labels = [...box('f-a').querySelectorAll('button')].map(
      one => one.ariaLabel ?? one.getAttribute('aria-label') ?? one.textContent?.trim(),
    )
    assert.deepEqual(labels, ['Copy URL', 'Decline', 'Cancel'])
  })

  it('shows the answer', async () => {
    const content = { name: 'Ada', color: 'r', sure: true }
    await show(form('a', { outcome: { action: 'accept', content } }))
    page.document.querySelector<HTMLElement>('.answered button')!.click()
    await page.until(() => page.document.querySelector('.elicitation-content'))
    const given = [...page.document.querySelectorAll('.elicitation-given')].map(one => one.textContent)
    assert.deepEqual(given, ['NameAda', 'ColorRed', 'Sure?Yes'])
  })
})

import assert from 'node:assert/strict'
import type { Entry } from '../../../../src/conversation/state.ts'
import * as bridge from '../../../../src/views/bridge/conversation.ts'
import { head, message, permission, toolCall } from '../conversation/entries.ts'
import { openPage, type Page } from './page.ts'

describe('conversation page', function () {
  this.timeout(60_000)
  let page: Page
  let revision = 0
  const ready: number[] = []
  const sent: Array<{ key: string; text: string; attachments: unknown[] }> = []
  const answers: Array<{ requestId: string; optionId?: string }> = []
  const drafts: Array<{ key: string; text: string }> = []
  const cancels: string[] = []
  const files: Array<{ path: string; line?: number }> = []
  const links: string[] = []
  const copies: string[] = []
  let refuse = false

  const open = async (options?: Parameters<typeof openPage>[1]) => {
    page = await openPage('conversation', options)
    for (const list of [ready, sent, answers, drafts, cancels, files, links, copies]) list.length = 0
    refuse = false
    page.host.onNotification(bridge.Ready, () => void ready.push(revision))
    page.host.onRequest(bridge.SendPrompt, prompt => {
      if (refuse) throw new Error('There is no session.')
      sent.push(prompt)
    })
    page.host.onNotification(bridge.AnswerPermission, answer => void answers.push(answer))
    page.host.onNotification(bridge.SaveDraft, draft => void drafts.push(draft))
    page.host.onNotification(bridge.CancelTurn, ({ key }) => void cancels.push(key))
    page.host.onNotification(bridge.OpenFile, file => void files.push(file))
    page.host.onNotification(bridge.OpenLink, ({ href }) => void links.push(href))
    page.host.onNotification(bridge.Copy, ({ text }) => void copies.push(text))
    await page.until(() => ready.length === 1)
  }
  const show = (entries: Entry[], more: Partial<bridge.ConversationHead> = {}, draft = '') =>
    page.host.sendNotification(bridge.Snapshot, {
      revision: ++revision,
      head: head(more),
      entries,
      first: 0,
      total: entries.length,
      terminals: [],
      draft,
    })
  const patch = (...ops: bridge.PatchOp[]) =>
    page.host.sendNotification(bridge.Patch, { revision: ++revision, ops })
  const text = () => page.document.querySelector('.transcript')?.textContent ?? ''
  const area = () => page.document.querySelector('textarea')!

  beforeEach(() => open())
  afterEach(() => page.close())

  it('streams a message, and asks for a snapshot after a gap', async () => {
    await show([message('u', 'user', 'Go'), message('a', 'agent', '**Bold** and `co')])
    await page.until(() => text().includes('Bold and'))
    await patch({ op: 'text', id: 'a', block: 0, text: 'de` end.' })
    await page.until(() => page.document.querySelector('.prose code')?.textContent === 'code')
    const bold = page.document.querySelector('.prose strong')
    await patch({ op: 'text', id: 'a', block: 0, text: '\n\nNext.' })
    await page.until(() => text().includes('Next.'))
    assert.equal(page.document.querySelector('.prose strong'), bold, 'what was drawn stays')
    revision++
    await patch({ op: 'text', id: 'a', block: 0, text: ' Lost.' })
    await page.until(() => ready.length === 2)
    assert.ok(!text().includes('Lost.'))
  })

  it('runs nothing that an agent wrote', async () => {
    const attacks = [
      '<img src=x onerror="window.hacked=1">',
      '<script>window.hacked=1</script>',
      '[a](javascript:window.hacked=1)',
      '<a href="javascript:window.hacked=1">b</a>',
      '<details ontoggle="window.hacked=1" open>c</details>',
      '<iframe srcdoc="<script>parent.hacked=1</script>"></iframe>',
      '<style>*{display:none}</style><form action=x><input name=y></form>',
    ]
    await show([
      message('a', 'agent', attacks.join('\n\n')),
      toolCall('t', { title: '<img src=x onerror="window.hacked=1">' }),
    ])
    await page.until(() => page.document.querySelectorAll('.prose').length === attacks.length)
    const { document } = page
    assert.equal(
      document.querySelectorAll('.transcript :is(script, iframe, style, form, input, img)').length,
      0,
    )
    assert.equal(document.querySelectorAll('[onerror], [ontoggle], [style*=display]').length, 0)
    for (const link of document.querySelectorAll('.transcript a'))
      assert.doesNotMatch(link.outerHTML, /javascript/)
    assert.equal('hacked' in page.window, false)
  })

  it('sends with Enter, not with Shift+Enter nor while an input method composes', async () => {
    await show([])
    await page.until(() => area() && !area().disabled)
    page.type('Hello')
    page.key(area(), 'Enter', { shiftKey: true })
    page.key(area(), 'Enter', { isComposing: true })
    page.key(area(), 'Enter', { keyCode: 229 })
    page.key(area(), 'Enter')
    await page.until(() => sent.length === 1)
    assert.deepEqual(sent, [{ key: 'k1', text: 'Hello', attachments: [] }])
    await page.until(() => area().value === '')
    page.type('   ')
    page.key(area(), 'Enter')
    page.type('Again')
    page.key(area(), 'Enter')
    await page.until(() => sent.length === 2)
    assert.equal(sent[1]!.text, 'Again')
  })

  it('keeps what was not taken, and says why', async () => {
    await show([])
    await page.until(() => area())
    refuse = true
    page.type('Keep me')
    page.key(area(), 'Enter')
    await page.until(() => page.document.querySelector('.composer-failure'))
    assert.match(page.document.querySelector('.composer-failure')!.textContent!, /There is no session\./)
    assert.equal(area().value, 'Keep me')
  })

  it('sends what was written while the agent starts once it is ready', async () => {
    await show([], { phase: 'starting', progress: 'Starting…' })
    await page.until(() => area())
    page.type('Early')
    page.key(area(), 'Enter')
    await page.until(() => page.document.querySelector('.composer.sending'))
    assert.equal(sent.length, 0)
    await patch({ op: 'head', head: { phase: 'ready' }, cleared: ['progress'] })
    await page.until(() => sent.length === 1)
    assert.equal(sent[0]!.text, 'Early')
  })

  it('saves the draft, and brings it back after a reload', async () => {
    await show([])
    await page.until(() => area())
    page.type('Half a tho')
    await page.until(() => drafts.length > 0)
    assert.deepEqual(drafts.at(-1), { key: 'k1', text: 'Half a tho' })
    page.type('Half a thought')
    page.window.dispatchEvent(new page.window.Event('pagehide'))
    await page.until(() => drafts.at(-1)?.text === 'Half a thought')
    const block = { type: 'text' as const, text: 'x' }
    await page.host.sendNotification(bridge.Attach, { id: '1', label: 'a.ts:1', icon: 'file', block })
    await page.until(() => page.document.querySelector('.composer .chip'))
    const { state } = page.kept
    page.close()
    await open({ state })
    await show([], {}, 'Half a thought')
    await page.until(() => area()?.value === 'Half a thought')
    assert.equal(page.document.querySelector('.composer .chip-label')?.textContent, 'a.ts:1')
  })

  it('shows the draft of the conversation it is shown', async () => {
    await show([], {}, 'First')
    await page.until(() => area()?.value === 'First')
    await show([], { key: 'k2' }, 'Second')
    await page.until(() => area()?.value === 'Second')
  })

  it('attaches context as chips and sends it with the prompt', async () => {
    await show([])
    await page.until(() => area())
    const block = { type: 'resource' as const, uri: 'file:///a.ts#L1', text: 'x' }
    await page.host.sendNotification(bridge.Attach, { id: '1', label: 'a.ts:1', icon: 'file', block })
    await page.host.sendNotification(bridge.Attach, { id: '2', label: 'b.ts', icon: 'file', block })
    await page.until(() => page.document.querySelectorAll('.composer .chip').length === 2)
    page.document.querySelector<HTMLElement>('.composer [aria-label="Remove b.ts"]')!.click()
    await page.until(() => page.document.querySelectorAll('.composer .chip').length === 1)
    page.key(area(), 'Enter')
    await page.until(() => sent.length === 1)
    assert.deepEqual(sent[0], { key: 'k1', text: '', attachments: [block] })
    await page.until(() => page.document.querySelectorAll('.composer .chip').length === 0)
  })

  it('answers permissions by press, by digit and by Enter, the oldest first', async () => {
    const options = [
      { optionId: 'no', name: 'Reject', kind: 'reject_once' as const },
      { optionId: 'yes', name: 'Allow once', kind: 'allow_once' as const },
    ]
    await show([permission('1', { options }), permission('2', { options }), permission('3', { options })])
    await page.until(() => page.document.querySelectorAll('.permission').length === 3)
    const answered = async (index: number, optionId: string) => {
      await page.until(() => answers.length === index)
      assert.deepEqual({ ...answers.at(-1) }, { key: 'k1', requestId: `request-${index}`, optionId })
      const entry = permission(`${index}`, { options, outcome: { type: 'selected', optionId } })
      await patch({ op: 'entry', index: index - 1, entry })
      await page.until(() => page.document.querySelectorAll('.permission').length === 3 - index)
    }
    page.key(page.document.body, '1')
    await answered(1, 'no')
    page.key(page.document.body, 'Enter')
    await answered(2, 'yes')
    page.document.querySelector<HTMLElement>('[data-option="1"]')!.click()
    await answered(3, 'no')
    assert.match(text(), /Reject/)
    assert.match(text(), /Allow once/)
  })

  it('never takes a digit that belongs to the composer for an answer', async () => {
    await show([permission('1')])
    await page.until(() => page.document.querySelector('.permission'))
    area().focus()
    page.key(area(), '1')
    page.key(area(), '1', { ctrlKey: true })
    page.key(page.document.body, '1', { altKey: true })
    page.key(page.document.body, 'x')
    await page.until(() => area().value === 'x')
    assert.deepEqual(answers, [])
  })

  it('stops the turn with Escape, but closes the list of commands first', async () => {
    const commands = [{ name: 'review', description: 'Look', hint: 'branch' }]
    await show([message('u', 'user', 'Go')], { activity: 'running', commands })
    await page.until(() => area())
    page.type('/')
    await page.until(() => page.document.querySelector('.completion'))
    page.key(area(), 'Escape')
    await page.until(() => !page.document.querySelector('.completion'))
    assert.equal(cancels.length, 0)
    page.key(area(), 'Escape')
    await page.until(() => cancels.length === 1)
    page.type('')
    page.type('/re')
    await page.until(() => page.document.querySelector('.completion'))
    page.key(area(), 'Enter')
    await page.until(() => area().value === '/review ')
    assert.equal(sent.length, 0)
    await page.until(() => page.document.querySelector('.composer-hint')?.textContent === 'branch')
  })

  it('recalls earlier prompts with the arrow keys', async () => {
    await show([message('u1', 'user', 'One'), message('a', 'agent', 'Ok'), message('u2', 'user', 'Two')])
    await page.until(() => area())
    page.key(area(), 'ArrowUp')
    await page.until(() => area().value === 'Two')
    page.key(area(), 'ArrowUp')
    await page.until(() => area().value === 'One')
    page.key(area(), 'ArrowDown')
    await page.until(() => area().value === 'Two')
    page.key(area(), 'ArrowDown')
    await page.until(() => area().value === '')
  })

  it('opens links and files in the editor, and copies code', async () => {
    await show([
      message('a', 'agent', 'At `src/a.ts:12` and [there](https://a.b/c).\n\n```js\nlet a = 1\n```'),
    ])
    await page.until(() => page.document.querySelector('.code-block'))
    for (const link of page.document.querySelectorAll<HTMLElement>('.prose a')) link.click()
    page.document.querySelector<HTMLElement>('[data-action=copy-code]')!.click()
    await page.until(() => copies.length === 1)
    assert.deepEqual(files, [{ path: 'src/a.ts', line: 12 }])
    assert.deepEqual(links, ['https://a.b/c'])
    assert.deepEqual(copies, ['let a = 1'])
  })

  it('opens a tool call to its diff, its output and what went over the wire', async () => {
    const entry = toolCall('t', {
      title: 'Edit /p/src/a.ts',
      toolKind: 'edit',
      content: [
        {
          type: 'diff',
          changes: [{ operation: 'modify', path: '/p/src/a.ts', oldText: 'a\n', newText: 'b\nc\n' }],
        },
        { type: 'terminal', terminalId: 'never told of' },
      ],
      locations: [{ path: '/p/src/a.ts', line: 3 }],
      rawInput: { secret: 'shape' },
    })
    await show([entry], { roots: { cwd: '/p', cwdLabel: 'p', additional: [], unseen: [], scratch: false } })
    await page.until(() => page.document.querySelector('.work'))
    assert.match(text(), /Edit src\/a\.ts\+2−1/)
    page.document.querySelector<HTMLElement>('.work .line')!.click()
    await page.until(() => page.document.querySelector('.diff-added'))
    assert.equal(page.document.querySelector('.diff-added')!.textContent, '+ b\n+ c')
    assert.equal(page.document.querySelector('.diff-removed')!.textContent, '- a')
    assert.ok(!text().includes('shape'), 'raw input only when asked for')
    page.document.querySelector<HTMLElement>('.work .chip')!.click()
    await page.until(() => files.length === 1)
    assert.deepEqual(files[0], { path: '/p/src/a.ts', line: 3 })
  })

  it('says everything in the language of the page', async () => {
    page.close()
    await open({ l10n: { 'Allow this?': 'Erlauben?', 'Waiting for you': 'Wartet auf dich' } })
    await show([permission('1', { title: '' })], { activity: 'requires_action' })
    await page.until(() => text().includes('Erlauben?'))
    assert.match(text(), /Wartet auf dich/)
  })

  it('shows what it does not know, whole', async () => {
    await show([
      { kind: 'unknown', id: 'x', turn: 1, updateKind: 'hologram', raw: { depth: 3 } },
      {
        kind: 'message',
        id: 'm',
        turn: 1,
        role: 'agent',
        blocks: [{ type: 'unknown', kind: 'video', raw: { url: 'v' } }],
      },
      toolCall('t', { toolKind: 'teleport', status: 'sideways' }),
    ])
    await page.until(() => text().includes('hologram'))
    page.document.querySelector<HTMLElement>('.row-unknown .line')!.click()
    await page.until(() => text().includes('"depth": 3'))
    assert.match(text(), /Content of an unknown kind: video/)
    assert.match(text(), /sideways/)
  })
})

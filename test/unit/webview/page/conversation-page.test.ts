import assert from 'node:assert/strict'
import type * as bridge from '../../../../src/bridge/conversation.ts'
import type { Draft } from '../../../../src/common/draft.ts'
import { promptOf } from '../../../../src/conversation/attachment.ts'
import type { Entry, ToolCallEntry } from '../../../../src/conversation/state.ts'
import { head, message, permission, toolCall } from '../conversation/entries.ts'
import { PendingRequestAdder } from '../conversation/pending.ts'
import { openPage, type Page } from './page.ts'

const written = (text: string): Draft<never> => ({ text, chips: [], items: [] })

describe('conversation page', () => {
  let page: Page
  let revision = 0
  const ready: boolean[] = []
  const sent: Array<{ key: string; parts: bridge.PromptPart[] }> = []
  const answers: Array<{ requestId: string; optionId?: string }> = []
  const drafts: Array<{ key: string; text: string }> = []
  const items: bridge.Attachment[][] = []
  const cancels: string[] = []
  const files: Array<{ path: string; line?: number }> = []
  const links: string[] = []
  const copies: string[] = []
  let refuse = false
  /** responses to prompts wait until this resolves */
  let held: Promise<void> | undefined

  const open = async (options?: Parameters<typeof openPage>[1]) => {
    page = await openPage('conversation', options)
    for (const list of [ready, sent, answers, drafts, items, cancels, files, links, copies]) list.length = 0
    refuse = false
    held = undefined
    page.hear('conversation/ready', ({ isShown }) => void ready.push(isShown))
    page.hear('conversation/enqueue', async ({ key, draft }) => {
      if (refuse) throw new Error('There is no session.')
      sent.push({ key, parts: promptOf(draft) })
      await held
    })
    page.hear('conversation/permission', answer => void answers.push(answer))
    page.hear('conversation/draft', ({ key, text }) => void drafts.push({ key, text }))
    page.hear('conversation/movedToComposer', ({ key, draft }) => void drafts.push({ key, text: draft.text }))
    page.hear('conversation/draftItems', draft => void items.push(draft.items))
    page.hear('conversation/cancel', ({ key }) => void cancels.push(key))
    page.hear('conversation/file', file => void files.push(file))
    page.hear('conversation/link', ({ href }) => void links.push(href))
    page.hear('conversation/copy', ({ text }) => void copies.push(text))
    await page.until(() => ready.length === 1)
  }
  const snapshotOf = (
    entries: Entry[],
    more: Partial<bridge.ConversationHead> = {},
    draft: Draft<bridge.Attachment> = written(''),
  ): bridge.ConversationSnapshot => ({
    revision: ++revision,
    head: head(more),
    entries,
    first: 0,
    total: entries.length,
    terminals: [],
    draft,
  })
  const show = (...parts: Parameters<typeof snapshotOf>) =>
    page.send('conversation/snapshot', snapshotOf(...parts))
  const patch = (...ops: bridge.PatchOp[]) => page.send('conversation/patch', { revision: ++revision, ops })
  const text = () => page.document.querySelector('.transcript')?.textContent ?? ''
  const area = () => page.document.querySelector<HTMLElement>('.composer [role="textbox"]')!

  beforeEach(() => open())
  afterEach(() => page.close())

  it("draws the other entries if one can't be drawn", async () => {
    const broken = { ...permission('p'), options: null } as unknown as Entry
    await show([message('a', 'agent', 'Before'), broken, message('b', 'agent', 'After')])
    await page.until(() => text().includes('Before') && text().includes('After'))
    await page.until(() => text().includes("This entry can't be displayed"))
    await patch({ op: 'text', id: 'b', block: 0, text: ', and more' })
    await page.until(() => text().includes('After, and more'))
  })

  it('shows updates that arrived while it was loading, without requesting a snapshot', async () => {
    assert.deepEqual(ready, [false], 'nothing came')
    page.close()
    const params = new PendingRequestAdder().snapshot(
      snapshotOf([message('a', 'agent', 'Kept for the page')]),
    )
    await open({
      prepare(window) {
        const data = { jsonrpc: '2.0', method: 'conversation/snapshot', params }
        Object.assign(window, { earlyMessages: [new window.MessageEvent('message', { data })] })
      },
    })
    assert.ok(text().includes('Kept for the page'))
    assert.deepEqual(ready, [true])
    await patch({ op: 'text', id: 'a', block: 0, text: ', and more' })
    await page.until(() => text().includes('Kept for the page, and more'))
  })

  it('streams a message, and requests a snapshot after a gap', async () => {
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
    assert.equal(ready[1], false)
    assert.ok(!text().includes('Lost.'))
  })

  it('updates the counts of a folded run', async () => {
    const read = (id: string, status: ToolCallEntry['status'] = 'completed') =>
      toolCall(id, { toolKind: 'read', status, title: `Read ${id}` })
    await show([read('a'), read('b')])
    await page.until(() => text().includes('Read 2 files'))
    await patch({ op: 'entry', index: 2, entry: read('c', 'in_progress') })
    await page.until(() => text().includes('Read 3 files') && text().includes('Read c'))
    await patch({ op: 'entry', index: 2, entry: read('c', 'failed') })
    await page.until(() => text().includes('1 failed') && !text().includes('Read c'))
    await patch({ op: 'entry', index: 0, entry: toolCall('a', { toolKind: 'search' }) })
    await page.until(() => text().includes('Searched once, read 2 files'))
  })

  it('collapses a turn to its prompts, how it ended and its line, until the turn goes on', async () => {
    const turnSummary = { took: 61_000, tools: 7, failed: 1, cost: { amount: 0.12, currency: 'USD' } }
    const end = { kind: 'turn_end', id: 'e', turn: 1, stopReason: 'max_tokens', turnSummary } satisfies Entry
    const next = { ...message('v', 'user', 'And then?'), turn: 2 }
    await show([message('u', 'user', 'Go'), toolCall('a'), message('m', 'agent', 'Done.'), end, next])
    await page.until(() => text().includes('1 min 1 s · 7 tools · 1 failed · $0.12'))
    const button = () => page.document.querySelector<HTMLElement>('.turn-facts')!
    assert.equal(button().getAttribute('aria-expanded'), 'true')
    button().focus()
    button().dispatchEvent(new page.window.KeyboardEvent('keydown', { key: 'ArrowLeft', bubbles: true }))
    await page.until(() => !text().includes('Done.') && !text().includes('Tool a'))
    assert.match(text(), /Go.*token limit.*7 tools.*And then\?/)
    assert.equal(button().getAttribute('aria-expanded'), 'false')
    assert.equal(page.document.activeElement, button())
    button().click()
    await page.until(() => text().includes('Done.'))
    button().click()
    await page.until(() => !text().includes('Done.'))
    const { turnSummary: _, ...goesOn } = end
    await patch({ op: 'entry', index: 3, entry: goesOn })
    await page.until(() => text().includes('Done.') && !page.document.querySelector('.turn-facts'))
  })

  it('runs no code that an agent wrote', async () => {
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

  it('opens every link that looks like one', async () => {
    const opened = [
      'https://a.b/c',
      'a.ts:12',
      'a.ts:12:3',
      'Makefile:3',
      'b/a2.ts:1-2',
      'file:///a.ts',
      'C:/a.ts#L3',
    ]
    const others = ['command:workbench.action.quit', 'vscode://a/b', 'mailto:a@b.c', 'javascript:1', 'data:1']
    const shown = [...opened, ...others]
    await show([message('a', 'agent', shown.map((href, at) => `[link ${at}](${href})`).join('\n\n'))])
    await page.until(() => page.document.querySelectorAll('.prose').length === shown.length)
    for (const link of page.document.querySelectorAll<HTMLElement>('.prose a')) link.click()
    await page.until(() => links.length >= opened.length)
    assert.deepEqual(links, opened)
    assert.equal(page.document.querySelectorAll('.prose a').length, opened.length)
    for (const href of others) assert.ok(text().includes(`](${href})`), href)
  })

  it('sends with Enter, but not with Shift+Enter or during IME input', async () => {
    await show([])
    await page.until(() => area())
    page.type('Hello')
    page.key(area(), 'Enter', { shiftKey: true })
    page.key(area(), 'Enter', { isComposing: true })
    page.key(area(), 'Enter', { keyCode: 229 })
    page.key(area(), 'Enter')
    await page.until(() => sent.length === 1)
    assert.deepEqual(sent, [{ key: 'k1', parts: [{ type: 'text', text: 'Hello' }] }])
    await page.until(() => page.written === '')
    page.type('   ')
    page.key(area(), 'Enter')
    page.type('Again')
    page.key(area(), 'Enter')
    await page.until(() => sent.length === 2)
    assert.deepEqual(sent[1]!.parts, [{ type: 'text', text: 'Again' }])
  })

  it('keeps a refused prompt and shows the reason', async () => {
    await show([])
    await page.until(() => area())
    refuse = true
    page.type('Keep me')
    page.key(area(), 'Enter')
    await page.until(() => page.document.querySelector('.composer-note.error'))
    assert.match(page.document.querySelector('.composer-note.error')!.textContent!, /There is no session\./)
    assert.equal(page.written, 'Keep me')
  })

  it('sends immediately, shows outgoing prompts, and accepts keys meanwhile', async () => {
    await show([], { phase: 'starting', progress: 'Starting…' })
    await page.until(() => area())
    let take = () => {}
    held = new Promise(resolve => {
      take = resolve
    })
    page.type('Early')
    page.key(area(), 'Enter')
    // immediately, so that text typed next isn't added to what was sent
    assert.equal(page.written, '')
    page.type('And more')
    await page.until(() => page.document.querySelector('.outgoing')?.textContent?.includes('Early'))
    page.key(area(), 'Enter')
    page.type('Typed on')
    await page.until(() => sent.length === 2)
    assert.equal(page.document.querySelectorAll('.outgoing').length, 2)
    assert.deepEqual(
      sent.map(one => one.parts),
      [[{ type: 'text', text: 'Early' }], [{ type: 'text', text: 'And more' }]],
    )
    take()
    await page.until(() => !page.document.querySelector('.outgoing'))
    assert.equal(page.written, 'Typed on')
  })

  it('inserts a refused prompt with its chips in front of newer text, without moving the cursor', async () => {
    await show([])
    await page.until(() => area())
    await page.send('conversation/attach', {
      id: '1',
      label: 'a.ts:1',
      icon: 'file',
      content: { type: 'text', text: 'x' },
    })
    await page.until(() => page.document.querySelector('.composer .chip'))
    let refuseNow = (_: Error) => {}
    held = new Promise((_, reject) => {
      refuseNow = reject
    })
    page.type('First')
    page.key(area(), 'Enter')
    await page.until(() => sent.length === 1 && !page.document.querySelector('.composer .chip'))
    page.type('Second')
    refuseNow(new Error('No images, please.'))
    await page.until(() => page.written === 'First\n\nSecond')
    await page.until(() => page.document.querySelector('.composer .chip'))
    await page.until(() =>
      page.document.querySelector('.composer-note.error')?.textContent?.includes('No images'),
    )
    await page.until(() => drafts.at(-1)?.text === 'First\n\nSecond')
    // Undo removes only what was typed
    page.key(area(), 'z', { ctrlKey: true, keyCode: 90 })
    await page.until(() => page.written.startsWith('First\n\n'))
  })

  it('keeps a draft after a reload', async () => {
    await show([])
    await page.until(() => area())
    page.type('Half a tho')
    await page.until(() => drafts.length > 0)
    assert.deepEqual(drafts.at(-1), { key: 'k1', text: 'Half a tho' })
    page.type('Half a thought')
    page.window.dispatchEvent(new page.window.Event('pagehide'))
    await page.until(() => drafts.at(-1)?.text === 'Half a thought')
    const block = { type: 'text' as const, text: 'x' }
    await page.send('conversation/attach', {
      id: '1',
      label: 'a.ts:1',
      icon: 'file',
      content: block,
    })
    await page.until(() => page.document.querySelector('.composer .chip'))
    await page.until(() => items.length > 0)
    const { state } = page.kept
    const saved = { text: 'Half a thought', chips: [], items: items.at(-1)! }
    page.close()
    await open({ state })
    await show([], {}, saved)
    await page.until(() => page.written === 'Half a thought')
    assert.equal(page.document.querySelector('.composer .chip-label')?.textContent, 'a.ts:1')
  })

  it('shows the draft of the displayed conversation', async () => {
    await show([], {}, written('First'))
    await page.until(() => page.written === 'First')
    await show([], { key: 'k2' }, written('Second'))
    await page.until(() => page.written === 'Second')
  })

  it('attaches context as chips and sends it with the prompt', async () => {
    await show([])
    await page.until(() => area())
    const block = { type: 'resource' as const, uri: 'file:///a.ts#L1', text: 'x' }
    await page.send('conversation/attach', {
      id: '1',
      label: 'a.ts:1',
      icon: 'file',
      content: block,
    })
    await page.send('conversation/attach', {
      id: '2',
      label: 'b.ts',
      icon: 'file',
      content: block,
    })
    await page.until(() => page.document.querySelectorAll('.composer .chip').length === 2)
    page.document.querySelector<HTMLElement>('.composer [aria-label="Remove b.ts"]')!.click()
    await page.until(() => page.document.querySelectorAll('.composer .chip').length === 1)
    page.key(area(), 'Enter')
    await page.until(() => sent.length === 1)
    assert.deepEqual(sent[0], { key: 'k1', parts: [block] })
    await page.until(() => page.document.querySelectorAll('.composer .chip').length === 0)
  })

  it('answers permission requests by click, digit and Enter, oldest first', async () => {
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
    assert.match(text(), /Rejected/)
    assert.match(text(), /Allowed once/)
  })

  it('sends the clicked answer once, even while rows are added, changed and moved', async () => {
    const options = [{ optionId: 'yes', name: 'Allow', kind: 'allow_once' as const }]
    const asked = permission('1', { options, toolCallId: 'call-t' })
    const tool = (more: Partial<ToolCallEntry> = {}) => toolCall('t', { title: 'Write', ...more })
    await show([message('u', 'user', 'Go'), tool(), asked], { activity: 'requires_action' })
    const button = () => page.document.querySelector<HTMLElement>('[data-option="1"]')
    await page.until(button)
    const pressed = button()!
    pressed.dispatchEvent(new page.window.MouseEvent('mousedown', { bubbles: true }))
    await patch({ op: 'entry', index: 1, entry: tool({ title: 'Write it', status: 'in_progress' }) })
    await page.until(() => text().includes('Write it'))
    await patch({ op: 'entry', index: 2, entry: permission('1', { options, toolCallId: 'call-t' }) })
    await patch({ op: 'entry', index: 3, entry: permission('2', { options }) })
    await page.until(() => page.document.querySelectorAll('.permission').length === 2)
    await patch({ op: 'entry', index: 4, entry: message('m', 'agent', 'Meanwhile') })
    await page.until(() => text().includes('Meanwhile'))
    for (const shown of ['history', 'conversation'] as const) {
      await page.send('view/page', { page: shown, focus: false })
      const conversation = page.document.querySelector<HTMLElement>('main.conversation')!
      await page.until(() => conversation.inert === (shown === 'history'))
    }
    await show([message('u', 'user', 'Go'), message('m', 'agent', 'Before it'), tool(), asked], {
      activity: 'requires_action',
    })
    await page.until(() => text().includes('Before it'))
    // a browser sends no click if the pressed element was replaced
    assert.equal(button(), pressed)
    pressed.click()
    await page.until(() => answers.length > 0)
    assert.deepEqual(
      answers.map(({ requestId, optionId }) => [requestId, optionId]),
      [['request-1', 'yes']],
    )
  })

  it('draws a conversation opened from History at the moment at which History goes', async () => {
    await show([message('a', 'agent', 'Before')])
    const conversation = page.document.querySelector<HTMLElement>('main.conversation')!
    await page.send('view/page', { page: 'history', focus: false })
    await page.until(() => conversation.inert && conversation.nextElementSibling)
    const states = new Set<string>()
    const observer = new page.window.MutationObserver(() => {
      const isHistory = conversation.nextElementSibling !== null
      states.add([text().includes('Opened') ? 'opened' : 'before', conversation.inert, isHistory].join(' '))
    })
    observer.observe(page.document.body, { subtree: true, childList: true, attributes: true })
    const opened = snapshotOf([message('b', 'agent', 'Opened')], { key: 'another' })
    await page.send('conversation/snapshot', { ...opened, leavesHistory: true })
    await page.until(() => text().includes('Opened') && !conversation.inert)
    observer.disconnect()
    assert.deepEqual([...states], ['opened false false'])
  })

  it('sends the clicked answer even if the button moves', async () => {
    const options = [
      { optionId: 'yes', name: 'Allow', kind: 'allow_once' as const },
      { optionId: 'no', name: 'Reject', kind: 'reject_once' as const },
    ]
    await show([toolCall('t'), permission('1', { options, toolCallId: 'call-t' })])
    const button = (name: string) =>
      [...page.document.querySelectorAll<HTMLElement>('[data-option]')].find(({ title }) =>
        title.startsWith(name),
      )
    await page.until(() => button('Allow'))
    // all buttons are added at once, since a later one would move the others
    assert.ok(page.document.querySelector('.permission .permission-more'))
    const pointer = (type: string, on: Element, clientX: number, more: MouseEventInit = {}) => {
      const event = new page.window.MouseEvent(type, { bubbles: true, clientX, clientY: 50, ...more })
      on.dispatchEvent(Object.assign(event, { pointerId: 1 }))
    }
    const press = (from: number, to: number, on: Element, more?: MouseEventInit) => {
      pointer('pointerdown', button('Allow')!, from, more)
      pointer('pointerup', on, to, more)
    }
    const below = button('Reject')!
    // other places, other mouse buttons, and clicks that the browser generates
    press(100, 140, below)
    press(100, 100, below, { button: 2 })
    press(100, 100, button('Allow')!)
    pointer('pointerdown', button('Allow')!, 100)
    pointer('pointercancel', below, 100)
    pointer('pointerup', below, 100)
    press(100, 102, below)
    await page.until(() => answers.length > 0)
    await patch({ op: 'entry', index: 2, entry: message('m', 'agent', 'Meanwhile') })
    await page.until(() => text().includes('Meanwhile'))
    assert.deepEqual(
      answers.map(({ optionId }) => optionId),
      ['yes'],
    )
  })

  it('answers permission requests with Ctrl+Enter and Ctrl+Backspace only if they have the focus', async () => {
    const options = [
      { optionId: 'always', name: 'Always', kind: 'allow_always' as const },
      { optionId: 'yes', name: 'Allow', kind: 'allow_once' as const },
      { optionId: 'never', name: 'Never', kind: 'reject_always' as const },
      { optionId: 'no', name: 'Reject', kind: 'reject_once' as const },
    ]
    await show([permission('1', { options })])
    const box = () => page.document.querySelector<HTMLElement>('.permission')
    await page.until(box)
    const button = (name: string) =>
      [...box()!.querySelectorAll<HTMLElement>('[data-option]')].find(({ title }) => title.startsWith(name))!
    assert.equal(button('Allow').title, 'Allow\nCtrl+Enter')
    assert.equal(button('Reject').title, 'Reject\nCtrl+Backspace')
    for (const elsewhere of [page.document.body, area()]) {
      page.key(elsewhere, 'Enter', { ctrlKey: true })
      page.key(elsewhere, 'Backspace', { ctrlKey: true })
    }
    // the keys don't apply to a focused button
    page.key(button('Always'), 'Backspace', { ctrlKey: true })
    page.key(box()!, 'Enter', { metaKey: true })
    await page.until(() => answers.length === 2)
    assert.deepEqual(
      answers.map(({ optionId }) => optionId),
      ['no', 'yes'],
    )
  })

  for (const isOpen of [true, false])
    it(`moves the reason of a rejection to the composer if the request is answered in another way, with the popup ${isOpen ? 'open' : 'closed'}`, async () => {
      const options = [
        { optionId: 'yes', name: 'Allow', kind: 'allow_once' as const },
        { optionId: 'no', name: 'Reject', kind: 'reject_once' as const },
      ]
      await show([permission('1', { options })])
      await page.until(() => page.document.querySelector('.permission-more'))
      page.document.querySelector<HTMLElement>('.permission-more')!.click()
      await page.until(() => page.document.activeElement?.matches('.reject-reason'))
      const reason = page.document.querySelector<HTMLTextAreaElement>('.reject-reason')!
      const text = isOpen ? 'Use tabs' : 'Use spaces'
      reason.value = text
      reason.dispatchEvent(new page.window.Event('input', { bubbles: true }))
      // the user looks something up in an editor
      if (!isOpen) page.window.dispatchEvent(new page.window.Event('blur'))
      await page.until(() => isOpen || !page.document.querySelector('.permission-popup'))
      // what a component does when it's gone follows the next frame
      await new Promise(resolve => page.window.requestAnimationFrame(() => page.window.setTimeout(resolve)))
      const outcome = { type: 'selected', optionId: 'yes' } as const
      await patch({ op: 'entry', index: 0, entry: permission('1', { options, outcome }) })
      await page.until(() => area().textContent?.includes(text))
      assert.equal(answers.length, 0)
      assert.equal(page.document.querySelector('.permission-popup'), null)
    })

  it('describes the effect of an option whose name says something else, and hides nothing', async () => {
    const options = [
      { optionId: 'a', name: 'Reject', kind: 'allow_always' as const },
      { optionId: 'b', name: '', kind: 'allow_once' as const },
      { optionId: 'c', name: 'Re\u202eject', kind: 'reject_once' as const },
    ]
    const tool = toolCall('t', { toolKind: 'execute', title: 'ls \u202e# safe', status: 'pending' })
    await show([tool, permission('1', { options, title: 'Really\u2066?', toolCallId: 'call-t' })])
    const box = () => page.document.querySelector('.permission')
    await page.until(box)
    const labels = [...box()!.querySelectorAll('[data-option]')].map(button => button.textContent)
    const reason = '4Reject with Reason…'
    assert.deepEqual(labels, ['1RejectAlways allow', '2Allow once', '3Re‹U+202E›jectReject', reason])
    assert.match(box()!.textContent!, /Really‹U\+2066›\?/)
    assert.match(box()!.textContent!, /ls ‹U\+202E›# safe/)
    assert.doesNotMatch(page.document.body.textContent!, /[\u202e\u2066]/)
  })

  it('asks about the tool or the file instead of repeating the input or a path', async () => {
    const options = [{ optionId: 'a', name: 'Allow', kind: 'allow_once' as const }]
    const ask = async (tool: Partial<ToolCallEntry>, title: string) => {
      await show([toolCall('t', tool), permission('1', { options, title, toolCallId: 'call-t' })])
      const question = () => page.document.querySelector('.permission .card-title')?.textContent
      const about = () => page.document.querySelector('.permission-tool')?.textContent
      await page.until(question)
      return [question(), about()]
    }
    const json = '{"message":"ping"}'
    const mcp = { title: json, toolName: 'echo', toolKind: 'read', rawInput: { message: 'ping' } }
    assert.deepEqual(await ask(mcp, json), ['Allow using echo?', undefined])
    const read = { title: 'read', toolKind: 'read', rawInput: { path: '/w/src/a.ts' } }
    assert.deepEqual(await ask(read, 'read'), ['Allow reading this?', 'read /w/src/a.ts'])
    const changes = [{ operation: 'modify' as const, path: '/w/src/a.ts', oldText: 'a', newText: 'b' }]
    const edit = { title: 'edit', toolKind: 'edit', content: [{ type: 'diff' as const, changes }] }
    assert.deepEqual(await ask(edit, '/w/src/a.ts'), ['Allow this edit?', undefined])
    assert.deepEqual(await ask(edit, '/w/a.ts'), ['Allow this edit?', undefined])
    assert.deepEqual(await ask(edit, 'Change /w/src/a.ts?'), ['Change /w/src/a.ts?', undefined])
    await show([
      toolCall('t', edit),
      permission('1', { options, refusal: 'The rule doesn\u2019t allow it.' }),
    ])
    await page.until(() =>
      page.document.querySelector('.permission')?.textContent?.includes('The rule doesn’t'),
    )
  })

  it('shows what the user rejected as rejected, not as failed or canceled', async () => {
    const options = [{ optionId: 'no', name: 'No', kind: 'reject_once' as const }]
    const asked = (outcome: { type: 'selected'; optionId: string } | { type: 'cancelled' }, id: string) => [
      toolCall(id, { title: `Edit ${id}`, status: 'failed', toolKind: 'edit' }),
      permission(`p${id}`, { options, outcome, toolCallId: `call-${id}` }),
    ]
    await show([
      ...asked({ type: 'selected', optionId: 'no' }, 'a'),
      ...asked({ type: 'cancelled' }, 'b'),
      toolCall('c', { title: 'Edit c', status: 'failed', toolKind: 'edit' }),
      toolCall('d', { title: 'Edit d', status: 'cancelled', toolKind: 'edit' }),
      permission('pd', { options, outcome: { type: 'selected', optionId: 'no' }, toolCallId: 'call-d' }),
      toolCall('e', { title: 'Edit e', status: 'cancelled', toolKind: 'edit' }),
    ])
    await page.until(() => text().includes('Edit e'))
    const rows = [...page.document.querySelectorAll('.row-tool')].map(row => row.textContent)
    assert.match(rows[0]!, /rejected$/)
    assert.match(rows[1]!, /canceled$/)
    assert.match(rows[2]!, /failed$/)
    assert.match(rows[3]!, /rejected$/)
    assert.match(rows[4]!, /canceled$/)
    assert.equal(page.document.querySelectorAll('.row-tool .failed .codicon').length, 1)
  })

  it('says in the line of a tool call how its permission was answered, also if its entry comes later', async () => {
    const options = [{ optionId: 'yes', name: 'Allow once', kind: 'allow_once' as const }]
    const outcome = { type: 'selected', optionId: 'yes' } as const
    const read = (id: string) => toolCall(id, { title: `Read ${id}`, status: 'completed', toolKind: 'read' })
    const asked = permission('p', { title: 'Read b', options, toolCallId: 'call-b' })
    const lines = () => [...page.document.querySelectorAll('.row .line')].map(row => row.textContent)
    await show([read('a'), read('b')])
    await page.until(() => lines().length === 1)
    await patch({ op: 'entry', index: 2, entry: asked })
    await page.until(() => page.document.querySelector('.permission') !== null)
    assert.deepEqual(lines(), ['Read: Read a', 'Read: Read b'], 'each has its own line')
    await patch({ op: 'entry', index: 2, entry: { ...asked, outcome } })
    await page.until(() => page.document.querySelector('.permission') === null)
    assert.deepEqual(lines(), ['Read: Read a', 'Read: Read ballowed once'])
    page.document.querySelectorAll<HTMLElement>('.row .line')[1]?.click()
    await page.until(() => text().includes('Your answer: Allow once'))
    // another request about the same call, and a call that isn't known
    const again = permission('p2', { options, outcome: { type: 'cancelled' }, toolCallId: 'call-b' })
    const other = permission('p3', { title: 'Else', options, outcome, toolCallId: 'call-x' })
    await patch({ op: 'entry', index: 3, entry: again }, { op: 'entry', index: 4, entry: other })
    await page.until(() => lines().length === 3)
    assert.deepEqual(lines(), ['Read: Read a', 'Read: Read bcanceled', 'Allowed onceElse'])
  })

  it('says once that the user stopped the turn, not for each thing that it canceled', async () => {
    const canceled = { outcome: { type: 'cancelled' } as const, turn: 1 }
    const entries: Entry[] = [
      { ...message('m', 'user', 'Go'), turn: 1 },
      toolCall('a', { title: 'Edit a', status: 'cancelled', toolKind: 'edit', turn: 1 }),
      permission('pa', { ...canceled, toolCallId: 'call-a' }),
      toolCall('b', { title: 'Run b', status: 'failed', toolKind: 'execute', turn: 1 }),
      permission('pb', { ...canceled, toolCallId: 'call-b' }),
      permission('pc', { ...canceled, title: 'Something else' }),
    ]
    const end = (more: { canceledBy?: 'agent' } = {}): Entry => ({
      ...{ kind: 'turn_end', id: 'end', turn: 1, stopReason: 'cancelled', ...more },
    })
    const said = () => text().match(/cancell?ed|stopped/gi)?.length ?? 0
    await show(entries, { activity: 'running', stopping: true })
    await page.until(() => text().includes('Something else'))
    assert.equal(text().match(/cancell?ed/gi), null, 'while it stops')
    await patch(
      { op: 'entry', index: 6, entry: end() },
      { op: 'head', head: { activity: 'idle' }, cleared: ['stopping'] },
    )
    await page.until(() => text().includes('Stopped by you'))
    assert.equal(text().match(/cancell?ed/gi), null)
    assert.equal(page.document.querySelectorAll('.row-tool [aria-label="Stopped"]').length, 2)
    // by the agent
    await show([...entries.slice(0, 5), end({ canceledBy: 'agent' })], { key: 'other' })
    await page.until(() => text().includes('The agent canceled the turn'))
    assert.equal(said(), 3)
  })

  it('shows the target of a link, whatever its text and title', async () => {
    const links =
      '[docs](https://example.com/a "https://bank.example") [https://bank.example/](https://evil.example/x) [in](https://me@evil.example/)'
    await show([message('a', 'agent', links)])
    await page.until(() => page.document.querySelectorAll('.prose a').length === 3)
    const [docs, other, user] = [...page.document.querySelectorAll('.prose a')]
    assert.equal(docs?.getAttribute('title'), 'example.com\nhttps://example.com/a')
    assert.equal(docs?.getAttribute('data-host'), null)
    assert.equal(other?.getAttribute('data-host'), 'evil.example')
    assert.equal(user?.getAttribute('data-host'), 'evil.example')
    assert.match(user?.getAttribute('title') ?? '', /user name/)
  })

  it("shows a request whose entry isn't loaded", async () => {
    await page.send('conversation/snapshot', {
      revision: 1,
      head: head({
        key: 'long',
        activity: 'requires_action',
        pendingRequests: [{ requestId: 'request-old', entryId: 'old', index: 7 }],
      }),
      entries: [message('u1', 'user', 'Four'), message('u2', 'user', 'Five')],
      first: 500,
      total: 502,
      pendingEntries: [{ index: 7, entry: permission('old') }],
      terminals: [],
      draft: { text: '', chips: [], items: [] },
    })
    await page.until(() => text().includes('Five'))
    await page.until(() => text().includes('Waiting'))
    await page.until(() => page.document.querySelector('[role="status"]')?.textContent?.includes('Allow?'))
  })

  it('focuses the option that allows once, at any position, and never one that allows permanently', async () => {
    const always = { optionId: 'always', name: 'Allow for this session', kind: 'allow_always' as const }
    const once = { optionId: 'once', name: 'Allow', kind: 'allow_once' as const }
    page.document.hasFocus = () => true
    await show([permission('1', { options: [always, once] }), permission('2', { options: [always] })])
    const focused = () => page.document.activeElement
    await page.until(() => focused()?.textContent === '2Allow')
    const outcome = { type: 'selected' as const, optionId: 'once' }
    await patch({ op: 'entry', index: 0, entry: permission('1', { options: [always, once], outcome }) })
    await page.until(() => focused()?.getAttribute('data-request') === 'request-2')
    page.key(focused() as HTMLElement, 'Enter')
    assert.equal(answers.length, 0)
    page.key(focused() as HTMLElement, '1')
    await page.until(() => answers.length === 1)
    assert.deepEqual({ ...answers[0] }, { key: 'k1', requestId: 'request-2', optionId: 'always' })
  })

  it('never uses a digit that is typed in the composer as an answer', async () => {
    await show([permission('1')])
    await page.until(() => page.document.querySelector('.permission'))
    area().focus()
    page.key(area(), '1')
    page.key(area(), '1', { ctrlKey: true })
    page.key(page.document.body, '1', { altKey: true })
    page.key(page.document.body, 'x')
    await page.until(() => page.written === 'x')
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
    await page.until(() => page.written === '/review ')
    assert.equal(sent.length, 0)
    await page.until(() => page.document.querySelector('.composer-hint')?.textContent === 'branch')
  })

  it("closes a popup with an early Escape and doesn't stop the turn", async () => {
    await show([message('u', 'user', 'Go')], {
      activity: 'running',
      agent: { agentId: 'some', name: 'Some Agent' },
    })
    await page.until(() => page.document.querySelector('.header-agent'))
    const button = page.document.querySelector<HTMLElement>('.header-agent')!
    const popup = () => page.document.querySelector('.popup')
    button.focus()
    button.click()
    while (!popup()) await Promise.resolve()
    page.key(button, 'Escape')
    await page.until(() => !popup())
    assert.equal(cancels.length, 0)
  })

  it("shows that the agent is being stopped while it doesn't respond", async () => {
    await show([message('u', 'user', 'Go'), message('a', 'agent', 'I go')], { activity: 'running' })
    const word = () => page.document.querySelector('.working-text span')?.textContent
    await page.until(() => word() === 'Writing')
    await show([message('u', 'user', 'Go'), message('a', 'agent', 'I go')], {
      activity: 'running',
      stopping: true,
    })
    await page.until(() => word() === 'Stopping')
  })

  it('shows background tasks between turns', async () => {
    const line = () => page.document.querySelector('.running-count')?.textContent
    await show([message('a', 'agent', 'It runs')], { running: { work: [], others: 2 } })
    await page.until(() => line() === '2 background tasks')
    await show([message('a', 'agent', 'It runs')], { running: { work: [], others: 1 } })
    await page.until(() => line() === '1 background task')
    await show([message('a', 'agent', 'It runs')])
    await page.until(() => line() === undefined)
  })

  it('recalls earlier prompts with arrow keys', async () => {
    await show([message('u1', 'user', 'One'), message('a', 'agent', 'Ok'), message('u2', 'user', 'Two')])
    await page.until(() => area())
    // the first one would edit the last prompt where it is
    page.key(area(), 'ArrowUp')
    page.key(area(), 'ArrowUp')
    await page.until(() => page.written === 'Two')
    page.key(area(), 'ArrowUp')
    await page.until(() => page.written === 'One')
    page.key(area(), 'ArrowDown')
    await page.until(() => page.written === 'Two')
    page.key(area(), 'ArrowDown')
    await page.until(() => page.written === '')
  })

  it("recalls prompts that aren't loaded, and none of other conversations", async () => {
    const asked: number[] = []
    page.hear('composer/prompts', ({ before }) => {
      asked.push(before)
      const text = (words: string) => [{ type: 'text' as const, text: words }]
      return before === 500 ? { prompts: [text('Three'), text('Four')], from: 90 } : { prompts: [], from: 0 }
    })
    await page.send('conversation/snapshot', {
      revision: 1,
      head: head({ key: 'long' }),
      entries: [message('u1', 'user', 'Four'), message('u2', 'user', 'Five')],
      first: 500,
      total: 502,
      terminals: [],
      draft: { text: '', chips: [], items: [] },
    })
    await page.until(() => area())
    page.key(area(), 'ArrowUp')
    for (const expected of ['Five', 'Four', 'Three']) {
      page.key(area(), 'ArrowUp')
      await page.until(() => page.written === expected)
    }
    page.key(area(), 'ArrowUp')
    await page.until(() => asked.length === 2)
    assert.deepEqual(asked, [500, 90])
    for (const expected of ['Four', 'Five', '']) {
      page.key(area(), 'ArrowDown')
      await page.until(() => page.written === expected)
    }
    page.key(area(), 'ArrowUp')
    page.key(area(), 'ArrowUp')
    await page.until(() => page.written === 'Five')
    page.type('')
    await show([message('o', 'user', 'Another')], { key: 'other' })
    await page.until(() => page.document.body.textContent?.includes('Another'))
    page.key(area(), 'ArrowUp')
    page.key(area(), 'ArrowUp')
    await page.until(() => page.written === 'Another')
  })

  it('reports changes of the focus, but not every patch', async () => {
    const reported: boolean[] = []
    page.hear('page/focused', ({ focused }) => void reported.push(focused))
    page.document.hasFocus = () => true
    await show([message('a', 'agent', 'One')])
    for (const text of [' two', ' three', ' four']) await patch({ op: 'text', id: 'a', block: 0, text })
    await page.until(() => text().includes('four'))
    page.window.dispatchEvent(new page.window.Event('blur'))
    page.window.dispatchEvent(new page.window.Event('focus'))
    await page.until(() => reported.length >= 2 && reported.at(-1) === true)
    assert.ok(reported.filter(Boolean).length <= 2, String(reported))
  })

  it('treats a message that continues below the view as new', async () => {
    const heights: PropertyDescriptor = { configurable: true, get: () => 5000 }
    Object.defineProperty(page.window.HTMLElement.prototype, 'scrollHeight', heights)
    Object.defineProperty(page.window.HTMLElement.prototype, 'clientHeight', { ...heights, get: () => 500 })
    await show([message('u', 'user', 'Go'), message('a', 'agent', 'One')])
    await page.until(() => page.document.querySelector('.transcript .row'))
    const list = page.document.querySelector('.transcript')!
    list.scrollTop = 100
    list.dispatchEvent(new page.window.Event('scroll'))
    const jump = () => page.document.querySelector('.jump')?.textContent
    await page.until(() => jump() === 'Scroll to Latest Message')
    await patch({ op: 'text', id: 'a', block: 0, text: ' and two' })
    await page.until(() => jump() === '1 new')
    await patch({ op: 'entry', index: 2, entry: message('b', 'agent', 'Three') })
    await page.until(() => jump() === '2 new')
  })

  it('opens links and files in the editor, and copies code', async () => {
    await show([
      message('a', 'agent', 'At `src/a.ts:12` and [there](https://a.b/c).\n\n```js\nlet a = 1\n```'),
    ])
    await page.until(() => page.document.querySelector('.code-block'))
    for (const link of page.document.querySelectorAll<HTMLElement>('.prose a')) link.click()
    page.document.querySelector<HTMLElement>('[data-action=copy-code]')!.click()
    await page.until(() => copies.length === 1)
    assert.deepEqual(links, ['src/a.ts:12', 'https://a.b/c'])
    assert.deepEqual(copies, ['let a = 1'])
  })

  it('expands a tool call to its diff, its output and its raw data', async () => {
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
      locations: [
        { path: '/p/src/a.ts', line: 3 },
        { path: '/p/src/b.ts', line: 5 },
      ],
      rawInput: { secret: 'shape' },
    })
    await show([entry], { roots: { cwd: '/p', cwdLabel: 'p', additional: [], unseen: [], scratch: false } })
    await page.until(() => page.document.querySelector('.work .diff-counts'))
    assert.match(text(), /Edit src\/a\.ts\+2−1/)
    page.document.querySelector<HTMLElement>('.work .line')!.click()
    await page.until(() => page.document.querySelector('.diff-added'))
    const lines = (kind: string) =>
      [...page.document.querySelectorAll<HTMLElement>(`.diff-${kind}`)].map(
        line => `${line.dataset.gutter!.trim()} ${line.textContent}`,
      )
    // the tool call is about line 3, since the texts are only a part of the file
    assert.deepEqual(lines('removed'), ['3 − a'])
    assert.deepEqual(lines('added'), ['3 + b', '4 + c'])
    assert.ok(!text().includes('shape'), 'raw input only when asked for')
    // the file of the diff opens at its first changed line; other files have chips
    page.document.querySelector<HTMLElement>('.work .change-path')!.click()
    for (const chip of page.document.querySelectorAll<HTMLElement>('.work .chip')) chip.click()
    await page.until(() => files.length === 2)
    assert.deepEqual(files, [
      { path: '/p/src/a.ts', line: 3 },
      { path: '/p/src/b.ts', line: 5 },
    ])
  })

  it('numbers the lines of a fragment as in the file, and opens them there', async () => {
    const asked: unknown[] = []
    page.hear('conversation/findFragment', ({ key, ...place }) => {
      asked.push(place)
      return place.change === 0 ? 41 : null
    })
    const change = (path: string) => ({ operation: 'modify', path, oldText: 'a\n', newText: 'b\nc\n' })
    const entry = toolCall('t', {
      title: 'Edit',
      toolKind: 'edit',
      content: [{ type: 'diff', changes: [change('/p/a.ts'), change('/p/b.ts')] }],
    })
    await show([entry])
    await page.until(() => page.document.querySelector('.work .diff-counts'))
    page.document.querySelector<HTMLElement>('.work .line')!.click()
    const gutters = () =>
      [...page.document.querySelectorAll<HTMLElement>('.diff-added')].map(line => line.dataset.gutter!.trim())
    await page.until(() => gutters()[0] === '41 +' && gutters().length === 4)
    assert.deepEqual(gutters(), ['41 +', '42 +', '1 +', '2 +'])
    for (const link of page.document.querySelectorAll<HTMLElement>('.work .change-path')) link.click()
    await page.until(() => files.length === 2)
    assert.deepEqual(files, [
      { path: '/p/a.ts', line: 41 },
      { path: '/p/b.ts', line: 1 },
    ])
    const place = { entryId: 't', content: 0 }
    assert.deepEqual(asked, [
      { ...place, change: 0 },
      { ...place, change: 1 },
    ])
  })

  it('is localized', async () => {
    page.close()
    await open({ l10n: { 'Allow this?': 'Erlauben?', 'Waiting for your answer': 'Wartet auf dich' } })
    await show([permission('1', { title: '' })], { activity: 'requires_action' })
    await page.until(() => text().includes('Erlauben?'))
    assert.match(text(), /Wartet auf dich/)
  })

  it('shows unknown entries completely', async () => {
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
    assert.match(text(), /Unknown content type: video/)
    assert.match(text(), /sideways/)
  })
})

import assert from 'node:assert/strict'
import type * as bridge from '../../../../src/bridge/conversation.ts'
import type { Entry } from '../../../../src/conversation/state.ts'
import { head, message, toolCall } from '../conversation/entries.ts'
import { openPage, type Page } from './page.ts'

describe('conversation page: content', () => {
  let page: Page
  let reported: Array<[string, unknown]>

  beforeEach(async () => {
    page = await openPage('conversation')
    reported = []
    for (const name of [
      'conversation/insertCode',
      'conversation/openText',
      'conversation/applyCode',
      'conversation/openBlob',
      'appearance/setDiff',
      'appearance/theme',
      'conversation/file',
      'conversation/link',
      'conversation/copy',
    ] as const)
      page.hear(name, (params: unknown) => void reported.push([name, params]))
  })
  afterEach(() => page.close())

  const show = (...entries: Entry[]) =>
    page.send('conversation/snapshot', {
      revision: 1,
      head: head({}),
      entries,
      first: 0,
      total: entries.length,
      terminals: [
        { terminalId: 't1', output: 'one\n\u001b[31msrc/a.ts:3:4\u001b[0m failed\n', truncated: false },
      ],
      draft: { text: '', chips: [], items: [] },
    })
  const query = (selector: string) => page.document.querySelector<HTMLElement>(selector)
  const press = async (selector: string) => {
    await page.until(() => query(selector))
    query(selector)!.click()
  }
  const last = async () => {
    await page.until(() => reported.length > 0)
    return reported.shift()
  }

  it('sends the actions of a code block', async () => {
    await show(
      message(
        'a',
        'agent',
        '```ts 3:5:src/a.ts\nconst a = 1\n```\n\n```12:14:src/b.ts\nlet b\n```\n\n```sh\nnpm test\n```',
      ),
    )
    await press('.code-block [data-action="insert-code"]')
    assert.deepEqual(await last(), ['conversation/insertCode', { text: 'const a = 1' }])
    await press('.code-block [data-action="open-code"]')
    assert.deepEqual(await last(), ['conversation/openText', { text: 'const a = 1', language: 'ts' }])
    const blocks = page.document.querySelectorAll<HTMLElement>('.code-block')
    blocks[1]!.querySelector<HTMLElement>('[data-action="apply-code"]')!.click()
    assert.deepEqual(await last(), [
      'conversation/applyCode',
      { text: 'let b', language: 'ts', path: 'src/b.ts', from: 12, to: 14 },
    ])
    assert.equal(blocks[2]!.querySelector('[data-action="apply-code"]'), null, 'commands are not applied')
  })

  it('opens links to files with line and column, including those in output', async () => {
    await show(
      message('a', 'agent', 'See src/x.ts:7:2.'),
      toolCall('t', { toolKind: 'execute', content: [{ type: 'terminal', terminalId: 't1' }] }),
    )
    await press('.prose a.file-link')
    assert.deepEqual(await last(), ['conversation/link', { href: 'src/x.ts:7:2', of: 'text' }])
    await press('.work .line')
    await press('.terminal a')
    assert.deepEqual(await last(), ['conversation/link', { href: 'src/a.ts:3:4', of: 'text' }])
    await press('.terminal-frame .code-bar button:last-child')
    assert.deepEqual(await last(), ['conversation/copy', { text: 'one\nsrc/a.ts:3:4 failed\n' }])
  })

  it("shows a running command's last lines, which collapse when it succeeds and stay when it fails", async () => {
    const watched: string[][] = []
    page.hear('conversation/terminals', ({ ids }) => void watched.push(ids))
    const run = (status: 'in_progress' | 'completed' | 'failed') =>
      toolCall('t', { toolKind: 'execute', status, content: [{ type: 'terminal', terminalId: 't1' }] })
    await show(run('in_progress'))
    await page.until(() => query('.tail')?.textContent === 'onesrc/a.ts:3:4 failed')
    await page.until(() => watched.at(-1)?.join() === 't1')
    await show(run('completed'))
    await page.until(() => !query('.tail'))
    const output = Array.from({ length: 30 }, (_, i) => `line ${i}`).join('\n')
    await show(
      toolCall('u', {
        toolKind: 'execute',
        status: 'failed',
        content: [{ type: 'content', content: { type: 'text', text: `\`\`\`\n${output}\n\`\`\`` } }],
      }),
    )
    await page.until(() => query('.tail')?.textContent?.endsWith('line 29'))
    assert.equal(query('.tail')!.textContent!.split('\n').length, 10)
    // it stays closed if the user closed it
    await press('.work .line')
    await page.until(() => query('.work-body'))
    await press('.work .line')
    await page.until(() => !query('.work-body'))
    assert.equal(query('.tail'), null)
  })

  it("shows a tool's output literally, with links, and its data as JSON", async () => {
    const text = (value: string) => ({ type: 'content', content: { type: 'text', text: value } }) as const
    await show(
      toolCall('a', {
        toolKind: 'search',
        content: [text('\u001b[35msrc/a.ts:3:4\u001b[0m: # __init__ <b>\n\nhttps://example.com/x second\n')],
      }),
      toolCall('b', { toolKind: 'other', content: [text('{"__name__":"*x*"}')] }),
      toolCall('c', { toolKind: 'read', content: [text('```py\nimport os\n```')] }),
      toolCall('d', { toolKind: 'other', content: [text('**Found** one')] }),
      toolCall('e', { toolKind: 'execute', rawOutput: '\u001b[31mred\u001b[0m src/b.ts:5' }),
    )
    await page.until(() => page.document.querySelectorAll('.work').length === 5)
    for (const line of page.document.querySelectorAll<HTMLElement>('.work .line')) line.click()
    await page.until(() => page.document.querySelectorAll('.work-body').length === 5)
    const [found, data, code, prose, raw] = page.document.querySelectorAll<HTMLElement>('.work-body')
    assert.equal(
      found!.querySelector('pre')!.textContent,
      'src/a.ts:3:4: # __init__ <b>\n\nhttps://example.com/x second\n',
    )
    assert.equal(found!.querySelector('a[href^="https:"]')!.textContent, 'https://example.com/x')
    assert.equal(data!.querySelector('pre')!.textContent, '{\n  "__name__": "*x*"\n}')
    assert.equal(code!.querySelector('pre')!.textContent?.trim(), 'import os')
    assert.equal(prose!.querySelector('strong')!.textContent, 'Found')
    assert.equal(raw!.querySelector('pre')!.textContent, 'red src/b.ts:5')
    const wraps = [found, raw].map(one => one!.querySelector('pre')!.classList.contains('wrap'))
    assert.deepEqual(wraps, [false, true], 'a single line wraps')
    found!.querySelector<HTMLElement>('a[data-path]')!.click()
    assert.deepEqual(await last(), ['conversation/link', { href: 'src/a.ts:3:4', of: 'text' }])
  })

  it('requests the rest of expanded tool calls and of long diffs', async () => {
    const wanted: string[][] = []
    page.hear('conversation/toolCalls', ({ ids }) => void wanted.push(ids))
    const cut = (id: string, more: object) => ({ ...toolCall(id, more), cut: true }) as Entry
    const change = { operation: 'modify', path: '/w/a.ts' } as const
    await show(
      cut('t', { content: [{ type: 'content', content: { type: 'text', text: '' } }] }),
      cut('u', { content: [{ type: 'diff', changes: [change] }] }),
    )
    const send = (revision: number, op: bridge.PatchOp) =>
      page.send('conversation/patch', { revision, ops: [op] })
    await page.until(() => wanted.at(-1)?.join() === 'u')
    const changes = [{ ...change, oldText: 'a\nb\n', newText: 'a\nc\nd\n' }]
    await send(2, {
      op: 'tool',
      id: 'u',
      set: {},
      cleared: ['cut' as never],
      content: { keep: 0, add: [{ type: 'diff', changes }] },
    })
    await page.until(() => /2.*1/.test(query('.diff-counts')?.textContent ?? ''))
    await press('.work .line')
    await page.until(() => wanted.at(-1)?.toSorted().join() === 't,u')
    assert.ok(!page.document.body.textContent!.includes('No output'))
    const text = { type: 'content', content: { type: 'text', text: 'All that was read' } } as const
    await send(3, {
      op: 'tool',
      id: 't',
      set: {},
      cleared: ['cut' as never],
      content: { keep: 0, add: [text] },
    })
    await page.until(() => query('.work-body')?.textContent?.includes('All that was read'))
    query('.work .line')!.click()
    await page.until(() => wanted.at(-1)?.join() === 'u')
  })

  it('opens file content, and draws embedded text only when it is expanded', async () => {
    const entry = message('a', 'agent', 'Files:') as Extract<Entry, { kind: 'message' }>
    entry.blocks.push(
      { type: 'resource', uri: 'file:///p/a%20b.zip', mimeType: 'application/zip', blob: 'AAAA' },
      { type: 'resource', uri: 'file:///p/c.json', text: '{"secret": 1}' },
      { type: 'resource_link', uri: 'https://a.b/c', name: 'c', title: 'The page', size: 2048 },
    )
    await show(entry)
    await press('.chip[title="Open a b.zip"]')
    assert.deepEqual(await last(), [
      'conversation/openBlob',
      { name: 'a b.zip', mimeType: 'application/zip', data: 'AAAA' },
    ])
    assert.match(query('.chip[title="Open a b.zip"]')!.textContent!, /application\/zip · 3 B/)
    assert.ok(!page.document.body.textContent!.includes('secret'))
    const fold = query('.resource') as HTMLDetailsElement
    fold.open = true
    await page.until(() => page.document.body.textContent!.includes('secret'))
    const link = [...page.document.querySelectorAll<HTMLElement>('.chip')].at(-1)!
    assert.match(link.textContent!, /^The page$/)
    link.click()
    assert.deepEqual(await last(), ['conversation/link', { href: 'https://a.b/c' }])
  })

  it('shows the icon of a link, when a resource was modified, and important text at once', async () => {
    const entry = message('a', 'agent', 'Files:') as Extract<Entry, { kind: 'message' }>
    const lastModified = Date.UTC(2025, 0, 12, 15, 0, 58)
    const [light, dark] = ['data:image/png;base64,AAAA', 'data:image/png;base64,BBBB'] as const
    entry.blocks.push(
      { type: 'resource_link', uri: 'https://a.b/c', name: 'c', icons: [{ src: light }], lastModified },
      {
        type: 'resource_link',
        uri: 'https://a.b/d',
        name: 'd',
        icons: [{ src: dark, theme: 'dark' }, { src: light }],
      },
      {
        type: 'resource',
        uri: 'file:///p/c.json',
        text: '{"important": 1}',
        isImportant: true,
        lastModified,
      },
    )
    await show(entry)
    await page.until(() => page.document.body.textContent!.includes('"important"'))
    assert.match(query('.resource summary')!.title, /^file:\/\/\/p\/c\.json\nModified: .*January 12, 2025/)
    const chips = [...page.document.querySelectorAll<HTMLElement>('.chip')]
    assert.match(chips[0]!.title, /\nModified: .*January 12, 2025/)
    const sources = chips.map(chip =>
      [...chip.querySelectorAll('img')].map(image => [image.className, image.getAttribute('src')]),
    )
    assert.deepEqual(sources, [
      [
        ['agent-image for-light', light],
        ['agent-image for-dark', light],
      ],
      [
        ['agent-image for-light', light],
        ['agent-image for-dark', dark],
      ],
    ])
    const isShown = (theme: string) => chips[1]!.querySelector(`.for-${theme}`)?.tagName
    chips[1]!.querySelector('img.for-dark')!.dispatchEvent(new page.window.Event('error'))
    await page.until(() => chips[1]!.querySelector('.codicon-globe'))
    assert.deepEqual(
      [isShown('light'), isShown('dark')],
      ['IMG', 'SPAN'],
      'the icon of the other theme stays',
    )
  })

  it('collapses content that is only for the model', async () => {
    const entry = message('a', 'agent', 'Seen.') as Extract<Entry, { kind: 'message' }>
    entry.blocks.push({ type: 'text', text: 'Not *for* people', agentOnly: true })
    await show(entry)
    await page.until(() => query('.row-content .fold'))
    assert.ok(!page.document.body.textContent!.includes('Not for people'))
    ;(query('.row-content .fold') as HTMLDetailsElement).open = true
    await page.until(() => page.document.body.textContent!.includes('Not for people'))
  })

  it('enlarges an image and closes it again', async () => {
    await show(message('a', 'agent', '![A chart](data:image/gif;base64,R0lGODlhAQABAAAAACw=)'))
    page.window.HTMLDialogElement.prototype.showModal = function () {
      this.open = true
    }
    page.window.HTMLDialogElement.prototype.close = function () {
      this.open = false
      this.dispatchEvent(new page.window.Event('close'))
    }
    await press('.prose .picture')
    await page.until(() => query('dialog.enlarged img'))
    assert.equal(query('dialog.enlarged')!.getAttribute('aria-label'), 'A chart')
    query('.enlarged-close')!.click()
    assert.equal(query('dialog'), null)
  })

  it('requests and uses the colors of the current theme', async () => {
    page.document.body.dataset.vscodeThemeId = 'Night Owl'
    assert.deepEqual(await last(), ['appearance/theme', { themeId: 'Night Owl' }])
    const { style } = page.document.documentElement
    await page.send('appearance/tokens', { comment: '#ffffff', string: 'url(x)' })
    await page.until(() => style.getPropertyValue('--parley-token-comment') !== '')
    assert.equal(style.getPropertyValue('--parley-token-comment'), 'rgb(255 255 255)')
    assert.equal(style.getPropertyValue('--parley-token-string'), '')
    page.document.body.dataset.vscodeThemeId = 'Another'
    await last()
    assert.equal(style.getPropertyValue('--parley-token-comment'), '', 'those of the theme before are gone')
  })

  it('shows diffs in the configured layout', async () => {
    const change = { operation: 'modify', path: '/p/a.ts', oldText: 'a\nb\n', newText: 'a\nc\n' }
    await show(toolCall('t', { toolKind: 'edit', content: [{ type: 'diff', changes: [change] }] }))
    await press('.work .line')
    await page.until(() => query('.diff-sides'))
    await press('.change-actions button[aria-pressed="true"]')
    assert.deepEqual(await last(), ['appearance/setDiff', { sideBySide: false }])
    await page.until(() => !query('.diff-sides') && query('.diff-lines'))
    await page.send('appearance/diff', { sideBySide: true })
    await page.until(() => query('.diff-sides'))
  })

  it('renders a large diagram only on request, and again on request in another theme', async () => {
    const links = Array.from({ length: 300 }, (_, i) => `  a${i} --> a${i + 1}`).join('\n')
    await show(message('a', 'agent', `\`\`\`mermaid\ngraph TD\n${links}\n\`\`\``))
    await page.until(() => query('.diagram[data-state="asked"]'))
    assert.match(query('.diagram-note')!.textContent!, /Rendering may take several seconds/)
    assert.match(query('.diagram code')!.textContent!, /a299 --> a300/)
    page.document.body.dataset.vscodeThemeId = 'Another one'
    await page.until(() => query('.diagram[data-state="asked"] [data-action="draw-diagram"]'))
    await press('[data-action="draw-diagram"]')
    // the library isn't available on this page
    await page.until(() => query('.diagram[data-state="failed"]'))
  })

  it("says that a formula or diagram couldn't be rendered, and shows its source", async () => {
    // the libraries aren't available on this page
    await show(message('a', 'agent', 'Let $x^2$ be\n\n```mermaid\ngraph TD\n  A-->B\n```'))
    await page.until(() => query('.math[data-state="failed"]') && query('.diagram[data-state="failed"]'))
    assert.equal(query('.math')!.textContent, '$x^2$')
    assert.match(query('.diagram-note')!.textContent!, /Can't render/)
    assert.match(query('.diagram code')!.textContent!, /A-->B/)
  })
})

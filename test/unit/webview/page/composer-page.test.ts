import assert from 'node:assert/strict'
import fc from 'fast-check'
import type * as bridge from '../../../../src/bridge/conversation.ts'
import type * as composer from '../../../../src/bridge/conversation.ts'
import type { Draft } from '../../../../src/common/draft.ts'
import { promptOf } from '../../../../src/conversation/attachment.ts'
import { scaledRuns } from '../../../support/property-tests.ts'
import { head, message } from '../conversation/entries.ts'
import { openPage, type Page } from './page.ts'

const nothing: Draft<bridge.Attachment> = { text: '', chips: [], items: [] }
const file = (path: string): composer.MentionRow => ({
  group: 'files',
  name: path.slice(path.lastIndexOf('/') + 1),
  matches: [0],
  icon: 'file-code',
  detail: path,
  attaches: { id: path, label: path, icon: 'file-code', content: { type: 'file', uri: `file:///${path}` } },
})

describe('composer page', () => {
  let page: Page
  let revision = 0
  let rows: composer.MentionRow[]
  /** search results wait until this resolves */
  let held: Promise<void> | undefined
  const queries: string[] = []
  const sent: bridge.PromptPart[][] = []
  const drafts: Array<{ text: string; chips: unknown[] }> = []
  const moved: Array<{ id: string; to: number }> = []
  const now: string[] = []
  const stars: string[] = []
  let symbolsHere: composer.MentionRow[]

  beforeEach(async () => {
    page = await openPage('conversation')
    for (const list of [queries, sent, drafts, moved, now, stars]) list.length = 0
    rows = [file('src/a.ts'), file('src/b.ts')]
    symbolsHere = []
    held = undefined
    let ready = false
    page.hear('conversation/ready', () => {
      ready = true
    })
    page.hear('conversation/enqueue', ({ draft }) => void sent.push(promptOf(draft)))
    page.hear('conversation/draft', draft => void drafts.push(draft))
    page.hear('composer/mentions', async ({ query }) => {
      queries.push(query)
      await held
      return rows.filter(row => row.name.startsWith(query))
    })
    page.hear('composer/symbols', ({ query }) =>
      query === '' ? symbolsHere : symbolsHere.filter(({ name }) => name.startsWith(query)),
    )
    page.hear('composer/capture', () => {
      throw new Error('Select text in an editor first.')
    })
    page.hear('composer/moveQueued', ({ id, to }) => void moved.push({ id, to }))
    page.hear('composer/sendNow', ({ id }) => void now.push(id))
    page.hear('options/favorite', ({ value }) => void stars.push(value))
    await page.until(() => ready)
  })
  afterEach(() => page.close())

  const show = async (
    more: Partial<bridge.ConversationHead> = {},
    draft = nothing,
    entries = [] as never[],
  ) => {
    await page.send('conversation/snapshot', {
      revision: ++revision,
      head: head(more),
      entries,
      first: 0,
      total: entries.length,
      terminals: [],
      draft,
    })
    await page.until(() => area())
  }
  const area = () => page.document.querySelector<HTMLElement>('.composer [role="textbox"]')!
  /** Waits until the effect of a message or a key is drawn. */
  const settled = () => new Promise(resolve => setTimeout(resolve, 5))
  const options = () => [...page.document.querySelectorAll('.mentions .mention-row')]
  const chips = () =>
    [...page.document.querySelectorAll('.composer-text .mention')].map(chip => chip.textContent)

  it('completes text after @, accepts with a key, and sends the mention in its place', async () => {
    await show()
    page.type('See @')
    await page.until(() => options().length === 2)
    assert.equal(area().getAttribute('aria-activedescendant'), 'mention-0')
    page.key(area(), 'ArrowDown')
    await page.until(() => options()[1]?.hasAttribute('data-active'))
    page.key(area(), 'Enter')
    await page.until(() => chips().length === 1)
    assert.deepEqual([chips(), page.written, queries], [['src/b.ts'], 'See src/b.ts ', ['']])
    await page.until(() => drafts.at(-1)?.chips.length === 1)
    page.key(area(), 'Enter')
    await page.until(() => sent.length === 1)
    assert.deepEqual(sent[0], [
      { type: 'text', text: 'See ' },
      { type: 'file', uri: 'file:///src/b.ts', label: 'src/b.ts' },
    ])
    await page.until(() => page.written === '')
  })

  /** Types at the cursor, as well as that works without layout. */
  const dictate = (text: string) => {
    const event = new page.window.Event('paste', { bubbles: true, cancelable: true })
    const clipboardData = {
      getData: (type: string) => (type === 'text/plain' ? text : ''),
      types: [],
      files: [],
    }
    area().dispatchEvent(Object.assign(event, { clipboardData }))
  }

  it('keeps an early choice, whatever the user types next', async () => {
    const words = fc.constantFrom('a', ' ', 's ', ' and say why', '.', ' @ ', '\n')
    const steps = fc.array(fc.oneof(words, fc.constant('found' as const)), { maxLength: 6 })
    const run = fc.asyncProperty(steps, fc.boolean(), async (then, isSent) => {
      await show({ key: `c${revision}` })
      let release = () => {}
      page.type('See @')
      await page.until(() => options().length === 2)
      held = new Promise(resolve => {
        release = resolve
      })
      page.type('See @b')
      const before = queries.length
      await page.until(() => queries.length > before || queries.at(-1) === 'b')
      page.key(area(), 'Enter')
      await settled()
      let typed = ''
      for (const step of then) {
        if (step === 'found') release()
        else {
          dictate(step)
          typed += step
        }
        await settled()
      }
      const prompts = sent.length
      if (isSent) page.key(area(), 'Enter')
      release()
      held = undefined
      // the space after a chip is inserted with it, unless there is one
      const whole = [`See src/b.ts ${typed}`, `See src/b.ts${typed}`]
      if (isSent) {
        await page.until(() => sent.length > prompts)
        const [see, mention, ...rest] = sent.at(-1)!
        assert.deepEqual(
          [see, mention],
          [
            { type: 'text', text: 'See ' },
            { type: 'file', uri: 'file:///src/b.ts', label: 'src/b.ts' },
          ],
        )
        const said = rest.map(part => (part.type === 'text' ? part.text : '?')).join('')
        assert.equal(said.trim(), typed.trim())
      } else {
        await page.until(() => chips().length === 1)
        assert.deepEqual(chips(), ['src/b.ts'])
        assert.ok(whole.includes(page.written), page.written)
        dictate('!')
        assert.ok(whole.map(text => `${text}!`).includes(page.written), page.written)
      }
    })
    await fc.assert(run, { numRuns: scaledRuns(30) })
  })

  it('suggests symbols of the active file after @ and @#, and explains what to type', async () => {
    const list = () => page.document.querySelector('.mentions')?.textContent ?? ''
    await show()
    page.type('@#')
    await page.until(() => list().includes('Type a symbol name'))
    page.type('@#x')
    await page.until(() => list().includes('Type a symbol name'))
    page.type('@#xyz')
    await page.until(() => list().includes('Nothing matches'))
    symbolsHere = [{ ...file('orbitOf'), group: 'symbols' }]
    page.type('@')
    await page.until(() => list().includes('orbitOf') && list().includes('b.ts'))
    assert.match(list(), /# searches only symbols/)
    page.type('@#')
    await page.until(() => list().includes('orbitOf') && !list().includes('b.ts'))
    assert.match(list(), /Type to search the workspace/)
  })

  it('shows files while Git is slow, and commits when they arrive', async () => {
    const text = () => options().map(option => option.textContent)
    const asked: string[] = []
    let answer = (_: composer.MentionRow[]) => {}
    page.hear('composer/revisions', ({ query }) => {
      asked.push(query)
      return new Promise(resolve => {
        answer = resolve
      })
    })
    symbolsHere = [{ ...file('beta'), group: 'symbols' }]
    await show()
    page.type('@b')
    await page.until(() => asked.length === 1 && options().length === 1)
    answer([{ ...file('b1c9e07'), group: 'git' }])
    await page.until(() => options().length === 2)
    assert.match(text()[1] ?? '', /b1c9e07/)

    page.type('@be')
    await page.until(() => asked.length === 2 && options().length === 1)
    assert.match(text()[0] ?? '', /beta/)
    answer([{ ...file('bee0123'), group: 'git' }])
    await page.until(() => options().length === 2)
    assert.match(text().join(), /beta.*bee0123/)
    assert.deepEqual(asked, ['b', 'be'])
  })

  const activeContext = (automatic: boolean, ...[attachment]: bridge.Attachment[]) =>
    page.send('composer/activeContext', {
      automatic,
      ...(attachment && { attachment }),
    })
  const button = (name: string | RegExp) =>
    [...page.document.querySelectorAll<HTMLElement>('.composer button')].find(one =>
      (one.getAttribute('aria-label') ?? '').match(name),
    )
  const planets: bridge.Attachment = {
    id: 'active',
    label: 'planets.js',
    icon: 'file-code',
    content: { type: 'file', uri: 'file:///planets.js' },
  }
  const sendText = async (text: string) => {
    const before = sent.length
    page.type(text)
    page.key(area(), 'Enter')
    await page.until(() => sent.length === before + 1)
    return sent.at(-1)?.map(({ type }) => type)
  }

  it('suggests the active file, and adds it only once with one key', async () => {
    await show()
    await activeContext(false, planets)
    await page.until(() => button('Add planets.js'))
    assert.deepEqual(await sendText('without'), ['text'])
    page.key(area(), 'Enter', { altKey: true })
    await page.until(() => button('Remove planets.js'))
    assert.equal(button('Add planets.js'), undefined)
    assert.deepEqual(await sendText('with'), ['text', 'file'])
    await page.until(() => button('Add planets.js'))
    await activeContext(false)
    await page.until(() => !button('Add planets.js'))
  })

  it('adds the active file to every prompt if enabled in the settings, shows it, and can remove it', async () => {
    await show()
    await activeContext(true, planets)
    await page.until(() => button('Remove planets.js'))
    assert.deepEqual(await sendText('one'), ['text', 'file'])
    await page.until(() => button('Remove planets.js'))
    assert.deepEqual(await sendText('two'), ['text', 'file'])
    await page.until(() => button('Remove planets.js'))
    button('Remove planets.js')?.click()
    await page.until(() => button('Add planets.js'))
    assert.deepEqual(await sendText('three'), ['text'])
    await activeContext(true, { ...planets, label: 'planets.js:1-2' })
    await page.until(() => button('Remove planets.js:1-2'))
  })

  it('accepts a query with Enter before its results arrive, and sends nothing', async () => {
    await show()
    let release = () => {}
    held = new Promise(resolve => {
      release = resolve
    })
    page.type('See @b')
    await page.until(() => page.document.querySelector('.mentions')?.textContent?.includes('Searching'))
    page.key(area(), 'Enter')
    release()
    await page.until(() => chips().length === 1)
    assert.deepEqual(chips(), ['src/b.ts'])
    assert.deepEqual(sent, [])
  })

  it("doesn't accept results of a shorter query", async () => {
    await show()
    page.type('See @')
    await page.until(() => options().length === 2)
    let release = () => {}
    held = new Promise(resolve => {
      release = resolve
    })
    page.type('See @b')
    await page.until(() => queries.includes('b'))
    page.key(area(), 'Enter')
    assert.deepEqual(chips(), [])
    release()
    await page.until(() => chips().length === 1)
    assert.deepEqual(chips(), ['src/b.ts'])
    assert.deepEqual(sent, [])
  })

  it("doesn't accept an early Enter after the query changed", async () => {
    await show()
    let release = () => {}
    held = new Promise(resolve => {
      release = resolve
    })
    page.type('See @b')
    await page.until(() => queries.includes('b'))
    page.key(area(), 'Enter')
    page.type('See @')
    release()
    await page.until(() => options().length === 2)
    assert.deepEqual(chips(), [])
    assert.deepEqual(sent, [])
  })

  it('handles keys that VS Code would apply to the open file', async () => {
    await show()
    page.type('all of it')
    const heard: string[] = []
    page.window.addEventListener('keydown', ({ key }) => heard.push(key))
    for (const key of ['a', 'z', 'y', 'k']) page.key(area(), key, { ctrlKey: true })
    assert.deepEqual(heard, ['k'])
  })

  it('has the height that the user set with mouse or keyboard', async () => {
    const heights: Array<number | undefined> = []
    page.hear('composer/height', ({ height }) => void heights.push(height))
    await page.send('conversation/snapshot', {
      revision: ++revision,
      head: head(),
      entries: [],
      first: 0,
      total: 0,
      terminals: [],
      draft: nothing,
      composerHeight: 222,
    })
    const handle = () => page.document.querySelector('.composer-resize')!
    await page.until(() => handle()?.getAttribute('aria-valuenow') === '222')
    const style = () => page.document.querySelector<HTMLElement>('.composer-text')!.style
    assert.equal(style().getPropertyValue('--composer-height'), '222px')
    page.key(handle(), 'ArrowUp')
    await page.until(() => heights.length === 1)
    assert.equal(style().getPropertyValue('--composer-height'), `${heights[0]}px`)
    page.key(handle(), 'Home')
    await page.until(() => heights.length === 2)
    assert.deepEqual([heights[1], style().getPropertyValue('--composer-height')], [undefined, ''])
  })

  it('shortens a long name in the middle', async () => {
    rows = [
      file('src/a-very-long-component-name-indeed.spec.ts'),
      file('src/ארוך-מאוד-ועוד-יותר-ארוך-מזה.md'),
    ]
    await show()
    page.type('@')
    await page.until(() => options().length === 2)
    const [latin, hebrew] = options()
    assert.equal(latin!.querySelector('.cut-end')?.textContent, 'indeed.spec.ts')
    assert.match(latin!.textContent!, /a-very-long-component-name-indeed\.spec\.ts/)
    assert.equal(hebrew!.querySelector('.cut-end'), null)
  })

  it('closes the suggestions with Escape, and sends the text unchanged', async () => {
    await show()
    page.type('me @a')
    await page.until(() => options().length === 1)
    page.key(area(), 'Escape')
    await page.until(() => !page.document.querySelector('.mentions'))
    page.key(area(), 'Enter')
    await page.until(() => sent.length === 1)
    assert.deepEqual(sent[0], [{ type: 'text', text: 'me @a' }])
  })

  it('shows a saved draft with its chips, and deletes a chip as a whole', async () => {
    const item = file('src/a.ts').attaches as bridge.Attachment
    await show({}, { text: 'x @src/a.ts', chips: [{ from: 2, to: 11, id: item.id }], items: [item] })
    await page.until(() => chips().length === 1)
    page.key(area(), 'Backspace', { keyCode: 8 })
    await page.until(() => chips().length === 0)
    assert.equal(page.written, 'x ')
    page.key(area(), 'z', { ctrlKey: true, keyCode: 90 })
    await page.until(() => chips().length === 1)
  })

  it("doesn't confuse text with a chip that looks the same", async () => {
    const item = file('src/a.ts').attaches as bridge.Attachment
    await show({}, { text: 'x @src/b.ts', chips: [{ from: 2, to: 11, id: item.id }], items: [item] })
    await page.until(() => page.written === 'x @src/b.ts')
    assert.deepEqual(chips(), [])
  })

  it('collapses a long pasted text into a chip, expands it with a key or a double click, and sends all of it', async () => {
    await show()
    const long = Array.from({ length: 1050 }, (_, i) => `line ${i}`).join('\n')
    page.type(long)
    await page.until(() => chips().length === 1)
    assert.deepEqual(chips(), ['Pasted 1,050 lines'])
    page.key(area(), 'Backspace', { keyCode: 8 })
    page.key(area(), 'Enter', { altKey: true })
    await page.until(() => chips().length === 0)
    assert.equal(page.written, long)
    page.key(area(), 'z', { ctrlKey: true, keyCode: 90 })
    await page.until(() => chips().length === 1)
    const chip = page.document.querySelector('.composer-text .mention')!
    chip.dispatchEvent(new page.window.MouseEvent('dblclick', { bubbles: true }))
    await page.until(() => chips().length === 0)
    // what follows a chip stays
    assert.equal(page.written, `${long} `)
    page.key(area(), 'Enter')
    await page.until(() => sent.length === 1)
    assert.deepEqual(sent[0], [{ type: 'text', text: long }])
  })

  it("reports what couldn't be added", async () => {
    await show()
    rows = [
      { group: 'context', name: 'Selection', matches: [], icon: 'x', attaches: { capture: 'selection' } },
    ]
    page.type('@')
    await page.until(() => options().length === 1)
    page.key(area(), 'Enter')
    await page.until(() => page.document.querySelector('.composer-note.error'))
    assert.match(page.document.querySelector('.composer-note.error')!.textContent!, /Select text/)
    assert.equal(page.written, '')
  })

  it('recalls an earlier prompt with its chips', async () => {
    const blocks = [
      { type: 'text', text: 'Look at ' },
      { type: 'resource_link', uri: 'file:///src/a.ts', name: 'src/a.ts' },
      { type: 'text', text: ' now' },
    ]
    await show({}, nothing, [{ ...message('u', 'user', ''), blocks } as never])
    area().focus()
    // the first one would edit it where it is
    page.key(area(), 'ArrowUp', { keyCode: 38 })
    page.key(area(), 'ArrowUp', { keyCode: 38 })
    await page.until(() => chips().length === 1)
    assert.equal(page.written, 'Look at src/a.ts now')
    assert.equal(page.document.querySelector('.prompt-text')?.textContent, 'Look at src/a.ts now')
    page.key(area(), 'ArrowDown', { keyCode: 40 })
    await page.until(() => page.written === '')
  })

  it('can move queued prompts with keys, and send one now', async () => {
    const queue = ['one', 'two', 'three'].map(text => ({
      id: text,
      state: 'queued' as const,
      text,
      attachments: 0,
    }))
    await show({ activity: 'running', queue })
    await page.until(() => page.document.querySelectorAll('.queue li').length === 3)
    const grips = page.document.querySelectorAll('.queue-grip')
    page.key(grips[1]!, 'ArrowUp')
    page.key(grips[2]!, 'ArrowDown')
    page.document.querySelectorAll<HTMLElement>('.queue [aria-label^="Stop and Send"]')[2]!.click()
    await page.until(() => now.length === 1)
    assert.deepEqual([moved, now], [[{ id: 'two', to: 0 }], ['three']])
    // nothing to stop
    await show({ activity: 'idle', queue, queuePaused: true })
    const buttons = () => [...page.document.querySelectorAll('.queue [aria-label$="Send Now"]')]
    await page.until(() => buttons()[0]?.getAttribute('aria-label') === 'Send Now')
    assert.match(page.document.querySelector('.queue')!.textContent!, /Sent after your next prompt/)
  })

  it('shows 384 models, favorites first, filters them, and marks a favorite with a key', async () => {
    const choices = Array.from({ length: 384 }, (_, i) => ({ value: `m${i}`, name: `Model ${i}` }))
    const model = {
      id: 'model',
      name: 'Model',
      category: 'model',
      type: 'select',
      currentValue: 'm3',
      choices,
    }
    await show({
      configOptions: [model as never],
      rememberedOptions: { model: { favorites: ['m200'], recent: ['m300', 'm200'] } },
    })
    page.document.querySelector<HTMLElement>('.option[aria-label="Model: Model 3"]')!.click()
    const names = () =>
      [...page.document.querySelectorAll('.menu-row .menu-name')].map(name => name.textContent)
    await page.until(() => names().length > 100)
    assert.deepEqual(names().slice(0, 3), ['Model 200', 'Model 300', 'Model 0'])
    const input = page.document.querySelector<HTMLInputElement>('.menu-search input')!
    input.value = '200'
    input.dispatchEvent(new page.window.Event('input', { bubbles: true }))
    await page.until(() => names().length === 2)
    assert.deepEqual(names(), ['Model 200', 'Use as Default'])
    page.key(input, 'd', { ctrlKey: true })
    await page.until(() => stars.length === 1)
    assert.deepEqual(stars, ['m200'])
  })
})
